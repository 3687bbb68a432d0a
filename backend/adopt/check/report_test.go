package check

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestWorstLast: what decides stands at the end, and programs find the order of the sheet.
func TestWorstLast(t *testing.T) {
	r := &Report{Looked: []string{"article: 86 row(s) of ART"}, Left: Left{Resources: []string{"flatrate"}}, Findings: []Finding{
		{Rule: "sql.missing", Severity: Error, File: "a.yaml", Line: 3, Column: 1, Seen: "ART has no column X", Remedy: "name a column"},
		{Rule: "data.codes", Severity: Note, File: "a.yaml", Line: 4, Column: 1, Seen: "no row has D"},
		{Rule: "data.null", Severity: Warning, File: "a.yaml", Line: 5, Column: 1, Seen: "5 rows have none"},
	}}
	var text, j strings.Builder
	require.NoError(t, r.WriteText(&text))
	require.Equal(t, `Not for clients: resources flatrate

article: 86 row(s) of ART

a.yaml:4:1: note: data.codes
  no row has D
a.yaml:5:1: warning: data.null
  5 rows have none
a.yaml:3:1: error: sql.missing
  ART has no column X
  → name a column

1 error(s), 1 warning(s), 1 note(s)
`, text.String())
	require.NoError(t, r.WriteJSON(&j))
	require.Less(t, strings.Index(j.String(), "sql.missing"), strings.Index(j.String(), "data.codes"))
}
