package mapping_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"frontdesk/mapping"
)

// TestRows tells what a row of the tables lacks: the first of a reason has all that
// there is to know of it, the others only their words.
func TestRows(t *testing.T) {
	seen := map[mapping.Reason]mapping.Entry{}
	for _, e := range mapping.Rows() {
		at := string(e.Scope) + " " + string(e.Reason)
		require.NotEmptyf(t, e.Reason, "%q: its reason", e.Message)
		require.NotZerof(t, e.Status, "%s: the status", at)
		require.NotEmptyf(t, e.Message, "%s: the message", at)
		first, again := seen[e.Reason]
		if again {
			assert.Emptyf(t, e.Args, "%s: its arguments stand in the first row of the reason", at)
			assert.Emptyf(t, e.By, "%s: who finds it stands in the first row of the reason", at)
			assert.Emptyf(t, e.Help, "%s: cause and cure stand in the first row of the reason", at)
		} else {
			first, seen[e.Reason] = e, e
			for what, text := range map[string]string{"cause": e.Cause, "cure": e.Cure} {
				assert.Regexpf(t, `^[A-Z?a-z].*[.)]$`, text, "%s: its %s, in sentences", at, what)
			}
			assert.NotEqualf(t, e.Cause, e.Cure, "%s: cause and cure", at)
			for i, a := range e.Args {
				assert.NotEmptyf(t, a.Example, "%s: an example of argument %d", at, i+1)
				if e.By == mapping.ByEither || e.By == mapping.ByAdministration {
					assert.NotZerof(t, a.Takes, "%s: what argument %d takes, for drivers to put it in", at, i+1)
				}
			}
		}
		placeholders := strings.Count(strings.Replace(e.Message, "<x> , <x>", "<x>", 1), "<")
		assert.Lenf(t, first.Args, placeholders, "%s: arguments, for the placeholders of %q", at, e.Message)
	}
	require.Empty(t, mapping.HelpFor("no_such_reason"))
	for _, e := range mapping.NewCatalogue().Entries() {
		first := seen[e.Reason]
		assert.Equal(t, first.Args, e.Args)
		assert.Equal(t, first.By, e.By)
		assert.Equal(t, first.Help, e.Help)
		assert.Equal(t, first.Help, mapping.HelpFor(e.Reason))
	}
}

// TestHelpForEveryKey: what is told of a reason that every operation may have names no call of
// a resource, which the reader's api_key may not have.
func TestHelpForEveryKey(t *testing.T) {
	model, err := mapping.LoadModel("")
	require.NoError(t, err)
	for _, e := range mapping.Rows() {
		if e.Scope != mapping.General && e.Reason != mapping.ParametersRequired {
			continue
		}
		for _, r := range model.Resources {
			assert.NotRegexp(t, `(GET|POST|PUT|DELETE) /`+r.Name+`\b`, e.Cause+" "+e.Cure, "%s", e.Reason)
		}
	}
}
