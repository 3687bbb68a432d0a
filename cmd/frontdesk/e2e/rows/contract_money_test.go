package rows

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"frontdesk/cmd/frontdesk/rig"
)

// contractTotals rounds lines half away from zero, and VAT once per rate.
func contractTotals(t *testing.T, p *rig.Practice) {
	type line struct {
		quantity, price, discount string
		group                     string
		total                     float64
	}
	for _, c := range []struct {
		what       string
		lines      []line
		excl, incl float64
	}{
		{"none", nil, 0, 0},
		{"half a cent", []line{{"0.1", "0.05", "null", "LABOUR", 0.01}}, 0.01, 0.01},
		{"half a cent back", []line{{"-0.1", "0.05", "null", "LABOUR", -0.01}}, -0.01, -0.01},
		{"discount", []line{{"1.5", "10.01", "12.5", "LABOUR", 13.14}}, 13.14, 15.90},
		{"all of it off", []line{{"3", "10", "100", "LABOUR", 0}}, 0, 0},
		{"four decimals", []line{{"0.3333", "0.3333", "null", "LABOUR", 0.11}, {"1", "1.00005", "null", "LABOUR", 1}}, 1.11, 1.34},
		{"VAT once per rate", []line{{"1", "0.02", "null", "LABOUR", 0.02}, {"1", "0.02", "null", "PARTS", 0.02}, {"1", "0.02", "null", "TYRES", 0.02}}, 0.06, 0.07},
		{"low", []line{{"1", "100.06", "null", "BIKEREP", 100.06}}, 100.06, 109.07},
		{"margin, zero and exempt bear none", []line{
			{"1", "1000", "null", "VEHMARGIN", 1000}, {"1", "10", "null", "VEHEXPORT", 10}, {"2", "5", "null", "FEES", 10}}, 1020, 1020},
		{"all together", []line{
			{"1.5", "10.01", "12.5", "LABOUR", 13.14}, {"0.1", "0.05", "null", "PARTS", 0.01}, {"1", "10.05", "null", "BIKEREP", 10.05}, {"1", "1000", "null", "VEHMARGIN", 1000}}, 1023.20, 1026.86},
		{"exact where floating point is not", []line{{"3", "1.1", "null", "VEHEXPORT", 3.3}, {"1", "1.005", "null", "VEHEXPORT", 1.01}, {"1", "2.675", "null", "VEHEXPORT", 2.68}}, 6.99, 6.99},
	} {
		body := func(l line) string {
			return fmt.Sprintf(`"description":"A","quantity":%s,"price":%s,"discount_percentage":%s,"turnover_group_id":%d`, l.quantity, l.price, l.discount, p.Group(l.group))
		}
		one := p.Order("open") // whose lines come one by one
		children := ""
		for i, l := range c.lines {
			id := p.Post("orderline", `{"order_id":%d,%s}`, one, body(l))
			require.Equal(t, l.total, p.Get(fmt.Sprintf("/orderline/%d", id))["total"], c.what)
			if i > 0 {
				children += ","
			}
			children += "{" + body(l) + "}"
		}
		orders := []int{one}
		if children != "" {
			orders = append(orders, p.Post("order", `{"contact_id":1,"kind":"parts","order_status":"open","order_date":"2026-07-01","orderlines":[%s]}`, children))
		}
		for _, order := range orders {
			rec := p.Get(fmt.Sprintf("/order/%d?fields=total_excl,total_incl,orderlines", order))
			require.Equal(t, c.excl, rec["total_excl"], c.what)
			require.Equal(t, c.incl, rec["total_incl"], c.what)
			require.Len(t, rec["orderlines"], len(c.lines))
		}
	}
}

// contractTotalsFollow keeps an order's totals right whatever its lines do.
func contractTotalsFollow(t *testing.T, p *rig.Practice) {
	order := p.Order("open")
	totals := func(excl, incl float64) {
		t.Helper()
		rec := p.Get(fmt.Sprintf("/order/%d", order))
		require.Equal(t, []any{excl, incl}, []any{rec["total_excl"], rec["total_incl"]})
	}
	totals(0, 0)
	line := p.Line(order)
	totals(10, 12.1)
	path := fmt.Sprintf("/orderline/%d", line)
	p.Put(path, `{"quantity":2.00005}`)
	require.Equal(t, 2.0001, p.Get(path)["quantity"])
	totals(20, 24.2)
	p.Put(path, fmt.Sprintf(`{"turnover_group_id":%d}`, p.Group("VEHMARGIN")))
	totals(20, 20)
	p.Answers(rig.Wire{Ask: `PUT /orderline/$1 {"discount_percentage":100.5}`, Status: 403, Message: `Field: discount_percentage has an invalid value: 100.5 for validation: percentage`}, line)
	p.Answers(rig.Wire{Ask: `PUT /orderline/$1 {"quantity":99999999999,"price":99999999999}`, Status: 403}, line)
	totals(20, 20)
	require.Equal(t, 200, p.Call("DELETE", path, p.Token, "").Status)
	totals(0, 0)
}

