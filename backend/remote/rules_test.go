package remote

import (
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"frontdesk/backend"
	"frontdesk/mapping"
)

const lookedUpSheet = `
format: 1
source: {http: {url: "${GARAGE_URL}"}}
keep: keep.db
without_rules: [order_status]
accounts: {users: []}
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
