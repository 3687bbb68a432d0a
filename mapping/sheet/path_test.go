package sheet_test

import (
	"encoding/json"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"frontdesk/mapping/sheet"
)

func TestKeyText(t *testing.T) {
	for want, parts := range map[string][]any{
		"7":             {json.Number("7")},
		`"7"`:           {"7"},
		"AB01":          {"AB01"},
		"":              {""},
		"01":            {"01"},
		`"[x"`:          {"[x"},
		`"true"`:        {"true"},
		`["a&b",7]`:     {"a&b", json.Number("7")},
		`"{}"`:          {"{}"},
		`" 1"`:          {" 1"},
		"1.50":          {json.Number("1.50")},
		`[null,true,2]`: {nil, true, 2},
	} {
		assert.Equal(t, want, sheet.KeyText(parts...))
	}
}

// FuzzKeyText writes keys of any texts and numbers, and reads them back with their types.
func FuzzKeyText(f *testing.F) {
	for _, s := range []string{"", "1", "1e5", `"`, "[", "[1]", "{", "null", " 2 ", "\u2028", "a\x00b", "-0", "01"} {
		f.Add(s, "x")
	}
	f.Fuzz(func(t *testing.T, a, b string) {
		if !utf8.ValidString(a) || !utf8.ValidString(b) {
			t.Skip("texts of JSON are valid")
		}
		for _, parts := range [][]any{{a}, {a, b}, {b, json.Number("1"), a}, {json.Number("1.10")}} {
			require.Equal(t, parts, sheet.KeyParts(sheet.KeyText(parts...)))
		}
	})
}
