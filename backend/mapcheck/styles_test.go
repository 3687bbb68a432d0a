package mapcheck

import (
	"regexp"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"frontdesk/auth"
	"frontdesk/backend"
	"frontdesk/backend/drivertest"
	"frontdesk/backend/mapdraft"
	"frontdesk/backend/remote/foreigntest"
	"frontdesk/mapping"
)

// draftOf is the draft of a service, of what it answers at the paths and what describes it.
func draftOf(t *testing.T, system *foreigntest.System, description string, paths ...string) string {
	t.Helper()
	model, err := mapping.LoadModel("")
	require.NoError(t, err)
	o := mapdraft.Options{Model: model}
	if description != "" {
		o.OpenAPI = []byte(description)
	}
	for _, path := range paths {
		s, err := mapdraft.Asked{URL: system.URL}.Sample(t.Context(), path)
		require.NoError(t, err)
		o.Samples = append(o.Samples, s)
	}
	draft, err := mapdraft.New(t.Context(), o)
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

// withstands requires that the check finds nothing, nor hostile texts anything.
func withstands(t *testing.T, text, url string, replace ...string) {
	t.Helper()
	report := drafted(t, text, url, replace...)
	require.Zero(t, report.Count(Error)+report.Count(Warning), "%s\n%s", words(t, report), text)
	store, o, _ := inFront(t, text, map[string]string{"SERVICE_URL": url}, replace...)
	client, err := backend.NewClient(store, o.Sheet.Model, backend.Options{Timeout: time.Minute})
	require.NoError(t, err)
	drivertest.Injection{Client: client, Clients: []auth.Client{{ID: 1, Name: "noord"}, {ID: 2, Name: "zuid"}}}.Run(t)
}

// shared are the edits for what all clients see.
var shared = []string{`client: "" #`, `shared: true #`}

// TestDraftOfOData: SAP's server, and a parser of the language's grammar, are asked by filters,
// orders, pages and counts as the draft says it. The server reads no quotes within quotes, which
// the check finds; the parser makes a regular expression of what contains is asked for.
func TestDraftOfOData(t *testing.T) {
	system := foreigntest.OData(t)
	draft := draftOf(t, system, "", "/odata/Groups", "/odata/Customers", "/odata/Articles")
	report := drafted(t, draft, system.URL, shared...)
	for _, field := range []string{"contact.fields.name", "article.fields.description"} {
		require.NotEmpty(t, report.has("ask.quotes", "resources."+field), words(t, report))
	}
	withstands(t, draft, system.URL, append(shared, "quotes: doubled", "quotes: strict")...)

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

// TestDraftOfRSQL: the parser of the language for JavaScript reads what the draft says. RSQL has
// no words for orders, so the sheet is told them by hand.
func TestDraftOfRSQL(t *testing.T) {
	system := foreigntest.Expressions(t, "rsql")
	draft := draftOf(t, system, rsqlDescription, "/groups", "/customers", "/articles")
	require.Contains(t, draft, `expressions: {quotes: backslash, wildcards: "*"}`)
	withstands(t, draft, system.URL, shared...)
}

// jqlSheet is of a service that takes conditions and order as one expression.
const jqlSheet = `
format: 1
source: {http: {url: "${SERVICE_URL}", expressions: {quotes: backslash}}}
client: org
accounts: {users: []}
resources:
  contact:
    key: {columns: id}
    operations:
      get: {path: "/customers/{key}"}
      list:
        path: /customers
        query: {jql: "{filter} ORDER BY {sort}", startAt: "{offset}", maxResults: "{limit}"}
        filter:
          join: " AND "
          or: " OR "
          nulls: {note: ["memo is EMPTY", "memo is not EMPTY"]}
          parts:
            - org = {client.id}
            - kind = '{filter.kind}'
            - name = "{filter.name}"
            - name ~ "{filter.name.contains}"
            - days = {filter.payment_days}
            - days >= {filter.payment_days.gte}
            - days < {filter.payment_days.lt}
            - memo = "{filter.note}"
            - modified >= "{modified_since}"
        sort: {join: ", ", by: {id: [id ASC, id DESC], name: [name ASC, name DESC], payment_days: [days ASC, days DESC], modified_at: [modified ASC, modified DESC]}}
        result: values
        paging: {style: offset, size: 7}
        total: {result: total}
    fields:
      kind: {from: kind, codes: {PRIVATE: person, BUSINESS: company}}
      name: name
      payment_days: days
      note: {from: memo, empty: "null"}
      modified_at: {from: modified, readonly: true}
`

// TestSheetOfJQL: Atlassian's own parser of its language reads what a sheet says, and the order
// with it.
func TestSheetOfJQL(t *testing.T) {
	withstands(t, jqlSheet, foreigntest.Expressions(t, "jql").URL)
}
