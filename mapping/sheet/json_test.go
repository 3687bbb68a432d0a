package sheet_test

import (
	"encoding/json"
	"math/big"
	"strings"
	"testing"

	"github.com/itchyny/gojq"
	"github.com/stretchr/testify/require"

	"frontdesk/mapping/sheet"
)

func TestParseJSON(t *testing.T) {
	v, err := sheet.ParseJSON(` {"a": [1, -2.50e3, "x", "\u00e9\"", true, false, null, {}], "b": {"": 1e400}} `)
	require.NoError(t, err)
	require.Equal(t, map[string]any{
		"a": []any{json.Number("1"), json.Number("-2.50e3"), "x", `é"`, true, false, nil, map[string]any{}},
		"b": map[string]any{"": json.Number("1e400")},
	}, v.Read())
	for text, depth := range map[string]int{"": 0, `{"a":1`: 0, `{"a":1}}`: 0, `{"a":1} x`: 0, `{"a":1,"a":2}`: 0, `[1 2]`: 0, `{"a" 1}`: 0, "nul": 0, `"a`: 0, `"\x"`: 0,
		"[\"\xff\"]": 0, `01`: 0, `+1`: 0, `1.`: 0, "[": 10_000, `{"a":`: 10_000, `"` + "\x00" + `"`: 0, "\ufeff{}": 0, "]": 0, ",": 0, `[,]`: 0, `{"a":}`: 0, `{1:2}`: 0} {
		_, err := sheet.ParseJSON(text + strings.Repeat(text, depth))
		require.ErrorIs(t, err, sheet.ErrNotJSON, text)
	}
	_, err = sheet.ParseJSON(strings.Repeat("[", sheet.MaxDepth) + strings.Repeat("]", sheet.MaxDepth))
	require.NoError(t, err)
}

// TestAppendJSON writes what gojq writes, for all that jq and JSON have.
func TestAppendJSON(t *testing.T) {
	v := map[string]any{
		"b": []any{nil, true, false, "x", "é\"\\\n\u2028<", json.Number("-2.50e3"), 12, 1.5, []any{}, map[string]any{}}, "a": big.NewInt(1 << 60), "": map[string]any{"z": 1, "y": "2"},
	}
	want, err := gojq.Marshal(v)
	require.NoError(t, err)
	require.Equal(t, string(want), string(sheet.AppendJSON(nil, v)))
}

// TestFindInJSON finds members in whatever order they are asked for, and leaves a record as it is that
// another is made of.
func TestFindInJSON(t *testing.T) {
	of, err := sheet.ParseJSON(`{"a": 1, "b": {"c": [null, "\u00e9", {"d": true}]}, "e": "", "f\t": 2}`)
	require.NoError(t, err)
	more := of.With("_parent", of)
	for range 2 {
		for path, want := range map[string]any{"a": json.Number("1"), "b.c.1": "é", "b.c.-1.d": true, "b.c.0": nil, "b.c.0.x": nil, "e": "", "f\t": json.Number("2")} {
			for _, row := range []sheet.JSON{of, more} {
				v, is := sheet.ParsePath(path).Find(row)
				require.True(t, is, path)
				require.Equal(t, want, v.Read(), path)
			}
		}
		for _, path := range []string{"b.c.3", "b.c.x", "a.b", "e.f", "g", "_parent"} {
			_, is := sheet.ParsePath(path).Find(of)
			require.False(t, is, path)
		}
	}
	v, is := sheet.ParsePath("_parent.a").Find(more)
	require.True(t, is)
	require.Equal(t, json.Number("1"), v.Read())
	require.Len(t, more.Object(), 5)
	require.Len(t, of.Object(), 4)
}
