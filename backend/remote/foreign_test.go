package remote

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"frontdesk/backend"
	"frontdesk/mapping"
)

// TestAnswersWithoutTheirBody: what has no body but announces one ends its
// connection, on which that would be taken for the next answer.
func TestAnswersWithoutTheirBody(t *testing.T) {
	for head, again := range map[string]bool{
		"204 No Content\r\n":                               true,
		"204 No Content\r\nContent-Length: 0\r\n":          true,
		"204 No Content\r\nContent-Length: 2\r\n":          false,
		"204 No Content\r\nTransfer-Encoding: chunked\r\n": false,
		"304 Not Modified\r\n":                             true,
		"304 Not Modified\r\nContent-Length: 2\r\n":        false,
	} {
		c := &core{Options: Options{}.withDefaults()}
		w, _, err := newWire(c, trivial(t, map[string]string{"GET": "HTTP/1.1 " + head + "\r\n"}), "", 1, 100, 0)
		require.NoError(t, err)
		a, err := w.do(bg(), &request{method: "GET", target: "/", timeout: ample})
		require.NoError(t, err)
		require.Equal(t, again, a.again, head)
		w.release(a)
		w.pool.close()
	}
	interim := "HTTP/1.1 103 Early Hints\r\nContent-Length: 40\r\n\r\n" + httpAnswer(200, "{}")
	w, _, err := newWire(&core{Options: Options{}.withDefaults()}, trivial(t, map[string]string{"GET": interim}), "", 1, 100, 0)
	require.NoError(t, err)
	_, err = w.do(bg(), &request{method: "GET", target: "/", timeout: ample})
	require.Error(t, err)
	w.pool.close()
}

// linesSheet is a service with lines within their orders; the order is in the path
// of calls about its lines, and in none of their answers.
const linesSheet = `
resources:
  order:
    key: {columns: id, id: kept}
    operations: {get: {path: "/order/{key}"}, list: {path: /order, result: list}}
    fields: {contact_id: contact, kind: kind, order_status: status, order_date: date, orderlines: {children: lines}}
  orderline:
    key: {columns: [order, line], id: kept}
    operations:
      get: {path: "/order/{key.1}/{key.2}"}
      list: {path: "/order/{filter.order_id}/lines", result: list}
    fields: {order_id: order, description: text, quantity: {constant: 1}, price: {constant: 1}, turnover_group_id: group}
`

// TestRecordsWithoutKey: a record that lacks the part of its key that is its own is
// none, wherever it stands; two such do not share an ID.
func TestRecordsWithoutKey(t *testing.T) {
	const head = `"contact":1,"kind":"parts","status":"open","date":"2026-11-20T10:00:00Z"`
	line := func(members string) string { return `{"text":"x","group":1` + members + `}` }
	good := line(`,"line":1`)
	order := func(id, lines string) string { return `{` + id + head + `,"lines":[` + lines + `]}` }
	for name, test := range map[string]struct {
		order, line, orders, lines string
		fails                      []int // of the four calls below
	}{
		"all is well":         {order(`"id":"A",`, good), good, order(`"id":"A",`, ""), good, nil},
		"no order":            {order("", ""), good, order("", ""), good, []int{0, 2}},
		"null":                {order(`"id":null,`, ""), line(`,"line":null`), order(`"id":null,`, ""), line(`,"line":null`), []int{0, 1, 2, 3}},
		"blank":               {order(`"id":" ",`, ""), line(`,"line":""`), order(`"id":"",`, ""), line(`,"line":" "`), []int{0, 1, 2, 3}},
		"elements":            {order(`"id":"A",`, line("")+","+line("")), good, order(`"id":"A",`, ""), line("") + "," + line(""), []int{0, 3}},
		"the line":            {order(`"id":"A",`, good), line(""), order(`"id":"A",`, ""), good, []int{1}},
		"another one":         {order(`"id":"B",`, good), line(`,"line":2`), order(`"id":"A",`, ""), good, []int{0, 1}},
		"of another order":    {order(`"id":"A",`, line(`,"line":1,"order":"B"`)), line(`,"line":1,"order":"B"`), order(`"id":"A",`, ""), good, []int{1}},
		"what is no record":   {`{}`, `{"ok":true}`, `{}`, `{}`, []int{0, 1, 2, 3}},
		"of no order by name": {order(`"id":"A",`, good), line(`,"line":1,"order":""`), order(`"id":"A",`, ""), good, []int{1}},
	} {
		t.Run(name, func(t *testing.T) {
			list := func(one string) string { return httpAnswer(200, `{"list":[`+one+`]}`) }
			ids := openIDStore(t)
			speak := func(answers map[string]string) (*backend.Client, *mapping.Resource) {
				store := open(t, Options{IDStore: ids, Sheet: loadText(t, linesSheet, trivial(t, answers))})
				return front(t, store), store.Sheet.Model.Resource("order")
			}
			well := order(`"id":"A",`, good) // by which the IDs are given out
			c, r := speak(map[string]string{"GET /order": list(well)})
			lines := r.Field("orderlines").Index
			page, err := c.List(bg(), r, backend.Query{Client: anna, Limit: 10, Fields: []int{lines}})
			require.NoError(t, err)
			id, lineID := page.Records[0].ID(), page.Records[0].Children[lines][0].ID()

			c, r = speak(map[string]string{
				"GET /order/A": httpAnswer(200, test.order), "GET /order/A/1": httpAnswer(200, test.line),
				"GET /order": list(test.orders), "GET /order/A/lines": list(test.lines),
			})
			ofOrder := backend.Filter{Field: r.Fields[lines].Target().Field("order_id"), Value: mapping.IntValue(int64(id))}
			_, gotOrder := c.Get(bg(), r, backend.Query{Client: anna, ID: id, Fields: []int{lines}})
			_, gotLine := c.Get(bg(), r.Fields[lines].Target(), backend.Query{Client: anna, ID: lineID})
			_, gotOrders := c.List(bg(), r, backend.Query{Client: anna, Limit: 10})
			_, gotLines := c.List(bg(), r.Fields[lines].Target(), backend.Query{Client: anna, Filters: []backend.Filter{ofOrder}, Limit: 10})
			var failed []int
			for i, err := range []error{gotOrder, gotLine, gotOrders, gotLines} {
				if err != nil {
					require.True(t, mapping.Is(err, mapping.InternalError), "%v", err)
					require.False(t, strings.Contains(err.Error(), "parts"), "no value is in it: %v", err)
					failed = append(failed, i)
				}
			}
			require.Equal(t, test.fails, failed)
		})
	}
}
