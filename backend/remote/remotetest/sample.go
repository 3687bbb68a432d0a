package remotetest

import (
	"fmt"
	"math/big"
	"math/rand/v2"
	"strings"
	"time"
)

// Users with something particular about them, beside the employees. Their
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
	random *rand.Rand
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
		s := &sample{
			ledger: a.open(tenant), index: i, orders: orders, clock: &clock,
			random: rand.New(rand.NewPCG(20260105, uint64(i))), ids: map[string][]string{},
		}
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

func (s *sample) pick(list []string) string { return list[s.random.IntN(len(list))] }

// cents is an amount between two bounds, in cents.
func (s *sample) cents(low, high int) *big.Rat {
	return big.NewRat(int64(low+s.random.IntN(high-low)), 100)
}

func euros(text string) *big.Rat {
	r, _ := new(big.Rat).SetString(text)
	return r
}

func (s *sample) basics() {
	for _, line := range sampleCountries {
		f := strings.Split(line, "|")
		s.add("country", values{"code": f[0], "name": f[1], "phone_prefix": f[2], "eu": f[3] == "1", "postcode_pattern": f[4]}, 0)
	}
	for _, line := range sampleGroups {
		f := strings.Split(line, "|")
		s.add("turnovergroup", values{
			"code": f[0], "description": f[1], "vat_kind": f[2],
			"ledger_account": f[3], "ledger_account_eu": f[4], "ledger_account_export": f[5],
		}, 0)
	}
}

// people adds the employees: the same names everywhere, but user names of their
// own.
func (s *sample) people(alone bool) {
	user := func(username, last, email string, external bool) {
		s.add("employee", values{"username": username, "last_name": last, "email": email, "external": external}, time.Minute)
	}
	if alone {
		user("empty", "Leegwater", "empty@garage.example", false)
		return
	}
	if s.index == 0 {
		user("demo", "Demo", "demo@garage.example", false)
		user("external", "Extern", "external@garage.example", true)
		user("noemail", "Postma", "", false)
		user(badEmailUser, "Brief", "bad@", false)
	} else {
		user("other", "Ander", "other@garage.example", false)
	}
	for i, job := range sampleJobs {
		first, last := sampleFirst[(i*7+s.index)%len(sampleFirst)], sampleLast[(i*5+s.index)%len(sampleLast)]
		username := fmt.Sprintf("%s%d%d", strings.ToLower(first), s.index+1, i+1)
		s.add("employee", values{
			"number": fmt.Sprint(101 + i), "username": username, "first_name": first, "last_name": last,
			"email": username + "@garage.example", "job_title": job, "hourly_rate": s.cents(6500, 9900),
		}, time.Minute)
	}
}

func (s *sample) contacts() {
	for i := range max(s.orders*100/120, 10) {
		v := values{"language": "nl", "payment_days": int64(14), "customer": true}
		last := s.pick(sampleLast)
		if i%4 == 3 {
			v["kind"], v["name"] = "company", fmt.Sprintf("%s %s", s.pick(sampleTrades), last)
			v["company_number"] = fmt.Sprint(60000000 + s.random.IntN(9999999))
			v["vat_number"] = fmt.Sprintf("NL%09dB01", s.random.IntN(999999999))
			v["supplier"], v["payment_days"] = i%8 == 7, int64(30)
		} else {
			first := s.pick(sampleFirst)
			v["kind"], v["name"], v["first_name"], v["initials"] = "person", last, first, first[:1]+"."
			v["infix"] = []string{"", "", "", "van", "de", "van der"}[s.random.IntN(6)]
			if i%3 == 0 {
				v["birth_date"] = time.Date(1950+s.random.IntN(55), time.Month(1+s.random.IntN(12)), 1+s.random.IntN(28), 0, 0, 0, 0, time.UTC)
			}
		}
		contact := s.add("contact", v, 7*time.Minute)
		s.reach(i, contact)
	}
}

// reach adds how and where a contact can be reached.
func (s *sample) reach(i int, contact *row) {
	name := strings.Map(asciiLetter, strings.ToLower(contact.values.text("name")))
	s.add("communication", values{"contact": contact.id, "type": "mobile", "value": fmt.Sprintf("06-%08d", 10000000+s.random.IntN(89999999))}, 0)
	s.add("communication", values{
		"contact": contact.id, "type": "email", "value": fmt.Sprintf("%s%d@post.example", name, i+1), "preferred": true,
	}, 0)
	place := strings.Split(s.pick(samplePlaces), "|")
	address := values{
		"contact": contact.id, "type": "visit", "street": place[0], "house_number": int64(1 + s.random.IntN(180)),
		"postcode": place[1], "city": place[2], "country": s.country("NL"),
	}
	if i%9 == 4 {
		address["addition"] = []string{"A", "bis", "II"}[s.random.IntN(3)]
	}
	s.add("address", address, 0)
	if i%10 == 0 {
		s.add("address", values{
			"contact": contact.id, "type": "billing", "street": "Meir", "house_number": int64(1 + i), "postcode": "2000",
			"city": "Antwerpen", "country": s.country("BE"),
		}, 0)
	}
}

// asciiLetter keeps what an e-mail address may have anywhere.
func asciiLetter(r rune) rune {
	switch {
	case r >= 'a' && r <= 'z':
		return r
	case r == ' ':
		return '.'
	default:
		return -1
	}
}

