package legacy

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestNumbersAsColumnsHaveThem: before, a third and what only a program writes so were
// taken for numbers, and one of a million digits was computed.
func TestNumbersAsColumnsHaveThem(t *testing.T) {
	whole, tenths := Column{Type: "integer"}, Column{Type: "numeric", Precision: 5, Scale: 1}
	for text, takes := range map[string]bool{
		"12": true, " -12 ": true, "+1.5e2": true, ".5": true, "1/3": false, "0x1p-2": false, "0b1": false, "1_000": false, "Inf": false, "1e1000000": false, "1e-1000000": false,
		strings.Repeat("9", 500): false, "": false, "abc": false,
	} {
		for _, engine := range []string{"postgres", "mariadb"} {
			require.Equal(t, takes, whole.takes(engine, textRaw(text)), text)
			require.Equal(t, takes, tenths.takes(engine, textRaw(text)), text)
		}
	}
}
