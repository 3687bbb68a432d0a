package remote

import (
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"frontdesk/auth"
	"frontdesk/backend"
)

const wholeSheet = `
format: 1
source: {http: {url: "${GARAGE_URL}", retries: 0}}
keep: keep.db
rules: backend
accounts: {users: []}
resources:
  turnovergroup:
    key: {columns: id, id: kept}
    client: ""
    operations: {get: {path: "/groups/{key}"}}
    fields: {code: code, description: text, vat_kind: {constant: high}, ledger_account: {constant: "1"}}
  article:
    key: {columns: nr}
    client: org
    operations:
      GET
      update: {path: "/parts/{key}", UPDATE}
    fields:
      number: {from: code, case: upper}
      description: title
      article_kind: {from: kind, codes: {PT: part, PT2: part, LB: labour}}
      unit_type: {cel: "row.hours > 0 ? 'hour' : 'piece'", set: {hours: "value == 'hour' ? 1 : 0"}}
      turnover_group_id: group.id
      price: {from: price, type: text, decimal_comma: true}
      purchase_price: {from: cost, scale: 2}
      ean: {from: gtin, trim: both}
      supplier_id: vendor
`

// TestWhatDoesNotChangeGoesBackAsItWasRead: of a service that takes whole records, and of
// what a body of the sheet's own names. Before, all was decoded and encoded again: of codes
// the first was sent, texts came back trimmed and numbers in another form.
func TestWhatDoesNotChangeGoesBackAsItWasRead(t *testing.T) {
	const stored = `{"nr":7,"org":1,"code":"ab-1","title":"Oil","kind":"PT2","hours":2,"group":{"id":" G1"},"price":"0012,500","cost":1.500,"gtin":" 871 "}`
	var sent atomic.Value
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodPut {
			body, _ := io.ReadAll(r.Body)
			sent.Store(r.URL.Path + " " + string(body))
		}
		answer := stored
		if r.Method == http.MethodGet && r.URL.Path == "/parts" {
			answer = "[" + stored + "]"
		}
		_, _ = io.WriteString(w, answer)
	}))
	t.Cleanup(server.Close)
	const get, list = `get: {path: "/parts/{key}"}`, `list: {path: /parts}`
	whole := `{"code":"ab-1","title":"New","kind":"PT2","hours":2,"group":{"id":" G1"},"cost":1.500,"price":"0012,500","gtin":" 871 "}`
	for name, test := range map[string]struct{ get, update, patch, want string }{
		"all":            {get, "send: all", `{"description": "New"}`, whole},
		"all, by a list": {list, "send: all", `{"description": "New"}`, whole},
		"all, the same":  {get, "send: all", `{"description": "New", "article_kind": "part", "price": 12.5}`, whole},
		"changed":        {get, "send: changed", `{"description": "New", "article_kind": "part"}`, `{"title":"New"}`},
		"a body": {get, `body: '{"t": "{value.description}", "k": "{value.article_kind}", "rest": {fields}}'`, `{"description": "New", "article_kind": "part", "number": "B"}`,
			`{"t":"New","k":"PT2","rest":{"code":"B"}}`},
		"a body of all": {get, `send: all, body: '{"t": "{value.description}", "k": "{value.article_kind}", "p": "{value.price}", "rest": {fields}}'`, `{"description": "New"}`,
			`{"t":"New","k":"PT2","p":"0012,500","rest":{"code":"ab-1","hours":2,"group":{"id":" G1"},"cost":1.500,"gtin":" 871 "}}`},
		"the path": {get + "\n      list: {path: /parts}", `path: "/kinds/{value.article_kind}/parts/{key}"`, `{"description": "New"}`, `/kinds/PT2/parts/7 {"title":"New"}`},
	} {
		t.Run(name, func(t *testing.T) {
			text := strings.NewReplacer("GET\n", test.get+"\n", "UPDATE", test.update).Replace(wholeSheet)
			if name == "the path" {
				text = strings.NewReplacer(`path: "/parts/{key}", path:`, "path:", "LB: labour}}", "LB: labour}, immutable: true}").Replace(text)
			}
			store := openText(t, text, server.URL)
			r := store.Sheet.Model.Resource("article")
			_, err := front(t, store).Update(bg(), auth.Client{ID: 1}, 7, patch(t, r, test.patch), backend.Write{})
			require.NoError(t, err)
			if !strings.HasPrefix(test.want, "/") {
				test.want = "/parts/7 " + test.want
			}
			require.Equal(t, test.want, sent.Load())
		})
	}
}
