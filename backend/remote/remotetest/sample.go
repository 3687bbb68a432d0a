package remotetest

import (
	"fmt"
	"math/big"
	"strings"
	"time"
)

// Users with something particular about them, in addition to the employees. Their
// password is their user name, as everybody's.
const badEmailUser = "bademail"

// sampleStart is when the sample data begins; it goes on for some months.
var sampleStart = time.Date(2026, time.January, 5, 7, 0, 0, 0, time.UTC)

// sample makes the records of one tenant through the rules that hold for
// everybody, at times of its own.
type sample struct {
	*ledger
	index  int // of the tenant
	orders int
	clock  *time.Time
	ids    map[string][]string
}

// fill makes the tenants, all but the last with sample data.
func (a *administration) fill(tenants []string, orders int) {
	now := a.now
	defer func() { a.now = now }()
	for i, tenant := range tenants {
		clock := sampleStart
		a.now = func() time.Time { return clock }
		s := &sample{ledger: a.open(tenant), index: i, orders: orders, clock: &clock, ids: map[string][]string{}}
		s.basics()
		s.people(i == len(tenants)-1)
		if i == len(tenants)-1 {
			continue
		}
		s.contacts()
		s.articles()
		s.vehicles()
		s.trade()
		s.documents()
		s.endings()
	}
}

// add stores a record a while after the one before. That it fits is for this
// file to see to.
func (s *sample) add(entity string, v values, after time.Duration) *row {
	*s.clock = s.clock.Add(after)
	if s.clock.Hour() >= 16 { // nobody works at night
		*s.clock = s.clock.Add(15 * time.Hour)
	}
	r, p := s.insert(entity, v)
	if p != nil {
		panic(fmt.Sprintf("sample data: %s %v: %v", entity, v, p))
	}
	s.ids[entity] = append(s.ids[entity], r.id)
	return r
}

// turn is one of some values, each in its turn.
func turn[T any](i int, all ...T) T { return all[i%len(all)] }

func euros(text string) *big.Rat {
	r, _ := new(big.Rat).SetString(text)
	return r
}

func (s *sample) basics() {
	for _, line := range []string{ // code, name, dialling prefix, pattern of postcodes
		"BE|Belgium|+32|^[0-9]{4}$", "CH|Switzerland|+41|^[0-9]{4}$", "DE|Germany|+49|^[0-9]{5}$", "GB|United Kingdom|+44|", "NL|Netherlands|+31|^[0-9]{4} [A-Z]{2}$", "TR|Türkiye|+90|",
	} {
		f := strings.Split(line, "|")
		s.add("country", values{"code": f[0], "name": f[1], "phone_prefix": f[2], "eu": strings.Contains("BE DE NL", f[0]), "postcode_pattern": f[3]}, 0)
	}
	for _, line := range []string{ // code, description, VAT, ledger account, and of exports
		"LABOUR|Workshop labour|high|8000|8002", "PARTS|Parts and materials|high|8010|8012", "MARGIN|Used cars under the margin scheme|margin|8110|",
		"APK|Inspection fees|zero|8300|", "LOW|Repairs at the low rate|low|8400|8402", "EXEMPT|Insurance|exempt|8500|",
	} {
		f := strings.Split(line, "|")
		s.add("turnovergroup", values{"code": f[0], "description": f[1], "vat_kind": f[2], "ledger_account": f[3], "ledger_account_export": f[4]}, 0)
	}
}

// people adds the employees, whose user names are nobody else's.
func (s *sample) people(alone bool) {
	user := func(username, last, email string, external bool) {
		s.add("employee", values{"username": username, "last_name": last, "email": email, "external": external}, time.Minute)
	}
	switch {
	case alone:
		user("empty", "Leegwater", "empty@garage.example", false)
		return
	case s.index == 0:
		user("demo", "Demo", "demo@garage.example", false)
		user("external", "Extern", "external@garage.example", true)
		user("noemail", "Postma", "", false)
		user(badEmailUser, "Brief", "bad@", false)
	default:
		user("other", "Ander", "other@garage.example", false)
	}
	for i, job := range []string{"Workshop planner", "Mechanic", "Sales"} {
		username := fmt.Sprintf("eva%d%d", s.index+1, i+1)
		s.add("employee", values{
			"number": fmt.Sprint(101 + i), "username": username, "first_name": "Eva", "last_name": turn(i, sampleNames...),
			"email": username + "@garage.example", "job_title": job, "hourly_rate": euros("89.50"),
		}, time.Minute)
	}
}

