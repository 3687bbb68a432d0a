package check

import (
	"os"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"frontdesk/auth"
	"frontdesk/backend"
	"frontdesk/backend/drivertest"
	"frontdesk/backend/remote/foreigntest"
	"frontdesk/backend/sqlrecord/sqltest"
)

// found is what the check finds of a sheet, with words of it replaced.
func found(t *testing.T, text, url string, replace ...string) *Report {
	t.Helper()
	store, o, problems := inFront(t, text, map[string]string{"SERVICE_URL": url}, replace...)
	require.Empty(t, problems, text)
	o.Other = auth.Client{ID: 2, Name: "zuid"}
	report, err := HTTP(t.Context(), store, auth.Client{ID: 1, Name: "noord"}, o)
	require.NoError(t, err)
	return report
}

// isRight requires that the check finds nothing.
func isRight(t *testing.T, text, url string, replace ...string) {
	t.Helper()
	report := found(t, text, url, replace...)
	require.Zero(t, report.Count(Error)+report.Count(Warning), "%s\n%s", words(t, report), text)
}

// withstands requires that the check finds nothing, nor hostile texts anything.
func withstands(t *testing.T, text, url string, replace ...string) {
	t.Helper()
	isRight(t, text, url, replace...)
	store, o, _ := inFront(t, text, map[string]string{"SERVICE_URL": url}, replace...)
	client, err := backend.NewClient(store, o.Sheet.Model, backend.Options{Timeout: time.Minute})
	require.NoError(t, err)
	drivertest.Injection{Client: client, Clients: []auth.Client{{ID: 1, Name: "noord"}, {ID: 2, Name: "zuid"}}}.Run(t)
}

// testSheet is a sheet of testdata.
func testSheet(t *testing.T, name string) string {
	t.Helper()
	text, err := os.ReadFile("testdata/" + name)
	require.NoError(t, err)
	return string(text)
}

// TestForeignOData: SAP's server, and a parser of the language's grammar, are asked by filters,
// orders, pages and counts as the sheets say it. The server reads no quotes within quotes, which
// the check finds; the parser makes a regular expression of what contains is asked for.
func TestForeignOData(t *testing.T) {
	system, sheet := foreigntest.OData(t), testSheet(t, "odata.yaml")
	report := found(t, sheet, system.URL)
	require.NotEmpty(t, report.has("ask.quotes", "resources.contact.fields.name"), words(t, report))
	if isRight(t, sheet, system.URL, "quotes: doubled", "quotes: strict"); sqltest.Soak() {
		withstands(t, sheet, system.URL, "quotes: doubled", "quotes: strict") // which that server takes two seconds for
	}
	withstands(t, testSheet(t, "odata_grammar.yaml"), foreigntest.Expressions(t, "odata").URL)
}

// TestForeignRSQL: the parser of the language for JavaScript reads what the sheet says. RSQL has
// no words for orders.
func TestForeignRSQL(t *testing.T) {
	withstands(t, testSheet(t, "rsql.yaml"), foreigntest.Expressions(t, "rsql").URL)
}

// TestForeignSheetOfJQL: Atlassian's own parser of its language reads what the example of the page on
// sheets says, and the order with it.
func TestForeignSheetOfJQL(t *testing.T) {
	page, err := os.ReadFile("../../../docs/sheet.md")
	require.NoError(t, err)
	_, example, found := strings.Cut(string(page), "an empty expression would\nleave a hole.\n\n```yaml\n")
	require.True(t, found)
	example, _, _ = strings.Cut(example, "```")
	require.Contains(t, example, "{filter} ORDER BY {sort}")
	withstands(t, example, foreigntest.Expressions(t, "jql").URL)
}
