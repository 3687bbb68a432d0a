package reference

import (
	"fmt"
	"math/rand/v2"
	"strconv"
	"time"

	"frontdesk/mapping"
)

// sampleSeed determines the sample data, together with the data files and the number of orders.
const sampleSeed = 20261101

// sampleEnd is when the sample data ends; its orders lie in the years before.
var sampleEnd = time.Date(2026, time.October, 30, 16, 0, 0, 0, time.UTC) // a Friday

// sampleYears is how far the orders reach back.
const sampleYears = 3

// sampleResources are what the sample data is made of.
var sampleResources = []string{
	"turnovergroup", "employee", "contact", "contactcommunication", "contactaddress", "article", "flatrate", "flatrateline",
	"vehicle", "vehicleroleline", "vehicleadvertisementsite", "order", "orderline", "document",
}

// world makes the records of one client of the sample data. The n-th record of
// a resource is the same whenever it is made, and in an empty database its ID
// lies base above n, so that records can refer to others that are made elsewhere.
type world struct {
	model *mapping.Model
	other bool             // the second, small client
	base  map[string]int32 // by resource: the highest ID before this client's

	contacts, vehicles, articles, employees, orders, documents int

	first, last, companies, addresses, groups, parts, labour, rates, rateLines, jobs, cars, colors, sites table

	sizes    map[string]int   // by resource: how many there are
	groupIDs map[string]int32 // turnover groups by code
	err      error            // the first field that the model lacks
}

// newWorld plans the records that go with so many orders.
func newWorld(model *mapping.Model, orders int, other bool, base map[string]int32) (*world, error) {
	for _, name := range sampleResources {
		if model.Resource(name) == nil {
			return nil, fmt.Errorf("sample data: the model has no resource %s", name)
		}
	}
	w := &world{model: model, other: other, base: base, orders: orders}
	for into, name := range map[*table]string{
		&w.first: "first_names", &w.last: "last_names", &w.companies: "companies", &w.addresses: "addresses", &w.groups: "turnovergroups",
		&w.parts: "articles", &w.labour: "labour", &w.rates: "flatrates", &w.rateLines: "flatratelines", &w.jobs: "job_titles",
		&w.cars: "vehicles", &w.colors: "colors", &w.sites: "advertisementsites",
	} {
		*into = readTable(name)
	}
	w.contacts = len(w.companies.rows) + max(40, orders/5)
	w.vehicles = max(40, orders/4)
	w.articles = len(w.parts.rows) + min(orders/25, len(w.parts.rows)*len(w.cars.rows)/2)
	w.employees = min(12+orders/5000, 40)
	w.documents = max(20, orders/10)
	w.sizes = map[string]int{}
	for _, b := range w.plan() {
		w.sizes[b.resource] = b.to
	}
	w.groupIDs = map[string]int32{}
	for i := range w.groups.rows {
		w.groupIDs[w.groups.get(i, "code")] = w.id("turnovergroup", i)
	}
	return w, nil
}

// id is the ID of the n-th record of a resource, counted from 0.
func (w *world) id(resource string, n int) int32 { return w.base[resource] + int32(n) + 1 }

// dice returns the randomness of the n-th record of a kind, always the same.
func (w *world) dice(kind string, n int) *rand.Rand {
	stream := uint64(n) << 1
	if w.other {
		stream |= 1
	}
	for _, c := range []byte(kind) {
		stream = stream*1099511628211 ^ uint64(c)<<32
	}
	return rand.New(rand.NewPCG(sampleSeed, stream))
}

// pick takes one of a table's rows.
func pick(dice *rand.Rand, t table) int { return dice.IntN(len(t.rows)) }

// chance is true in so many of a hundred cases.
func chance(dice *rand.Rand, percent int) bool { return dice.IntN(100) < percent }

// draft is a record in the making.
type draft struct {
	mapping.Record
	world *world
}

func (w *world) draft(resource string) draft {
	r := w.model.Resource(resource)
	return draft{Record: mapping.NewRecord(r), world: w}
}

func (w *world) fail(format string, args ...any) {
	if w.err == nil {
		w.err = fmt.Errorf("sample data: "+format, args...)
	}
}

// field is one of the resource; nil where the model lacks it.
func (d draft) field(name string) *mapping.Field {
	f := d.Resource.Field(name)
	if f == nil {
		d.world.fail("%s has no field %s", d.Resource.Name, name)
	}
	return f
}

func (d draft) put(field string, v mapping.Value) {
	if d.field(field) != nil {
		d.Set(field, v)
	}
}

// text sets a field unless the text is empty.
func (d draft) text(field, s string) {
	if s != "" {
		d.put(field, mapping.TextValue(s))
	}
}

// texts sets fields to what a table has in the columns of their names.
func (d draft) texts(t table, row int, fields ...string) {
	for _, field := range fields {
		d.text(field, t.get(row, field))
	}
}

func (d draft) number(field string, n int) { d.put(field, mapping.IntValue(int64(n))) }

func (d draft) ref(field string, id int32) { d.put(field, mapping.IntValue(int64(id))) }

func (d draft) time(field string, t time.Time) { d.put(field, mapping.TimeValue(t)) }

// parsed sets a field from its text, unless that is empty.
func (d draft) parsed(field, s string) {
	if s == "" || d.field(field) == nil {
		return
	}
	v, err := d.field(field).Parse(s, time.UTC)
	if err != nil {
		d.world.fail("%s of %s: %w", field, d.Resource.Name, err)
		return
	}
	d.Set(field, v)
}

// euros sets an amount of whole euros.
func (d draft) euros(field string, n int) { d.parsed(field, strconv.Itoa(n)) }

// children sets an array field.
func (d *draft) children(field string, lines []draft) {
	f := d.field(field)
	if len(lines) == 0 || f == nil {
		return
	}
	records := make([]mapping.Record, len(lines))
	for i, l := range lines {
		records[i] = l.Record
	}
	d.Values[f.Index] = mapping.RecordsValue()
	d.Children = map[int][]mapping.Record{f.Index: records}
}

// createdAt is when the n-th record of a resource was made: an order when it was
// placed, a vehicle when its customer or the showroom had it, all else spread
// over the year before the first order.
func (w *world) createdAt(resource string, n int, d draft) time.Time {
	start := sampleEnd.AddDate(-sampleYears-1, 0, 0)
	spread := workday(w.dice("created "+resource, n), start.Add(time.Duration(n)*300*24*time.Hour/time.Duration(w.sizes[resource])))
	switch resource {
	case "order":
		return d.Get("order_date").Time()
	case "vehicle":
		if c := w.car(n); c.forSale {
			return c.tradedIn
		}
		return later(spread, w.car(n).bought.Add(10*time.Hour))
	case "document":
		if d.Get("resource").Text() == "order" {
			of := int(d.Get("resource_id").Int()) - int(w.id("order", 0))
			return w.orderDate(w.dice("order", of), of)
		}
		return sampleEnd
	default:
		return spread
	}
}

// workday moves a time to an hour at which the business is open.
func workday(dice *rand.Rand, t time.Time) time.Time {
	t = time.Date(t.Year(), t.Month(), t.Day(), 7+dice.IntN(9), 5*dice.IntN(12), 0, 0, time.UTC)
	switch t.Weekday() {
	case time.Saturday:
		return t.AddDate(0, 0, -1)
	case time.Sunday:
		return t.AddDate(0, 0, -2)
	default:
		return t
	}
}

// day is a date without a time, as dates are kept that have none.
func day(year, month, dayOfMonth int) time.Time {
	return time.Date(year, time.Month(month), dayOfMonth, 0, 0, 0, 0, time.UTC)
}