// contractChildren creates a record with what belongs to it, or neither.
func contractChildren(t *testing.T, p *rig.Practice) {
	const order = `POST /order {"contact_id":1,"kind":"parts","order_status":"open","order_date":"2026-07-01","orderlines":`
	const line = `{"description":"A","quantity":1,"price":1,"turnover_group_id":1}`
	count := func() int { return *p.Page("/order?total=1&page_size=1").Total }
	was := count()
	last := p.Get("/order/1")["number"]
	require.NotEmpty(t, last)
	number := p.Next()
	p.Post("flatrate", `{"number":"TWICE-%d","description":"A"}`, number)
	p.Holds(t, []rig.Wire{
		{What: "null", Ask: order + `null}`, Status: 403, Message: `Field: orderlines minimum 1 element is required in array`},
		{What: "an object", Ask: order + line + `}`, Status: 403, Message: `Field: orderlines minimum 1 element is required in array`},
		{What: "with its parent", Ask: order + `[` + line + `,{"order_id":1,"description":"A","quantity":1,"price":1,"turnover_group_id":1}]}`, Status: 403,
			Message: `Field: orderlines[1].order_id is readonly do not supply in request`},
		{What: "related IDs of all", Ask: order + `[{"description":"A","quantity":1,"price":1,"turnover_group_id":999999},` + line + `,{"description":"A","quantity":1,"price":1,"turnover_group_id":1,"article_id":999999}]}`, Status: 404, Errors: []string{
			`Field: orderlines[0].turnover_group_id value: 999999 ID not found`, `Field: orderlines[2].article_id value: 999999 ID not found`}},
		{What: "too large an amount in the last", Ask: order + `[` + line + `,{"description":"A","quantity":99999999999,"price":99999999999,"turnover_group_id":1}]}`, Status: 403,
			Message: `Field: orderlines[1].price has an invalid value: 99999999999 for datatype: float8`},
		{What: "a field of a line", Ask: order + `[{"description":"A","quantity":"1","price":1,"turnover_group_id":1}]}`, Status: 403,
			Message: `Field: orderlines[0].quantity has an invalid value: 1 for datatype: float8`},
		{What: "flat rate lines of one place", Ask: `POST /flatrate {"number":"$1","description":"A","flatratelines":[{"sort_order":1},{"sort_order":2},{"sort_order":1}]}`, Status: 403,
			Message: `Field: flatratelines[2].sort_order has an invalid value 1`},
		{What: "a flat rate line that lacks a field", Ask: `POST /flatrate {"number":"$1","description":"A","flatratelines":[{"sort_order":1},{"unit_type":"piece"}]}`, Status: 403,
			Message: `Field: flatratelines[1].article_kind is required and not supplied in request`},
		{What: "uniqueness of the parent", Ask: `POST /flatrate {"number":"TWICE-$2","description":"A","flatratelines":[{"sort_order":1}]}`, Status: 409,
			Message: `Field: number value: TWICE-$2 has a duplicate illegal value`},
	}, fmt.Sprint("RATE-", number), number)
	require.Equal(t, was, count(), "nothing was left")
	require.Empty(t, rig.Ids(p.Page(fmt.Sprintf("/flatrate?number=RATE-%d", number))))

	a := p.Answers(rig.Wire{Ask: order + `[` + line + `,` + line + `]}`, Status: 201})
	require.NotContains(t, a.Data(t), "orderlines")
	id := a.ID(t)
	require.Len(t, p.Page(fmt.Sprintf("/orderline?order_id=%d", id)).Data, 2)
	p.Answers(rig.Wire{Ask: `DELETE /order/$1`, Status: 406, Message: `Field: id in use at: orderline`}, id)
}
