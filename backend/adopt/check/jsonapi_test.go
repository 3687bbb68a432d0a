package check

import (
	"testing"

	"github.com/stretchr/testify/require"

	"frontdesk/auth"
	"frontdesk/backend/remote/foreigntest"
)

// TestForeignJSONAPI: a service that keeps to JSON:API, and that nobody here wrote, is read, filtered
// and written, with references and errors.
func TestForeignJSONAPI(t *testing.T) {
	system, sheet := foreigntest.JSONAPI(t), testSheet(t, "jsonapi.yaml")
	check := func(write bool, replace ...string) *Report {
		store, of, problems := inFront(t, sheet, map[string]string{"SERVICE_URL": system.URL}, replace...)
		require.Empty(t, problems)
		noord := auth.Client{ID: 1, Name: "noord"}
		if of.Other = (auth.Client{ID: 2, Name: "zuid"}); write {
			of.Write = noord
		}
		report, err := HTTP(t.Context(), store, noord, of)
		require.NoError(t, err)
		return report
	}
	require.NotEmpty(t, check(false).has("ask.filter-none", "resources.article.fields.description"), "it counts what it does not list")
	report := check(true, "        total: {result: meta.page.total}\n", "") // which is that of all records, filtered or not
	require.Zero(t, report.Count(Error)+report.Count(Warning), "%s", words(t, report))
}
