package remote

import (
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"frontdesk/backend"
	"frontdesk/mapping"
)

// TestWritesOfWhatIsGone has a service that shows a record and knows none of it when it is
// written: a program of the vendor has removed it meanwhile. Before, that was a failure of ours.
func TestWritesOfWhatIsGone(t *testing.T) {
	service := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method != http.MethodGet {
			w.WriteHeader(http.StatusNotFound)
			return
		}
		_, _ = io.WriteString(w, `{"nr":5,"name":"N"}`)
	})
	s := served(t, `
resources:
  contact:
    key: {columns: nr}
    operations: {get: {path: "/c/{key}"}, update: {path: "/c/{key}"}, delete: {path: "/c/{key}"}}
    fields: {kind: {constant: person}, name: name}
`, service)
	c, r := front(t, s), s.Sheet.Model.Resource("contact")
	_, err := c.Update(bg(), anna, 5, patch(t, r, `{"name":"M"}`), backend.Write{})
	require.True(t, mapping.Is(err, mapping.RecordNotFound), "%v", err)
	require.Equal(t, "Field: id value: 5 not found", wording(t, err, mapping.OpUpdate))
	err = c.Delete(bg(), anna, r, 5, backend.Write{})
	require.True(t, mapping.Is(err, mapping.RecordNotFound), "%v", err)
	require.Equal(t, "closed", c.State())
}

// TestElementsComeWhole has an order of more lines than a body may bring, which are records of
// their own. Before, the first 1000 came as if they were all.
func TestElementsComeWhole(t *testing.T) {
	const lines = 1003
	service := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/lines" {
			_, _ = io.WriteString(w, map[bool]string{true: `{"nr":1,"contact":1}`, false: `[{"nr":1,"contact":1}]`}[r.URL.Path == "/orders/1"])
			return
		}
		from, _ := strconv.Atoi(r.FormValue("offset"))
		most, _ := strconv.Atoi(r.FormValue("limit"))
		var items []string
		for i := from; i < min(from+most, lines); i++ {
			items = append(items, fmt.Sprintf(`{"nr":%d,"order":1,"text":"x"}`, i+1))
		}
		_, _ = io.WriteString(w, "["+strings.Join(items, ",")+"]")
	})
	s := served(t, `
resources:
  order:
    key: {columns: nr}
    operations: {get: {path: "/orders/{key}"}, list: {path: /orders}}
    fields: {contact_id: contact, kind: {constant: sales}, order_status: {constant: open}, order_date: {constant: "2026-01-01T00:00:00Z"}, orderlines: {readonly: true}}
  orderline:
    key: {columns: nr}
    operations: {list: {path: /lines, query: {order: "{filter.order_id}", offset: "{offset}", limit: "{limit}"}, paging: {style: offset}}}
    fields: {order_id: order, description: text, quantity: {constant: 1}, price: {constant: 1}, turnover_group_id: {absent: true}}
`, service)
	c, r := front(t, s), s.Sheet.Model.Resource("order")
	at := r.Field("orderlines").Index
	rec, err := c.Get(bg(), r, backend.Query{Client: anna, ID: 1, Fields: []int{r.ID, at}})
	require.NoError(t, err)
	require.Equal(t, lines, len(rec.Children[at]))
	page, err := c.List(bg(), r, backend.Query{Client: anna, Limit: 10, Fields: []int{r.ID, at}})
	require.NoError(t, err)
	require.Equal(t, lines, len(page.Records[0].Children[at]))
}
