package main

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"
)

// group is the id of a turnover group of the sample data.
func (p *practice) group(code string) int {
	p.t.Helper()
	found := ids(p.page("/turnovergroup?code=" + code))
	require.Len(p.t, found, 1, code)
	return found[0]
}

// contractTotals rounds lines half away from zero, and VAT once per rate.
func contractTotals(t *testing.T, p *practice) {
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
			return fmt.Sprintf(`"description":"A","quantity":%s,"price":%s,"discount_percentage":%s,"turnover_group_id":%d`, l.quantity, l.price, l.discount, p.group(l.group))
		}
		one := p.order("open") // whose lines come one by one
		children := ""
		for i, l := range c.lines {
			id := p.post("orderline", `{"order_id":%d,%s}`, one, body(l))
			require.Equal(t, l.total, p.get(fmt.Sprintf("/orderline/%d", id))["total"], c.what)
			if i > 0 {
				children += ","
			}
			children += "{" + body(l) + "}"
		}
		orders := []int{one}
		if children != "" {
			orders = append(orders, p.post("order", `{"contact_id":1,"kind":"parts","order_status":"open","order_date":"2026-07-01","orderlines":[%s]}`, children))
		}
		for _, order := range orders {
			rec := p.get(fmt.Sprintf("/order/%d?fields=total_excl,total_incl,orderlines", order))
			require.Equal(t, c.excl, rec["total_excl"], c.what)
			require.Equal(t, c.incl, rec["total_incl"], c.what)
			require.Len(t, rec["orderlines"], len(c.lines))
		}
	}
}

// contractTotalsFollow keeps an order's totals right whatever its lines do.
func contractTotalsFollow(t *testing.T, p *practice) {
	order := p.order("open")
	totals := func(excl, incl float64) {
		t.Helper()
		rec := p.get(fmt.Sprintf("/order/%d", order))
		require.Equal(t, []any{excl, incl}, []any{rec["total_excl"], rec["total_incl"]})
	}
	totals(0, 0)
	line := p.line(order)
	totals(10, 12.1)
	path := fmt.Sprintf("/orderline/%d", line)
	p.put(path, `{"quantity":2.00005}`)
	require.Equal(t, 2.0001, p.get(path)["quantity"])
	totals(20, 24.2)
	p.put(path, fmt.Sprintf(`{"turnover_group_id":%d}`, p.group("VEHMARGIN")))
	totals(20, 20)
	p.answers(wire{ask: `PUT /orderline/$1 {"discount_percentage":100.5}`, status: 403, message: `Field: discount_percentage has an invalid value: 100.5 for validation: percentage`}, line)
	p.answers(wire{ask: `PUT /orderline/$1 {"quantity":99999999999,"price":99999999999}`, status: 403}, line)
	totals(20, 20)
	require.Equal(t, 200, p.call("DELETE", path, p.token, "").Status)
	totals(0, 0)
}

// contractChildren creates a record with what belongs to it, or neither.
func contractChildren(t *testing.T, p *practice) {
	const order = `POST /order {"contact_id":1,"kind":"parts","order_status":"open","order_date":"2026-07-01","orderlines":`
	const line = `{"description":"A","quantity":1,"price":1,"turnover_group_id":1}`
	count := func() int { return *p.page("/order?total=1&page_size=1").Total }
	was := count()
	last := p.get("/order/1")["number"]
	require.NotEmpty(t, last)
	number := p.next()
	p.post("flatrate", `{"number":"TWICE-%d","description":"A"}`, number)
	p.holds(t, []wire{
		{what: "empty", ask: order + `[]}`, status: 403, message: `Field: orderlines minimum 1 element is required in array`},
		{what: "null", ask: order + `null}`, status: 403, message: `Field: orderlines minimum 1 element is required in array`},
		{what: "an object", ask: order + line + `}`, status: 403, message: `Field: orderlines minimum 1 element is required in array`},
		{what: "with its parent", ask: order + `[` + line + `,{"order_id":1,"description":"A","quantity":1,"price":1,"turnover_group_id":1}]}`, status: 403,
			message: `Field: orderlines[1].order_id is readonly do not supply in request`},
		{what: "related IDs of all", ask: order + `[{"description":"A","quantity":1,"price":1,"turnover_group_id":999999},` + line + `,{"description":"A","quantity":1,"price":1,"turnover_group_id":1,"article_id":999999}]}`, status: 404, errors: []string{
			`Field: orderlines[0].turnover_group_id value: 999999 ID not found`, `Field: orderlines[2].article_id value: 999999 ID not found`}},
		{what: "too large an amount in the last", ask: order + `[` + line + `,{"description":"A","quantity":99999999999,"price":99999999999,"turnover_group_id":1}]}`, status: 403,
			message: `Field: orderlines[1].price has an invalid value: 99999999999 for datatype: float8`},
		{what: "a field of a line", ask: order + `[{"description":"A","quantity":"1","price":1,"turnover_group_id":1}]}`, status: 403,
			message: `Field: orderlines[0].quantity has an invalid value: 1 for datatype: float8`},
		{what: "flat rate lines of one place", ask: `POST /flatrate {"number":"$1","description":"A","flatratelines":[{"sort_order":1},{"sort_order":2},{"sort_order":1}]}`, status: 403,
			message: `Field: flatratelines[2].sort_order has an invalid value 1`},
		{what: "a flat rate line that lacks a field", ask: `POST /flatrate {"number":"$1","description":"A","flatratelines":[{"sort_order":1},{"unit_type":"piece"}]}`, status: 403,
			message: `Field: flatratelines[1].article_kind is required and not supplied in request`},
		{what: "uniqueness of the parent", ask: `POST /flatrate {"number":"TWICE-$2","description":"A","flatratelines":[{"sort_order":1}]}`, status: 409,
			message: `Field: number value: TWICE-$2 has a duplicate illegal value`},
	}, fmt.Sprint("RATE-", number), number)
	require.Equal(t, was, count(), "nothing was left")
	require.Empty(t, ids(p.page(fmt.Sprintf("/flatrate?number=RATE-%d", number))))

	a := p.answers(wire{ask: order + `[` + line + `,` + line + `]}`, status: 201})
	require.NotContains(t, a.data(t), "orderlines")
	id := a.id(t)
	require.Len(t, p.page(fmt.Sprintf("/orderline?order_id=%d", id)).Data, 2)
	p.answers(wire{ask: `PUT /order/$1 {"orderlines":[` + line + `]}`, status: 409, message: `Cannot update orderlines`}, id)
	p.answers(wire{ask: `DELETE /order/$1`, status: 406, message: `Field: id in use at: orderline`}, id)
}
