package check

import (
	"os"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"frontdesk/auth"
	"frontdesk/backend"
	"frontdesk/backend/adopt/draft"
	"frontdesk/backend/drivertest"
	"frontdesk/backend/remote/foreigntest"
	"frontdesk/backend/sqlrecord/sqltest"
	"frontdesk/mapping"
)

// draftOf is the draft of a service, of what it answers at the paths and what describes it.
func draftOf(t *testing.T, system *foreigntest.System, description string, paths ...string) string {
	t.Helper()
	model, err := mapping.LoadModel("")
	require.NoError(t, err)
	o := draft.Options{Model: model}
	if description != "" {
		o.OpenAPI = []byte(description)
	}
	for _, path := range paths {
		s, err := draft.Asked{URL: system.URL}.Sample(t.Context(), path)
		require.NoError(t, err)
		o.Samples = append(o.Samples, s)
	}
	draft, err := draft.New(t.Context(), o)
	require.NoError(t, err)
	return draft.Text
}

// drafted is what the check finds of a sheet, with words of it replaced.
func drafted(t *testing.T, text, url string, replace ...string) *Report {
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
	report := drafted(t, text, url, replace...)
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

// shared are the edits for what all clients see.
var shared = []string{`client: "" #`, `shared: true #`}

// TestForeignDraftOfOData: SAP's server, and a parser of the language's grammar, are asked by filters,
// orders, pages and counts as the draft says it. The server reads no quotes within quotes, which
// the check finds; the parser makes a regular expression of what contains is asked for.
func TestForeignDraftOfOData(t *testing.T) {
	system := foreigntest.OData(t)
	report := drafted(t, draftOf(t, system, "", "/odata/Customers"), system.URL)
	require.NotEmpty(t, report.has("ask.quotes", "resources.contact.fields.name"), words(t, report))
	draft := draftOf(t, system, "", "/odata/Groups", "/odata/Customers", "/odata/Articles")
	strict := append(shared, "quotes: doubled", "quotes: strict")
	if isRight(t, draft, system.URL, strict...); sqltest.Soak() {
		withstands(t, draft, system.URL, strict...) // which that server takes two seconds for
	}

	system = foreigntest.Expressions(t, "odata")
	draft = draftOf(t, system, "", "/groups", "/customers", "/articles")
	contains := regexp.MustCompile(`, "contains\([^"]*"`)
	require.Regexp(t, contains, draft)
	withstands(t, contains.ReplaceAllString(draft, ""), system.URL, shared...)
}

const rsqlDescription = `
openapi: 3.0.3
info: {title: Shop, version: "1"}
paths:
  /groups:
    get: &list
      parameters: [{name: q, in: query, description: an RSQL expression}, {name: limit, in: query}, {name: offset, in: query}]
      responses: {"200": {content: {application/json: {schema: {properties: {values: {type: array, items: {properties: {id: {type: integer}}}}}}}}}}
  /customers: {get: *list}
  /articles: {get: *list}
`

// TestForeignDraftOfRSQL: the parser of the language for JavaScript reads what the draft says. RSQL has
// no words for orders, so the sheet is told them by hand.
func TestForeignDraftOfRSQL(t *testing.T) {
	system := foreigntest.Expressions(t, "rsql")
	draft := draftOf(t, system, rsqlDescription, "/groups", "/customers", "/articles")
	require.Contains(t, draft, `expressions: {quotes: backslash, wildcards: "*"}`)
	withstands(t, draft, system.URL, shared...)
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
