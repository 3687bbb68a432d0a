package reference

import (
	"fmt"
	"math/rand/v2"
	"strconv"
	"time"
)

// orderDate is when the n-th order was placed: one after another, up to the end
// of the sample data.
func (w *world) orderDate(dice *rand.Rand, n int) time.Time {
	span := sampleYears * 365 * 24 * time.Hour
	start := sampleEnd.Add(-span)
	return workday(dice, start.Add(span/time.Duration(w.orders)*time.Duration(n)))
}

// orderStatus is how far the n-th order is: old ones are closed, the last
// twelfth is in every state.
func (w *world) orderStatus(dice *rand.Rand, n int) string {
	if recent := max(12, w.orders/12); n < w.orders-recent {
		if chance(dice, 6) {
			return "cancelled"
		}
		return "invoiced"
	}
	states := [...]string{"open", "in_progress", "ready", "invoiced", "concept", "cancelled"}
	return states[n%len(states)]
}

// order is the n-th order with its lines.
func (w *world) order(n int) draft {
	dice := w.dice("order", n)
	d := w.draft("order")
	date := w.orderDate(dice, n)
	status := w.orderStatus(dice, n)
	d.text("order_status", status)
	d.time("order_date", date)
	if status != "concept" {
		d.time("delivery_date", workday(dice, date.AddDate(0, 0, 3+dice.IntN(5))))
	}
	d.ref("employee_id", w.id("employee", dice.IntN(w.employees)))
	if chance(dice, 8) {
		d.text("reference", fmt.Sprintf("PO-%d-%03d", date.Year(), dice.IntN(1000)))
	}
	var lines []draft
	switch roll := dice.IntN(100); {
	case roll < 68 || n == 0:
		lines = w.workshopOrder(dice, d)
	case roll < 84 || n == 1:
		lines = w.partsOrder(dice, d)
	case roll < 95 || n == 2:
		lines = w.salesOrder(dice, d)
	default:
		lines = w.leaseOrder(dice, d)
	}
	for i, l := range lines {
		l.number("sort_order", 10*(i+1))
	}
	d.children("orderlines", lines)
	return d
}

// customersCar picks a vehicle that belonged to a customer by then.
func (w *world) customersCar(dice *rand.Rand, at time.Time) (int, car) {
	for range 200 {
		n := dice.IntN(w.vehicles)
		if c := w.car(n); !c.forSale && c.bought.Before(at) {
			return n, c
		}
	}
	return steadyCar, w.car(steadyCar)
}

// workshopOrder is work on a customer's vehicle: labour, and the parts with it.
func (w *world) workshopOrder(dice *rand.Rand, d draft) []draft {
	at := d.Get("order_date").Time()
	n, c := w.customersCar(dice, at)
	job := pick(dice, w.labour)
	what := w.labour.get(job, "description")
	d.text("kind", "workshop")
	d.ref("contact_id", w.id("contact", c.owner))
	d.ref("vehicle_id", w.id("vehicle", n))
	d.number("mileage", c.mileage(at))
	d.text("description", what)
	labour := w.articleLine(dice, w.labour.get(job, "article"), w.labour.get(job, "hours"))
	labour.text("description", what)
	labour.ref("employee_id", w.id("employee", dice.IntN(w.employees)))
	lines := []draft{labour}
	for range dice.IntN(4) {
		lines = append(lines, w.partLine(dice))
	}
	return lines
}

// partsOrder is parts over the counter.
func (w *world) partsOrder(dice *rand.Rand, d draft) []draft {
	d.text("kind", "parts")
	d.ref("contact_id", w.id("contact", w.customer(dice)))
	var lines []draft
	for range 1 + dice.IntN(4) {
		lines = append(lines, w.partLine(dice))
	}
	return lines
}

// salesOrder is the sale of a vehicle to the contact who owns it since.
func (w *world) salesOrder(dice *rand.Rand, d draft) []draft {
	n, c := w.customersCar(dice, d.Get("order_date").Time())
	name := w.cars.get(c.row, "brand") + " " + w.cars.get(c.row, "model")
	d.text("kind", "sales")
	d.ref("contact_id", w.id("contact", c.owner))
	d.ref("vehicle_id", w.id("vehicle", n))
	d.text("description", "Sale of a "+name)
	group := "VEHMARGIN"
	if chance(dice, 35) {
		group = "VEHVAT"
	}
	vehicle := w.line(name+" "+plate(n, c.admitted.Year()), "1", group)
	vehicle.text("unit_type", "piece")
	vehicle.euros("price", c.price)
	lines := []draft{vehicle, w.articleLine(dice, "FEE-PLATE", "1")}
	if chance(dice, 50) {
		lines = append(lines, w.articleLine(dice, "LAB-CLEAN", "3"))
	}
	if chance(dice, 15) {
		insurance := w.line("Brokerage of a car insurance", "1", "INSURANCE")
		insurance.parsed("price", "35.00")
		lines = append(lines, insurance)
	}
	return lines
}

// leaseOrder is the rent of a car for some days.
func (w *world) leaseOrder(dice *rand.Rand, d draft) []draft {
	d.text("kind", "lease")
	d.ref("contact_id", w.id("contact", w.customer(dice)))
	days := w.articleLine(dice, "RENT-DAY", strconv.Itoa(1+dice.IntN(28)))
	if chance(dice, 40) {
		return []draft{days, w.articleLine(dice, "LAB-CLEAN", "1")}
	}
	return []draft{days}
}

// line is an order line without an article.
func (w *world) line(description, quantity, group string) draft {
	d := w.draft("orderline")
	d.text("description", description)
	d.parsed("quantity", quantity)
	d.ref("turnover_group_id", w.groupIDs[group])
	return d
}

// articleLine is an order line of an article of the data file.
func (w *world) articleLine(dice *rand.Rand, number, quantity string) draft {
	row, article := w.partID(number)
	d := w.line(w.parts.get(row, "description"), quantity, w.parts.get(row, "turnover_group"))
	d.ref("article_id", article)
	d.text("article_number", number)
	d.text("unit_type", w.parts.get(row, "unit_type"))
	d.parsed("price", w.parts.get(row, "price"))
	if chance(dice, 12) {
		d.parsed("discount_percentage", [...]string{"5", "10", "12.5", "15"}[dice.IntN(4)])
	}
	return d
}

// partLine is an order line of any part, in a quantity that suits its unit.
func (w *world) partLine(dice *rand.Rand) draft {
	n := dice.IntN(w.articles)
	row := n
	if n >= len(w.parts.rows) {
		row = w.partRow(n - len(w.parts.rows))
	}
	if w.parts.get(row, "article_kind") != "part" {
		return w.partLine(dice)
	}
	quantity := strconv.Itoa(1 + dice.IntN(2))
	switch unit := w.parts.get(row, "unit_type"); unit {
	case "litre":
		quantity = [...]string{"1", "3.5", "4", "4.5", "5"}[dice.IntN(5)]
	case "kg", "metre":
		quantity = [...]string{"0.25", "0.45", "0.5", "1.5"}[dice.IntN(4)]
	}
	d := w.articleLine(dice, w.parts.get(row, "number"), quantity)
	if n != row {
		a := w.article(n)
		d.ref("article_id", w.id("article", n))
		d.put("article_number", a.Get("number"))
		d.put("description", a.Get("description"))
	}
	return d
}