var sampleNames = []string{"Bakker", "Öztürk", "Vries", "Peters & Zn", "Yıldız", "'t Hof", "Wit"}

// contacts are persons and companies, with how and where they can be reached.
func (s *sample) contacts() {
	for i := range max(s.orders*100/120, 10) {
		name := turn(i, sampleNames...)
		v := values{
			"kind": "person", "name": name, "first_name": "Zoë", "initials": "Z.", "infix": turn(i, "", "van der"), "language": "nl", "payment_days": int64(14), "customer": true,
		}
		switch {
		case i%4 == 3:
			v = values{
				"kind": "company", "name": "Bouwbedrijf " + name, "company_number": fmt.Sprint(60000000 + i), "vat_number": fmt.Sprintf("NL%09dB01", i),
				"language": "nl", "payment_days": int64(30), "customer": true, "supplier": i%8 == 7,
			}
		case i%3 == 0:
			v["birth_date"] = time.Date(1950+i%55, time.Month(1+i%12), 1+i%28, 0, 0, 0, 0, time.UTC)
		}
		id := s.add("contact", v, 7*time.Minute).id
		s.add("communication", values{"contact": id, "type": "mobile", "value": fmt.Sprintf("06-%08d", 10000000+i)}, 0)
		s.add("communication", values{"contact": id, "type": "email", "value": fmt.Sprintf("relation%d@post.example", i+1), "preferred": true}, 0)
		s.add("address", values{
			"contact": id, "type": "visit", "street": "Stationsweg", "house_number": int64(1 + i), "addition": turn(i, "", "", "A", "bis"),
			"postcode": "3811 MH", "city": "Amersfoort", "country": s.found("country", "NL"),
		}, 0)
		if i%10 == 0 {
			s.add("address", values{
				"contact": id, "type": "billing", "street": "Meir", "house_number": int64(1 + i), "postcode": "2000", "city": "Antwerpen", "country": s.found("country", "BE"),
			}, 0)
		}
	}
}

// found is the ID of the record with a code.
func (s *sample) found(entity, code string) string {
	return s.find(entity, query{filters: values{"code": code}})[0].id
}

func (s *sample) articles() {
	for i, line := range []string{ // number, description, kind, unit, group, purchase price, price
		"LAB-MEC|Workshop labour|labour|hour|LABOUR||89.50", "LAB-BIKE|Repair of a bicycle|labour|hour|LOW||55.00", "FEE-APK|Inspection fee RDW|external|piece|APK|4.20|4.20",
		"OIL-5W30|Engine oil 5W-30|part|litre|PARTS|5.85|14.9500", "FLT-OIL|Oil filter|part|piece|PARTS|7.1000|12.9500", "FLT-CAB|Cabin filter|part|piece|PARTS|8.2550|24.9500",
		"BRK-PADF|Brake pads front|part|set|PARTS|28.60|64.9000", "HOSE-08|Fuel hose 8 mm|part|metre|PARTS|2.10|6.2500", "TXT-WARR|Under warranty|text|piece|PARTS||0",
	} {
		f := strings.Split(line, "|")
		v := values{"number": f[0], "description": f[1], "kind": f[2], "unit": f[3], "group": s.found("turnovergroup", f[4]), "price": euros(f[6])}
		if f[5] != "" {
			v["purchase_price"], v["supplier"] = euros(f[5]), s.ids["contact"][7]
		}
		r := s.add("article", v, time.Minute)
		if f[2] == "part" {
			r.values["stock"] = big.NewRat(int64(3*i), 1)
		}
	}
}

func (s *sample) vehicles() {
	const letters = "BDFGHJKLNPRSTVXZ"
	for i := range max(s.orders*80/120, 8) {
		n := i*7919 + s.index*104729 // prime steps, so that plates do not look counted
		admitted := time.Date(2014+i%11, time.Month(1+i%12), 1+i%28, 0, 0, 0, 0, time.UTC)
		v := values{
			"plate": fmt.Sprintf("%c-%03d-%c%c", letters[n%16], 101+n/16%898, letters[n/97%16], letters[i%16]), "country": s.found("country", "NL"),
			"vin": fmt.Sprintf("WVWZZZ%08d%03d", 31415926+n, i%1000), "brand": turn(i, "Volkswagen", "Škoda", "Renault"), "model": turn(i, "Golf", "Octavia", "Zoe"),
			"body": turn(i, "hatchback", "estate", "van"), "fuel": turn(i, "petrol", "diesel", "electric", "hybrid"), "transmission": turn(i, "manual", "automatic"),
			"color": turn(i, "black", "white", "grey"), "admitted": admitted, "mileage": int64(5000 + 731*i), "power": int64(55 + i),
		}
		if i%5 != 0 {
			v["inspected_until"] = time.Date(2027, admitted.Month(), admitted.Day(), 0, 0, 0, 0, time.UTC)
		}
		if i%4 == 0 {
			v["tax"], v["bpm"] = turn(i/4, "vat", "margin", "exempt"), euros("1250.50")
			v["purchase_price"], v["sales_price"] = euros("9950"), euros("12499.95")
		}
		r := s.add("vehicle", v, 5*time.Minute)
		if i%8 == 0 {
			s.set(r, values{"published": true, "published_at": s.now()})
		}
	}
}

