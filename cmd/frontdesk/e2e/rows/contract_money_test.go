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
