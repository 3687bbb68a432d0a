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

func BenchmarkParseJSON(b *testing.B) {
	text := `{"id": 12345, "number": "A-1", "contact_id": 4711, "kind": "workshop", "order_date": "2026-11-20T10:00:00.000Z", "total": 123.45, "remark": null}`
	b.ReportAllocs()
	for b.Loop() {
		if _, err := sheet.ParseJSON(text); err != nil {
			b.Fatal(err)
		}
	}
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
