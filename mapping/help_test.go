package mapping_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"frontdesk/mapping"
)

// TestHelp keeps the page of errors whole: what the catalogue words, somebody
// has explained.
func TestHelp(t *testing.T) {
	for _, e := range mapping.NewCatalogue().Entries() {
		help := mapping.HelpFor(e.Reason)
		for _, text := range []string{help.Cause, help.Cure} {
			require.NotEmpty(t, text, e.Reason)
			require.Regexp(t, `^[A-Z?a-z].*[.)]$`, text, e.Reason)
		}
		require.NotEqual(t, help.Cause, help.Cure, e.Reason)
	}
}
