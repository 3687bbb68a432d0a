package remote

import (
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"frontdesk/backend"
	"frontdesk/mapping"
)

const numberedSheet = `
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

const paddedSheet = `
resources:
  contact:
    key: {columns: nr, pad: zero, width: 4}
    client: ""
    operations:
      get: {path: "/contacts/{key}"}
      create: {path: /contacts, read_back: true}
      update: {path: "/contacts/{key}", body: '{"nr": {key}, "set": {fields}}'}
    fields: {kind: {constant: person}, name: name}
  order:
    key: {columns: nr}
    client: ""
    operations: {list: {path: /orders, query: {of: "{filter.contact_id}"}}}
    fields: {contact_id: {from: contact, pad: zero, width: 4}, kind: {constant: parts}, order_status: {constant: open}, order_date: {constant: "2026-01-01T00:00:00Z"}}
`

// TestIDsInTexts has a service whose IDs are texts with zeros before the number, but for the answer to a
// create. Before, it was asked for /contacts/42.
func TestIDsInTexts(t *testing.T) {
	var asked []string
	service := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		text, _ := io.ReadAll(r.Body)
		asked = append(asked, r.Method+" "+r.URL.RequestURI()+" "+string(text))
		switch {
		case r.Method == http.MethodPost:
			_, _ = io.WriteString(w, `{"nr":42}`)
		case strings.HasPrefix(r.URL.Path, "/orders"):
			_, _ = io.WriteString(w, `[{"nr":1,"contact":"0042"}]`)
		case r.URL.Path == "/contacts/0042":
			_, _ = io.WriteString(w, `{"nr":"0042","name":"A"}`)
		default:
			w.WriteHeader(http.StatusNotFound)
		}
	})
	s := served(t, paddedSheet, service)
	c, contacts, orders := front(t, s), s.Sheet.Model.Resource("contact"), s.Sheet.Model.Resource("order")
	made, err := c.Create(bg(), noord, body(t, contacts, `{"name":"A"}`), backend.Write{})
	require.NoError(t, err)
	require.EqualValues(t, 42, made.ID())
	require.Equal(t, []string{`POST /contacts {"name":"A"}`, "GET /contacts/0042 "}, asked)
	page, err := c.List(bg(), orders, backend.Query{Client: noord, Limit: 10, Filters: []backend.Filter{{Field: orders.Field("contact_id"), Value: mapping.IntValue(42)}}})
	require.NoError(t, err)
	require.Len(t, page.Records, 1)
	require.EqualValues(t, 42, page.Records[0].Get("contact_id").Int())
	require.Equal(t, "GET /orders?of=0042 ", asked[len(asked)-1])
	asked = nil
	_, err = c.Update(bg(), noord, 42, patch(t, contacts, `{"name":"B"}`), backend.Write{})
	require.NoError(t, err)
	require.Equal(t, []string{"GET /contacts/0042 ", `PUT /contacts/0042 {"nr":"0042","set":{"name":"B"}}`}, asked)
}
