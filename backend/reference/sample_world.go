package reference

import (
	_ "embed"
	"fmt"
	"strconv"
	"strings"
	"time"

	"frontdesk/mapping"
)

// sampleText has the records of a garage with DefaultOrders orders, referenced records first. A line
// has a resource, the time when the record was made, and its fields; a line without a time belongs to
// the record before it.
//
//go:embed data/sample.tsv
var sampleText string

// sampleEnd is when the sample data ends; its orders lie in the years before.
var sampleEnd = time.Date(2026, time.October, 30, 16, 0, 0, 0, time.UTC) // a Friday

// sampleSpan is how far the orders reach back.
const sampleSpan = 3 * 365 * 24 * time.Hour

// sampleResources are what the sample data is made of.
var sampleResources = []string{
	"turnovergroup", "employee", "contact", "contactcommunication", "contactaddress", "article", "flatrate", "flatrateline",
	"vehicle", "vehicleroleline", "vehicleadvertisementsite", "order", "orderline", "document",
}

// sampled is a record, the time when it was made, and the records that belong to it.
type sampled struct {
	mapping.Record
	at   time.Time
	with []mapping.Record
}

// world is the records of one client of the sample data: for many orders the same garage several times,
// with other vehicles and moments. The n-th record of a resource is always the same, and in an empty
// database its ID is n plus base, so that records can refer to others in other transactions.
type world struct {
	other  bool             // the second, small client
	base   map[string]int32 // by resource: the highest ID before this client's
	orders int
	names  []string // the resources, in the order in which they are made
	data   map[string][]sampled
}

// newWorld plans the records that go with so many orders.
func newWorld(model *mapping.Model, orders int, other bool, base map[string]int32) (*world, error) {
	w := &world{other: other, base: base, orders: orders, data: map[string][]sampled{}}
	last := ""
	for line := range strings.Lines(sampleText) {
		parts := strings.SplitN(line, "\t", 3)
		r := model.Resource(parts[0])
		if r == nil {
			return nil, fmt.Errorf("sample data: the model has no resource %s", parts[0])
		}
		body, err := mapping.DecodeBody(r, []byte(parts[2]), time.UTC)
		if err == nil {
			err = body.Violations.Err()
		}
		if err != nil {
			return nil, fmt.Errorf("sample data: %s: %w", line, err)
		}
		if parts[1] == "" {
			main := &w.data[last][len(w.data[last])-1]
			main.with = append(main.with, body.Record)
			continue
		}
		at, err := time.Parse(time.RFC3339, parts[1])
		if err != nil {
			return nil, fmt.Errorf("sample data: %w", err)
		}
		if last != r.Name {
			last, w.names = r.Name, append(w.names, r.Name)
		}
		w.data[last] = append(w.data[last], sampled{Record: body.Record, at: at})
	}
	return w, nil
}

// size is how many records of a resource there are.
func (w *world) size(resource string) int {
	copies := 1
	switch resource {
	case "order":
		return w.orders
	case "contact", "vehicle", "document":
		copies = (w.orders + DefaultOrders - 1) / DefaultOrders
	}
	return len(w.data[resource]) * copies
}

// counts are the numbers of records of each resource that others refer to.
func (w *world) counts() map[string]int32 {
	counts := map[string]int32{}
	for _, name := range w.names {
		counts[name] = int32(w.size(name))
	}
	return counts
}

// id is the ID of the n-th record of a resource, counted from 0.
func (w *world) id(resource string, n int) int32 { return w.base[resource] + int32(n) + 1 }