func (s *sample) country(code string) string {
	return s.find("country", query{filters: values{"code": code}})[0].id
}

func (s *sample) group(code string) string {
	return s.find("turnovergroup", query{filters: values{"code": code}})[0].id
}

func (s *sample) articles() {
	for i, line := range sampleArticles {
		f := strings.Split(line, "|")
		v := values{"number": f[0], "description": f[1], "kind": f[2], "unit": f[3], "group": s.group(f[4]), "price": euros(f[6])}
		if f[5] != "" {
			v["purchase_price"] = euros(f[5])
			v["supplier"] = s.ids["contact"][7+8*(i%(len(s.ids["contact"])/8))]
		}
		r := s.add("article", v, time.Minute)
		if f[2] == "part" {
			r.values["stock"] = big.NewRat(int64(s.random.IntN(40)), 1)
		}
	}
}

func (s *sample) vehicles() {
	const letters = "BDFGHJKLNPRSTVXZ"
	for i := range max(s.orders*80/120, 8) {
		car := strings.Split(s.pick(sampleCars), "|")
		n := i*7919 + s.index*104729 // prime steps, so that plates do not look counted
		plate := fmt.Sprintf("%c-%03d-%c%c", letters[n%16], 101+n/16%898, letters[n/97%16], letters[i%16])
		admitted := time.Date(2014+s.random.IntN(11), time.Month(1+s.random.IntN(12)), 1+s.random.IntN(28), 0, 0, 0, 0, time.UTC)
		v := values{
			"plate": plate, "country": s.country("NL"), "vin": fmt.Sprintf("%sZZZ%08d%03d", car[6], 31415926+n, i%1000),
			"brand": car[0], "model": car[1], "version": car[2], "body": car[3], "fuel": car[4], "transmission": car[5],
			"color": s.pick(sampleColors), "admitted": admitted, "mileage": int64(5000 + s.random.IntN(180000)), "power": int64(55 + s.random.IntN(150)),
		}
		if i%5 != 0 {
			v["inspected_until"] = time.Date(2027, admitted.Month(), admitted.Day(), 0, 0, 0, 0, time.UTC)
		}
		if i%4 == 0 {
			v["tax"], v["bpm"] = []string{"vat", "margin", "exempt"}[s.random.IntN(3)], s.cents(0, 400000)
			v["purchase_price"], v["sales_price"] = s.cents(400000, 1500000), s.cents(1500000, 3500000)
		}
		r := s.add("vehicle", v, 5*time.Minute)
		if i%8 == 0 {
			s.set(r, values{"published": true, "published_at": s.now()})
		}
	}
}

func (s *sample) trade() {
	statuses := []string{"invoiced", "invoiced", "open", "in_progress", "ready", "concept", "invoiced", "cancelled"}
	for i := range s.orders {
		v := values{
			"contact": s.pick(s.ids["contact"]), "employee": s.pick(s.ids["employee"]), "ordered": s.clock.Add(30 * time.Minute),
			"kind": []string{"workshop", "workshop", "workshop", "parts", "sales", "lease"}[s.random.IntN(6)], "status": "open",
		}
		if v["kind"] != "parts" {
			v["vehicle"], v["mileage"] = s.pick(s.ids["vehicle"]), int64(5000+s.random.IntN(190000))
		}
		if i%5 != 0 {
			v["delivery"] = s.clock.Add(time.Duration(4+s.random.IntN(70)) * time.Hour)
		}
		if i%6 == 0 {
			v["reference"] = fmt.Sprintf("PO-%d", 4000+i)
		}
		order := s.add("order", v, 2*time.Hour)
		for position := range 1 + s.random.IntN(4) {
			s.line(order.id, position)
		}
		if status := statuses[i%len(statuses)]; status != "open" {
			*s.clock = s.clock.Add(time.Minute)
			_ = s.update("order", order, values{"status": status})
		}
	}
}

func (s *sample) line(orderID string, position int) {
	article := s.row("article", s.pick(s.ids["article"]))
	v := values{
		"order": orderID, "position": int64(10 * (position + 1)), "article": article.id, "description": article.values["description"],
		"quantity": big.NewRat(int64(1+s.random.IntN(4)), 1), "unit": article.values["unit"], "price": article.values["price"],
		"group": article.values["group"],
	}
	if article.values.text("kind") == "labour" {
		v["quantity"], v["employee"] = big.NewRat(int64(1+s.random.IntN(12)), 4), s.pick(s.ids["employee"])
	}
	if s.random.IntN(5) == 0 {
		v["discount"] = big.NewRat(10, 1)
	}
	s.add("orderline", v, 0)
}

func (s *sample) documents() {
	for i := range 12 {
		kind, ids := "order", s.ids["order"]
		if i%3 == 0 {
			kind, ids = "vehicle", s.ids["vehicle"]
		}
		v := values{
			"owner_kind": kind, "owner": ids[i%len(ids)], "name": fmt.Sprintf("note-%d.txt", i+1), "kind": "other", "mime": "text/plain",
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
	old := s.add("article", values{"number": "OLD-1", "description": "Carburettor", "kind": "part", "unit": "piece", "group": s.group("PARTS"), "price": euros("310")}, 0)
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
