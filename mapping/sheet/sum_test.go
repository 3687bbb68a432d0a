package sheet_test

import (
	"testing"

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
