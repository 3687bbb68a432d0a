package remote

import (
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"frontdesk/backend"
	"frontdesk/mapping"
)

const lookedUpSheet = `
without_rules: [order_status]
rules: gateway
resources:
  contact:
    key: {columns: id}
    operations: {get: {path: "/contact/{key}"}, delete: {path: "/contact/{key}"}}
    fields: {kind: {constant: person}, name: name}
  order:
    key: {columns: id}
    operations: {list: {path: /order, query: {contact: "{filter.contact_id}"}, result: items}}
    fields: {contact_id: contact, kind: {constant: sales}, order_status: {constant: open}, order_date: {constant: "2026-01-01T00:00:00Z"}}
  turnovergroup:
    key: {columns: id}
    operations: {list: {path: /group, query: {code: "{filter.code}"}, result: items}, create: {path: /group}, update: {path: "/group/{key}"}, get: {path: "/group/{key}"}}
    fields: {code: code, description: text, vat_kind: {constant: high}, ledger_account: {absent: true}}
`

// TestRulesByListsThatLeaveOutWhatTells: before, a list without the member that it was
// filtered by made the rules find nothing: a contact with orders was deleted, and a code
// given twice.
func TestRulesByListsThatLeaveOutWhatTells(t *testing.T) {
	var orders, groups atomic.Value
	var written atomic.Int64
	service := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch {
		case r.Method != http.MethodGet:
			written.Add(1)
			_, _ = io.WriteString(w, `{"id":9,"code":"X","text":"x"}`)
		case r.URL.Path == "/order":
			_, _ = fmt.Fprintf(w, `{"items":[%s]}`, orders.Load())
		case r.URL.Path == "/group":
			_, _ = fmt.Fprintf(w, `{"items":[%s]}`, groups.Load())
		case strings.HasPrefix(r.URL.Path, "/group/"):
			_, _ = io.WriteString(w, `{"id":9,"code":"X","text":"x"}`)
		default:
			_, _ = io.WriteString(w, `{"id":1,"name":"One"}`)
		}
	})
	s := served(t, lookedUpSheet, service)
	c := front(t, s)
	group := mapping.NewRecord(s.Sheet.Model.Resource("turnovergroup"))
	group.Set("code", mapping.TextValue("X"))
	group.Set("description", mapping.TextValue("x"))
	for name, test := range map[string]struct {
		orders, groups string
		told           [2]mapping.Reason // of a contact that is deleted, of a new group; "" where it was done
	}{
		"none":                         {},
		"those that are asked for":     {`{"id":7,"contact":1}`, `{"id":3,"code":"X"}`, [2]mapping.Reason{mapping.InUse, mapping.DuplicateValue}},
		"left out":                     {`{"id":7},{"id":8}`, `{"id":3},{"id":4}`, [2]mapping.Reason{mapping.InternalError, mapping.InternalError}},
		"of others, and left out":      {`{"id":7},{"id":8,"contact":2}`, `{"id":3},{"id":4,"code":"Y"}`, [2]mapping.Reason{}},
		"of others, and explicit null": {`{"id":7,"contact":null}`, `{"id":3,"code":null}`, [2]mapping.Reason{}},
	} {
		t.Run(name, func(t *testing.T) {
			orders.Store(test.orders)
			groups.Store(test.groups)
			written.Store(0)
			_, created := c.Create(bg(), anna, mapping.BodyOf(group), backend.Write{})
			deleted := c.Delete(bg(), anna, s.Sheet.Model.Resource("contact"), 1, backend.Write{})
			want := int64(0)
			for i, err := range []error{deleted, created} {
				if test.told[i] == "" {
					require.NoError(t, err)
					want++
					continue
				}
				require.True(t, mapping.Is(err, test.told[i]), "%v", err)
				if test.told[i] == mapping.InternalError {
					require.ErrorContains(t, err, [2]string{"no record of the list of order has contact_id, at contact", "no record of the list of turnovergroup has code, at code"}[i])
					require.ErrorIs(t, err, backend.ErrUnexpected)
				}
			}
			require.Equal(t, want, written.Load())
		})
	}
	// What a client asks for is found or not, as map check says.
	groups.Store(`{"id":3}`)
	page, err := c.List(bg(), group.Resource, backend.Query{Client: anna, Limit: 10, Filters: []backend.Filter{{Field: group.Resource.Field("code"), Value: mapping.TextValue("X")}}})
	require.NoError(t, err)
	require.Empty(t, page.Records)
}

const computedSheet = `
without_rules: [order_status]
rules: gateway
resources:
  contact:
    key: {columns: id}
    operations:
      get: {path: "/contact/{key}"}
      list: {path: /contact, query: {blocked: "{filter.is_blocked}", blockeds: "{filter.is_blocked.in}", kind: "{filter.kind}", kinds: "{filter.kind.in}", language: "{filter.language}", none: "{filter.language.null}"}, result: items}
      delete: {path: "/contact/{key}"}
    fields:
      kind: {from: kind, codes: {P: person, C: company}, unknown: {value: company}}
      name: name
      language: {from: lang, codes: {D: nl, E: en}, unknown: "null", null_as: "-"}
      is_blocked: {cel: "row.state == 'B' ? 1 : 0"}
  order:
    key: {columns: id}
    operations: {list: {path: /order, query: {customer: "{filter.contact_id}"}, result: items}}
    fields: {contact_id: {cel: "int(row.customer.ref)"}, kind: {constant: sales}, order_status: {constant: open}, order_date: {constant: "2026-01-01T00:00:00Z"}}
  turnovergroup:
    key: {columns: id}
    operations: {list: {path: /group, query: {code: "{filter.code}"}, result: items}, create: {path: /group}, get: {path: "/group/{key}"}}
    fields: {code: {cel: "string(row.nr)", set: {nr: "value == null ? 0 : int(value)"}}, description: text, vat_kind: {constant: high}, ledger_account: {absent: true}}
`

