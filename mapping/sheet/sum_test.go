package sheet_test

import (
	"testing"
	"time"

	"frontdesk/mapping"
	"frontdesk/mapping/sheet"
)

// ETags outlive this process, and so must sums.
func TestSum(t *testing.T) {
	row := []sheet.Raw{{Kind: sheet.RawInt, Int: 7}, {Kind: sheet.RawText, Text: "Visser"}}
	const want = 1818361239318959064
	if got := sheet.Sum(row); got != want {
		t.Errorf("sum %d, expected the %d of before", got, want)
	}
	for name, other := range map[string][]sheet.Raw{
		"another value":    {{Kind: sheet.RawInt, Int: 8}, {Kind: sheet.RawText, Text: "Visser"}},
		"another kind":     {{Kind: sheet.RawBool, Int: 7}, {Kind: sheet.RawText, Text: "Visser"}},
		"another boundary": {{Kind: sheet.RawInt, Int: 7}, {Kind: sheet.RawText, Text: "Vis"}, {Kind: sheet.RawText, Text: "ser"}},
	} {
		if sheet.Sum(other) == sheet.Sum(row) {
			t.Errorf("%s has the same sum", name)
		}
	}
}

// Tags outlive this process too.
func TestTag(t *testing.T) {
	r := &mapping.Resource{Fields: []mapping.Field{{Type: mapping.Int4}, {Type: mapping.Varchar}, {Type: mapping.Timestamp}, {Type: mapping.Varchar}, {Type: mapping.Array}, {Type: mapping.Bytea}}}
	rec := mapping.Record{Resource: r, Version: 3, Values: []mapping.Value{
		mapping.IntValue(7), mapping.TextValue("Visser"), mapping.TimeValue(time.UnixMilli(1700000000000)), {}, mapping.RecordsValue(), mapping.BytesValue([]byte("abc")),
	}}
	other := mapping.Record{Resource: r, Version: 4, Values: []mapping.Value{mapping.IntValue(8), mapping.TextValue(""), mapping.NullValue(), {}, {}, {}}}
	const alone, withElements = 1960434718210406992, 4452417326054419091
	if got := sheet.Tag(rec, nil); got != alone {
		t.Errorf("tag %d, expected the %d of before", got, alone)
	}
	if got := sheet.Tag(rec, []mapping.Record{other, rec}); got != withElements {
		t.Errorf("tag %d with elements, expected the %d of before", got, withElements)
	}
}
