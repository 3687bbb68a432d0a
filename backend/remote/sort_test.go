package remote

import (
	"cmp"
	"encoding/json"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"frontdesk/auth"
	"frontdesk/backend"
	"frontdesk/mapping"
)

// sorting is a service that lists in the order that it is told, and of what that leaves
// open in no order at all: another one for every page.
type sorting struct {
	rows  []map[string]any
	told  func(term string) (member string, down bool)
	join  string
	asked []string
}

func (s *sorting) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	order := r.FormValue("order")
	s.asked = append(s.asked, order)
	rows := slices.Clone(s.rows)
	if len(s.asked)%2 == 0 {
		slices.Reverse(rows)
	}
	slices.SortStableFunc(rows, func(a, b map[string]any) int {
		for term := range strings.SplitSeq(order, s.join) {
			member, down := s.told(term)
			c := 0
			switch x := a[member].(type) {
			case int:
				c = cmp.Compare(x, b[member].(int))
			case string:
				c = cmp.Compare(x, b[member].(string))
			}
			if down {
				c = -c
			}
			if c != 0 {
				return c
			}
		}
		return 0
	})
	from, _ := strconv.Atoi(r.FormValue("offset"))
	limit, _ := strconv.Atoi(r.FormValue("limit"))
	from = min(from, len(rows))
	_ = json.NewEncoder(w).Encode(rows[from:min(len(rows), from+limit)])
}

// sortedSheet is of a service that is told an order, which goes where SORT stands.
const sortedSheet = `
resources:
  contact:
    key: {columns: nr}
    hidden: row.gone
    operations:
      list: {path: /contacts, query: {order: "{sort}", offset: "{offset}", limit: "{limit}"}, paging: {style: offset, size: 3}, sort: SORT}
    fields: {kind: {constant: person}, name: naam, payment_days: days, note: memo}
`

// TestSorts walks lists that are sorted by several fields, page by page, where records are
// hidden and values stand twice.
func TestSorts(t *testing.T) {
	for name, of := range map[string]struct {
		sort, join, up, down string
	}{
		"signs": {`{by: {id: [nr, -nr], name: [naam, -naam], payment_days: [days, -days]}}`, ",", "", "-"},
		"words": {`{join: ", ", by: {id: [nr asc, nr desc], name: [naam asc, naam desc], payment_days: [days asc, days desc]}}`, ", ", " asc", " desc"},
	} {
		t.Run(name, func(t *testing.T) {
			service := &sorting{join: of.join, told: func(term string) (string, bool) {
				down := strings.HasPrefix(term, "-") || strings.HasSuffix(term, " desc")
				return strings.TrimSuffix(strings.TrimSuffix(strings.TrimPrefix(term, "-"), " desc"), " asc"), down
			}}
			for i := range 20 {
				service.rows = append(service.rows, map[string]any{"nr": i + 1, "naam": string("CAB"[i%3]), "days": i % 2 * 14, "gone": i%5 == 3})
			}
			store := served(t, strings.Replace(sortedSheet, "SORT", of.sort, 1), service)
			client, contact := front(t, store), store.Sheet.Model.Resource("contact")
			by := func(name string, down bool) backend.Order {
				return backend.Order{Field: contact.Field(name), Descending: down}
			}
			term := func(member string, down bool) string {
				switch {
				case down && of.down == "-":
					return "-" + member
				case down:
					return member + of.down
				}
				return member + of.up
			}
			for _, c := range []struct {
				sort []backend.Order
				told []string
			}{
				{nil, []string{term("nr", false)}},
				{[]backend.Order{by("id", true)}, []string{term("nr", true)}},
				{[]backend.Order{by("name", false)}, []string{term("naam", false), term("nr", false)}},
				{[]backend.Order{by("payment_days", true), by("name", false)}, []string{term("days", true), term("naam", false), term("nr", false)}},
				{[]backend.Order{by("name", true), by("id", true)}, []string{term("naam", true), term("nr", true)}},
			} {
				var ids []int32
				q := backend.Query{Client: auth.Client{ID: 1, Name: "one"}, Limit: 4, Sort: c.sort}
				for more := true; more; q.Offset += q.Limit {
					page, err := client.List(bg(), contact, q)
					require.NoError(t, err)
					for _, rec := range page.Records {
						ids = append(ids, rec.ID())
					}
					more = page.More
				}
				require.Equal(t, strings.Join(c.told, of.join), service.asked[len(service.asked)-1])
				require.Equal(t, service.inOrder(c.sort), ids)
			}
			_, err := client.List(bg(), contact, backend.Query{Client: auth.Client{ID: 1}, Limit: 4, Sort: []backend.Order{by("note", false)}})
			require.True(t, mapping.Is(err, mapping.QueryUnsupported), "%v", err)
			require.True(t, contact.Field("name").Sortable())
			require.False(t, contact.Field("note").Sortable(), "clients are told so")
		})
	}
}

// inOrder are the IDs of the rows that are shown, as the interface promises them.
func (s *sorting) inOrder(by []backend.Order) (ids []int32) {
	rows := slices.DeleteFunc(slices.Clone(s.rows), func(row map[string]any) bool { return row["gone"] == true })
	slices.SortStableFunc(rows, func(a, b map[string]any) int {
		for _, o := range by {
			c := 0
			switch o.Field.Name {
			case "id":
				c = cmp.Compare(a["nr"].(int), b["nr"].(int))
			case "name":
				c = cmp.Compare(a["naam"].(string), b["naam"].(string))
			default:
				c = cmp.Compare(a["days"].(int), b["days"].(int))
			}
			if o.Descending {
				c = -c
			}
			if c != 0 {
				return c
			}
		}
		return 0
	})
	for _, row := range rows {
		ids = append(ids, int32(row["nr"].(int)))
	}
	return ids
}
