package remote

import (
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"frontdesk/backend"
)

const numberedSheet = `
format: 1
source: {http: {url: "${GARAGE_URL}", retries: 0}}
keep: keep.db
rules: backend
accounts: {users: []}
resources:
  contact:
    key: {columns: nr, id: kept, NUMBERS}
    client: ""
    operations:
      list: {path: /contacts, query: {every: "1"}}
      update: {method: POST, path: /contacts/change, body: '{"nr": {key}, "set": {fields}}'}
    fields: {kind: {constant: person}, name: name}
  article:
    key: {columns: nr}
    client: ""
    operations:
      list: {method: POST, path: /articles, body: '{"supplier": {filter.supplier_id}}'}
      update: {path: "/articles/{key}", send: changed}
    fields: {number: code, description: {constant: x}, article_kind: {constant: part}, unit_type: {constant: piece}, turnover_group_id: {absent: true}, supplier_id: supplier}
`

// TestNumbersOfKeptKeys has a service whose numbers are kept keys, and is sent them as numbers
// again. Before, they were texts wherever they were sent.
func TestNumbersOfKeptKeys(t *testing.T) {
	sent := map[string]string{}
	service := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		text, _ := io.ReadAll(r.Body)
		sent[r.Method+" "+r.URL.Path] = string(text)
		answer := `[{"nr":9007199254740993,"name":"A"},{"nr":12345678901234567890,"name":"B"}]`
		if strings.HasPrefix(r.URL.Path, "/articles") {
			answer = `[{"nr":1,"code":"a","supplier":9007199254740993}]`
		}
		_, _ = io.WriteString(w, answer)
	})
	for numbers, quote := range map[string]string{"numbers: nr": "", "case: exact": `"`} {
		s := served(t, strings.Replace(numberedSheet, "NUMBERS", numbers, 1), service)
		c := front(t, s)
		page, err := c.List(bg(), s.Sheet.Model.Resource("contact"), backend.Query{Client: noord, Limit: 10})
		require.NoError(t, err)
		require.Len(t, page.Records, 2)
		articles := s.Sheet.Model.Resource("article")
		for i, nr := range []string{"9007199254740993", "12345678901234567890"} {
			id := page.Records[i].Values[s.Sheet.Model.Resource("contact").Field("id").Index]
			nr = quote + nr + quote
			_, err = c.List(bg(), articles, backend.Query{Client: noord, Limit: 10, Filters: []backend.Filter{{Field: articles.Field("supplier_id"), Value: id}}})
			require.NoError(t, err)
			require.JSONEq(t, `{"supplier":`+nr+`}`, sent["POST /articles"])
			require.Contains(t, sent["POST /articles"], nr)
			_, _ = c.Update(bg(), noord, page.Records[i].ID(), patch(t, page.Records[i].Resource, `{"name":"C"}`), backend.Write{})
			require.Contains(t, sent["POST /contacts/change"], `"nr":`+nr+`,`)
			_, _ = c.Update(bg(), noord, 1, patch(t, articles, `{"number":"b","supplier_id":`+id.String()+`}`), backend.Write{})
			if i > 0 { // the first is the article's already
				require.Contains(t, sent["PUT /articles/1"], `"supplier":`+nr)
			}
		}
	}
}
