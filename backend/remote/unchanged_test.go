package remote

import (
	"io"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"frontdesk/auth"
	"frontdesk/backend"
)

const wholeSheet = `
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
	const before = `{"nr":6,"org":1,"code":"aa","title":"Bolt","kind":"LB","hours":0,"group":{"id":"G2"},"price":"6","cost":6,"gtin":"6"}`
	const behind = `{"nr":8,"org":1,"code":"zz","title":"Tyre","kind":"PT","hours":0,"group":{"id":"G3"},"price":"8","cost":8,"gtin":"8"}`
	var sent atomic.Value
	service := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodPut {
			body, _ := io.ReadAll(r.Body)
			sent.Store(r.URL.Path + " " + string(body))
		}
		answer := stored
		if r.Method == http.MethodGet && r.URL.Path == "/parts" {
			answer = "[" + before + "," + stored + "," + behind + "]" // before, what goes back was the last one's
		}
		_, _ = io.WriteString(w, answer)
	})
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
			store := served(t, text, service)
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

const ownSheet = `
resources:
  contact:
    key: {columns: nr}
    client: org
    operations:
      list: {path: /contacts}
      update: {path: "/contacts/{key}", send: siblings}
    fields:
      kind: {constant: person}
      name: name
      payment_days: credit.days
      is_customer: {from: roles, has: customer}
      is_supplier: {from: roles, has: supplier}
      is_blocked: {cel: "int(row.flags) % 2", set: {flags: "(value == null ? 0 : value) + (has(row.flags) ? int(row.flags) / 2 * 2 : 0)"}}
  order:
    key: {columns: nr}
    client: {through: contact_id}
    operations:
      list: {path: /orders}
      update: {path: "/orders/{key}", send: all}
    fields: {contact_id: contact, kind: {constant: sales}, order_status: {constant: open}, order_date: {constant: "2026-01-01T00:00:00Z"}, description: text}
`

// TestAWriteGoesByItsOwnRecord: of a service without get, whose lists have others before the
// record and behind it. Before, all that an update takes from the record was taken from the last
// that was read, which may be the one that another belongs to.
func TestAWriteGoesByItsOwnRecord(t *testing.T) {
	lists := map[string][]string{
		"contacts": {
			`{"nr":1,"org":1,"name":"A","credit":{"days":1,"limit":10},"roles":["a"],"flags":10}`,
			`{"nr":2,"org":1,"name":"B","credit":{"days":2,"limit":20},"roles":["b","customer"],"flags":20}`,
			`{"nr":3,"org":1,"name":"C","credit":{"days":3,"limit":30},"roles":["c"],"flags":30}`,
		},
		"orders": {`{"nr":1,"contact":1,"text":"one"}`, `{"nr":2,"contact":2,"text":"two"}`, `{"nr":3,"contact":3,"text":"three"}`, `{"nr":4,"contact":9,"text":"of nobody"}`},
	}
	var sent string
	service := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		list := lists[strings.Split(r.URL.Path, "/")[1]]
		if r.Method == http.MethodGet {
			_, _ = io.WriteString(w, "["+strings.Join(list, ",")+"]")
			return
		}
		body, _ := io.ReadAll(r.Body)
		sent = r.URL.Path + " " + string(body)
		_, _ = io.WriteString(w, list[1])
	})
	store := served(t, ownSheet, service)
	c := front(t, store)
	for _, test := range []struct{ resource, change, want string }{
		{"contact", `{"payment_days":9}`, `/contacts/2 {"credit":{"days":9,"limit":20}}`},
		{"contact", `{"is_supplier":1}`, `/contacts/2 {"roles":["b","customer","supplier"]}`},
		{"contact", `{"is_customer":0}`, `/contacts/2 {"roles":["b"]}`},
		{"contact", `{"is_blocked":1}`, `/contacts/2 {"flags":21}`},
		{"order", `{"description":"new"}`, `/orders/2 {"contact":2,"text":"new"}`},
	} {
		_, err := c.Update(bg(), anna, 2, patch(t, store.Sheet.Model.Resource(test.resource), test.change), backend.Write{})
		require.NoError(t, err, test.change)
		require.Equal(t, test.want, sent)
	}
}

const linkedSheet = `
resources:
  turnovergroup:
    key: {columns: id, id: kept}
    operations: {get: {path: "/groups/{key}", result: data}}
    fields: {code: code, description: text, vat_kind: {constant: high}, ledger_account: {constant: "1"}}
  article:
    key: {columns: id, id: kept}
    constants: {links.supplier.data.type: contacts}
    operations:
      get: {path: "/parts/{key}", result: data}
      create: {path: /parts, result: data, body: '{"data": {"type": "parts", "of": {fields.of}, "links": {fields.links}}}'}
      update: {path: "/parts/{key}", SEND, result: data, body: '{"data": {"id": "{key}", "of": {fields.of}, "links": {fields.links}}}'}
    fields:
      number: of.number
      description: of.text
      article_kind: {constant: part}
      unit_type: {constant: piece}
      turnover_group_id: {absent: true}
      price: {constant: 1}
      purchase_price: {constant: 1}
      supplier_id: links.supplier.data.id
  contact:
    key: {columns: id, id: kept}
    operations: {get: {path: "/contacts/{key}", result: data}}
    fields: {kind: {constant: person}, name: name}
`

// TestReferencesWithTheirTypes: what stands beside a reference in its object goes out with it,
// on each write of it and on no other; null is null of the object.
func TestReferencesWithTheirTypes(t *testing.T) {
	var sent string
	service := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method != http.MethodGet {
			body, _ := io.ReadAll(r.Body)
			sent = string(body)
		}
		_, _ = io.WriteString(w, `{"data":{"id":"p1","name":"x","of":{"number":"N","text":"T"},"links":{"supplier":{"data":{"type":"contacts","id":"c1"}}}}}`)
	})
	for name, test := range map[string]struct{ send, change, want string }{
		"another member": {"send: changed", `{"description":"U"}`, `{"data":{"id":"p1","of":{"text":"U"}}}`},
		"null":           {"send: changed", `{"supplier_id":null}`, `{"data":{"id":"p1","links":{"supplier":{"data":null}}}}`},
		"all":            {"send: all", `{"description":"U"}`, `{"data":{"id":"p1","of":{"text":"U","number":"N"},"links":{"supplier":{"data":{"id":"c1","type":"contacts"}}}}}`},
	} {
		t.Run(name, func(t *testing.T) {
			store := served(t, strings.Replace(linkedSheet, "SEND", test.send, 1), service)
			c, r := front(t, store), store.Sheet.Model.Resource("article")
			made, err := c.Create(bg(), anna, body(t, r, `{"number":"N","description":"T"}`), backend.Write{})
			require.NoError(t, err)
			require.JSONEq(t, `{"data":{"type":"parts","of":{"number":"N","text":"T"}}}`, sent)
			_, err = c.Update(bg(), anna, made.ID(), patch(t, r, test.change), backend.Write{})
			require.NoError(t, err)
			require.JSONEq(t, test.want, sent)
			if made.Get("supplier_id").IsSet() {
				_, err = c.Create(bg(), anna, body(t, r, `{"number":"N","description":"T","supplier_id":`+made.Get("supplier_id").String()+`}`), backend.Write{})
				require.NoError(t, err)
				require.JSONEq(t, `{"data":{"type":"parts","of":{"number":"N","text":"T"},"links":{"supplier":{"data":{"id":"c1","type":"contacts"}}}}}`, sent)
			}
		})
	}
}