// TestFiltersByWhatIsComputed: of a service that compares with what its own values compute to.
// Before, nothing was ever found by a field with cel: a contact with orders was deleted, and a
// code given twice. A code that is not listed was found by no value that stands for it.
func TestFiltersByWhatIsComputed(t *testing.T) {
	var asked atomic.Value
	contacts := []string{
		`{"id":1,"name":"One","state":"B","kind":"P","lang":"D"}`, `{"id":2,"name":"Two","state":"A","kind":"C","lang":"E"}`,
		`{"id":3,"name":"Three","state":"A","kind":"X","lang":"F"}`, `{"id":4,"name":"Four","state":"B","kind":"Y","lang":"-"}`,
	}
	has := func(contact, member string, values []string) bool {
		return len(values) == 0 || slices.ContainsFunc(values, func(v string) bool { return strings.Contains(contact, fmt.Sprintf(`%q:%q`, member, v)) })
	}
	service := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		q := r.URL.Query()
		switch r.URL.Path {
		case "/contact":
			asked.Store(q.Encode())
			var all []string
			for _, c := range contacts {
				var states []string
				for _, v := range append(q["blocked"], q["blockeds"]...) {
					states = append(states, map[string]string{"1": "B", "0": "A"}[v])
				}
				if has(c, "state", states) && has(c, "kind", append(q["kind"], q["kinds"]...)) && has(c, "lang", q["language"]) && (q.Get("none") == "" || q.Get("none") == "true" == strings.Contains(c, `"lang":"-"`)) {
					all = append(all, c)
				}
			}
			_, _ = fmt.Fprintf(w, `{"items":[%s]}`, strings.Join(all, ","))
		case "/order":
			_, _ = io.WriteString(w, `{"items":[{"id":7,"customer":{"ref":"1"}},{"id":8,"customer":{"ref":"2"}}]}`)
		case "/group":
			_, _ = io.WriteString(w, `{"items":[{"id":3,"nr":12,"text":"x"}]}`)
		case "/contact/1", "/contact/3":
			if r.Method == http.MethodGet {
				_, _ = io.WriteString(w, contacts[r.URL.Path[len("/contact/")]-'1'])
			}
		default:
			t.Errorf("%s %s", r.Method, r.URL)
		}
	})
	s := served(t, computedSheet, service)
	c, r := front(t, s), s.Sheet.Model.Resource("contact")
	err := c.Delete(bg(), anna, r, 1, backend.Write{})
	require.True(t, mapping.Is(err, mapping.InUse), "%v", err)
	require.NoError(t, c.Delete(bg(), anna, r, 3, backend.Write{}), "of no order")
	group := s.Sheet.Model.Resource("turnovergroup")
	_, err = c.Create(bg(), anna, body(t, group, `{"code":"12","description":"x"}`), backend.Write{})
	require.True(t, mapping.Is(err, mapping.DuplicateValue), "%v", err)

	field, one, no := r.Field, mapping.IntValue(1), mapping.IntValue(0)
	person, company, nl := mapping.TextValue("person"), mapping.TextValue("company"), mapping.TextValue("nl")
	for _, test := range []struct {
		asks  string
		found []int32
		by    backend.Filter
	}{
		{"blocked=1", []int32{1, 4}, backend.Filter{Field: field("is_blocked"), Value: one}},
		{"blocked=0", []int32{2, 3}, backend.Filter{Field: field("is_blocked"), Value: no}},
		{"blockeds=0&blockeds=1", []int32{1, 2, 3, 4}, backend.Filter{Field: field("is_blocked"), Op: mapping.AnyOf, Values: []mapping.Value{no, one}}},
		{"kind=P", []int32{1}, backend.Filter{Field: field("kind"), Value: person}},
		{"", []int32{2, 3, 4}, backend.Filter{Field: field("kind"), Value: company}},
		{"kinds=P", []int32{1}, backend.Filter{Field: field("kind"), Op: mapping.AnyOf, Values: []mapping.Value{person}}},
		{"", []int32{2, 3, 4}, backend.Filter{Field: field("kind"), Op: mapping.AnyOf, Values: []mapping.Value{company}}},
		{"language=D", []int32{1}, backend.Filter{Field: field("language"), Value: nl}},
		{"", []int32{3, 4}, backend.Filter{Field: field("language"), Value: mapping.NullValue()}},
		{"", []int32{3, 4}, backend.Filter{Field: field("language"), Op: mapping.IsNull, Value: one}},
		{"", []int32{1, 2}, backend.Filter{Field: field("language"), Op: mapping.IsNull, Value: no}},
	} {
		page, err := c.List(bg(), r, backend.Query{Client: anna, Limit: 10, Total: true, Filters: []backend.Filter{test.by}})
		require.NoError(t, err)
		var found []int32
		for _, rec := range page.Records {
			found = append(found, rec.ID())
		}
		assert.Equal(t, test.found, found, "%v", test.by)
		assert.Equal(t, test.asks, asked.Load(), "%v", test.by)
	}
}