func (s *sample) trade() {
	for i := range s.orders {
		v := values{
			"contact": turn(7*i, s.ids["contact"]...), "employee": turn(i, s.ids["employee"]...), "ordered": s.clock.Add(30 * time.Minute),
			"kind": turn(i, "workshop", "parts", "workshop", "sales", "lease"), "status": "open",
		}
		if v["kind"] != "parts" {
			v["vehicle"], v["mileage"] = turn(3*i, s.ids["vehicle"]...), int64(5000+1531*i)
		}
		if i%5 != 0 {
			v["delivery"] = s.clock.Add(time.Duration(4+i%70) * time.Hour)
		}
		if i%6 == 0 {
			v["reference"] = fmt.Sprintf("PO-%d", 4000+i)
		}
		order := s.add("order", v, 2*time.Hour)
		for position := range 1 + i%4 {
			s.line(order.id, i, position)
		}
		if status := turn(i, "invoiced", "invoiced", "open", "in_progress", "ready", "concept", "invoiced", "cancelled"); status != "open" {
			*s.clock = s.clock.Add(time.Minute)
			_ = s.update("order", order, values{"status": status})
		}
	}
}

func (s *sample) line(orderID string, i, position int) {
	article := s.row("article", turn(i+position, s.ids["article"]...))
	v := values{
		"order": orderID, "position": int64(10 * (position + 1)), "article": article.id, "description": article.values["description"],
		"quantity": big.NewRat(int64(1+i%4), 1), "unit": article.values["unit"], "price": article.values["price"], "group": article.values["group"],
	}
	if article.values.text("kind") == "labour" {
		v["quantity"], v["employee"] = big.NewRat(int64(1+i%12), 4), turn(i, s.ids["employee"]...)
	}
	if i%5 == 0 {
		v["discount"] = big.NewRat(10, 1)
	}
	s.add("orderline", v, 0)
}

func (s *sample) documents() {
	for i := range 12 {
		kind := turn(i, "vehicle", "order", "order")
		v := values{
			"owner_kind": kind, "owner": turn(i, s.ids[kind]...), "name": fmt.Sprintf("note-%d.txt", i+1), "kind": "other", "mime": "text/plain",
			"content": fmt.Appendf(nil, "Note %d: as agreed by phone.\n", i+1),
		}
		if i%4 == 3 {
			delete(v, "content")
			v["name"], v["kind"], v["mime"] = "contract.pdf", "contract", "application/pdf"
			v["url"] = fmt.Sprintf("https://files.example/%s/%d.pdf", s.tenant, i+1)
		}
		s.add("document", v, time.Minute)
	}
}

// endings adds what is no longer quite there: deleted, blocked, archived.
func (s *sample) endings() {
	lost := s.add("contact", values{"kind": "person", "name": "Vertrokken"}, time.Hour)
	wreck := s.add("vehicle", values{"plate": fmt.Sprintf("%02d-XX-ZZ", 11+s.index), "brand": "Lada", "model": "Niva"}, 0)
	old := s.add("article", values{"number": "OLD-1", "description": "Carburettor", "kind": "part", "unit": "piece", "group": s.found("turnovergroup", "PARTS"), "price": euros("310")}, 0)
	*s.clock = s.clock.Add(time.Hour)
	_ = s.remove("contact", lost)
	_ = s.remove("vehicle", wreck)
	_ = s.remove("article", old)
	s.set(s.row("contact", s.ids["contact"][1]), values{"blocked": true})
	s.set(s.row("vehicle", s.ids["vehicle"][1]), values{"archived": true})
}

// tenantName is how a tenant calls itself.
func tenantName(tenant string) string {
	parts := strings.Split(strings.ToLower(tenant), "-")
	for i, part := range parts {
		parts[i] = strings.ToUpper(part[:1]) + part[1:]
	}
	return strings.Join(parts, " ")
}