// nth is the n-th record of a resource.
func (w *world) nth(resource string, n int) sampled {
	all := w.data[resource]
	i, again := n%len(all), n/len(all)
	s := sampled{Record: w.copied(all[i].Record, again), at: all[i].at}
	for _, of := range all[i].with {
		s.with = append(s.with, w.copied(of, again))
	}
	switch resource {
	case "order":
		w.place(&s, n, i)
	case "vehicle":
		if w.other {
			again++
		}
		plate, vin := s.Get("license_plate").Text(), s.Get("vin").Text()
		number, _ := strconv.Atoi(vin[11:])
		s.Set("license_plate", mapping.TextValue(plateAfter(plate, again*len(all))))
		s.Set("vin", mapping.TextValue(fmt.Sprintf("%s%06d", vin[:11], (number+again*len(all))%1_000_000)))
	case "employee":
		if w.other && n == 0 {
			s.Set("username", mapping.TextValue("other"))
			s.Set("email", mapping.TextValue("other@example.nl"))
		}
	}
	return s
}

// copied is a record that refers to the records that are made at the same time.
func (w *world) copied(rec mapping.Record, again int) mapping.Record {
	out := rec.Clone()
	out.Children = nil
	for i := range rec.Resource.Fields {
		f := &rec.Resource.Fields[i]
		name := f.Reference
		if f.ReferenceBy != "" {
			name = rec.Get(f.ReferenceBy).Text()
		}
		if all := w.data[name]; len(all) > 0 && rec.Values[i].IsSet() {
			n := int(rec.Values[i].Int()) - 1
			if w.size(name) != len(all) { // there are several copies of the resource, or less than one
				n = (n + again*len(all)) % w.size(name)
			}
			out.Values[i] = mapping.IntValue(int64(w.id(name, n)))
		}
		for _, child := range rec.Children[i] {
			if out.Children == nil {
				out.Children = map[int][]mapping.Record{}
			}
			out.Children[i] = append(out.Children[i], w.copied(child, again))
		}
	}
	return out
}

// place dates the n-th order, which is the i-th in the data: orders follow one another up to sampleEnd,
// old ones are closed, and the last twelfth is in every state.
func (w *world) place(s *sampled, n, i int) {
	states := [...]string{"open", "in_progress", "ready", "invoiced", "concept", "cancelled"}
	status := states[n%len(states)]
	if n < w.orders-max(12, w.orders/12) {
		if status = s.Get("order_status").Text(); status != "cancelled" {
			status = "invoiced"
		}
	}
	s.Set("order_status", mapping.TextValue(status))
	slot := func(n, of int) time.Duration { return sampleSpan / time.Duration(of) * time.Duration(n) }
	days := int((slot(n, w.orders) - slot(i, DefaultOrders)).Round(24*time.Hour).Hours()) / 24
	moved := func(name string, weekend [2]int) { // to a day on which the business is open
		v := s.Get(name)
		if !v.IsSet() {
			return
		}
		t := v.Time().AddDate(0, 0, days)
		switch t.Weekday() {
		case time.Saturday:
			t = t.AddDate(0, 0, weekend[0])
		case time.Sunday:
			t = t.AddDate(0, 0, weekend[1])
		}
		s.Set(name, mapping.TimeValue(t))
	}
	moved("order_date", [2]int{-1, -2})
	moved("delivery_date", [2]int{2, 1})
	if status == "concept" {
		s.Set("delivery_date", mapping.Value{})
	}
	s.at = s.Get("order_date").Time()
}

// plateSigns are the letters of Dutch plates since side code 7, without vowels and letters that look
// like others, and the digits.
var plateSigns = map[bool]string{true: "BDFGHJKLNPRSTVXZ", false: "123456789"}

// plateAfter is the n-th plate after another in its series, in an order that spreads neighbours. Each
// series has another two million.
func plateAfter(plate string, n int) string {
	out, rest := []byte(plate), int64(n)*1845301 // coprime to the number of plates of each series
	for i := len(out) - 1; i >= 0; i-- {
		if out[i] == '-' {
			continue
		}
		signs := plateSigns[out[i] >= 'A']
		rest += int64(strings.IndexByte(signs, out[i]))
		out[i] = signs[rest%int64(len(signs))]
		rest /= int64(len(signs))
	}
	return string(out)
}
