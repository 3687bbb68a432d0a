package reference

import (
	"fmt"
	"math/rand/v2"
	"strconv"
	"strings"
)

// trades begin the names of the companies beyond those of the data file.
var trades = [...]string{"Aannemersbedrijf", "Bakkerij", "Bouwbedrijf", "Hoveniersbedrijf", "Installatiebedrijf", "Loodgietersbedrijf", "Rijschool", "Schildersbedrijf", "Slagerij", "Transportbedrijf"}

// person is somebody's name.
type person struct{ first, infix, last string }

func (w *world) person(dice *rand.Rand) person {
	row := pick(dice, w.last)
	return person{
		first: w.first.get(pick(dice, w.first), "first_name"),
		infix: w.last.get(row, "infix"), last: w.last.get(row, "last_name"),
	}
}

// surname is the last name with its infix.
func (p person) surname() string { return strings.TrimSpace(p.infix + " " + p.last) }

// company is a contact that is no person: its name, and what it is to the
// business (customer, lease, supplier or insurer). It is "" for persons.
func (w *world) company(n int) (name, kind string) {
	if n < len(w.companies.rows) {
		return w.companies.get(n, "name"), w.companies.get(n, "kind")
	}
	dice := w.dice("company", n)
	if !chance(dice, 12) {
		return "", ""
	}
	return trades[dice.IntN(len(trades))] + " " + titled(w.person(dice).surname()), "customer"
}

// titled writes the first letter as a capital.
func titled(s string) string { return strings.ToUpper(s[:1]) + s[1:] }

// companyOf picks a contact of a kind from the data file.
func (w *world) companyOf(dice *rand.Rand, kind string) int32 {
	for i := pick(dice, w.companies); ; i++ {
		n := i % len(w.companies.rows)
		if w.companies.get(n, "kind") == kind {
			return w.id("contact", n)
		}
	}
}

// customer picks a contact who buys: a person, or a company that is a customer.
func (w *world) customer(dice *rand.Rand) int {
	for {
		n := dice.IntN(w.contacts)
		if _, kind := w.company(n); kind == "" || kind == "customer" {
			return n
		}
	}
}

func (w *world) contact(n int) draft {
	dice := w.dice("contact", n)
	d := w.draft("contact")
	name, kind := w.company(n)
	d.text("language", "nl")
	if kind == "" {
		p := w.person(dice)
		d.text("kind", "person")
		d.text("name", p.last)
		d.text("infix", p.infix)
		d.text("first_name", p.first)
		d.text("initials", initials(dice, p.first))
		if chance(dice, 60) {
			d.time("birth_date", day(1946+dice.IntN(60), 1+dice.IntN(12), 1+dice.IntN(28)))
		}
		d.number("payment_days", 14)
	} else {
		d.text("kind", "company")
		d.text("name", name)
		d.text("company_number", fmt.Sprintf("9%07d", dice.IntN(10000000)))
		d.text("vat_number", fmt.Sprintf("NL99%07dB01", dice.IntN(10000000)))
		d.number("payment_days", []int{14, 30, 30}[dice.IntN(3)])
	}
	d.number("is_customer", flag(kind != "supplier"))
	d.number("is_supplier", flag(kind == "supplier" || kind == "insurer"))
	if chance(dice, 6) {
		d.text("note", []string{"Calls after office hours.", "Wants old parts back.", "Invoice by e-mail only.", "Has a spare key with us."}[dice.IntN(4)])
	}
	return d
}

func flag(yes bool) int {
	if yes {
		return 1
	}
	return 0
}

func initials(dice *rand.Rand, first string) string {
	s := string([]rune(first)[:1]) + "."
	for range dice.IntN(3) {
		s += string(rune('A'+dice.IntN(26))) + "."
	}
	return s
}

// communications are the ways to reach the n-th contact: a telephone, mostly an
// e-mail address, and a website for a company.
func (w *world) communications(n int) []draft {
	dice := w.dice("communication", n)
	contact := w.contact(n)
	add := func(kind int, value string) draft {
		d := w.draft("contactcommunication")
		d.ref("contact_id", w.id("contact", n))
		d.number("type", kind)
		d.text("value", value)
		d.number("is_prefered_email", 0)
		return d
	}
	company := contact.Get("kind").Text() == "company"
	host := mailName(contact.Get("name").Text()) + ".example"
	var all []draft
	if company {
		phone := add(1, fmt.Sprintf("+31 88 000 %04d", dice.IntN(10000)))
		phone.text("description", "Work")
		all = append(all, phone)
	} else {
		all = append(all, add(2, fmt.Sprintf("+31 6 00%06d", dice.IntN(1000000))))
	}
	if company || chance(dice, 85) {
		address := "info@" + host
		if !company {
			address = fmt.Sprintf("%s.%s%d@example.nl", mailName(contact.Get("first_name").Text()), mailName(contact.Get("infix").Text()+contact.Get("name").Text()), n)
		}
		mail := add(4, address)
		mail.number("is_prefered_email", 1)
		all = append(all, mail)
	}
	if company && chance(dice, 70) {
		all = append(all, add(5, "https://www."+host))
	}
	return all
}

// postalAddresses are where the n-th contact lives or works, and sometimes
// where its invoices go.
func (w *world) postalAddresses(n int) []draft {
	dice := w.dice("address", n)
	add := func(kind string) draft {
		d := w.draft("contactaddress")
		d.ref("contact_id", w.id("contact", n))
		d.text("type", kind)
		row := pick(dice, w.addresses)
		d.texts(w.addresses, row, "street", "postcode", "city")
		d.number("house_number", w.houseNumber(dice, row))
		if chance(dice, 10) {
			d.text("house_number_addition", []string{"A", "B", "bis", "2hoog"}[dice.IntN(4)])
		}
		d.ref("country_id", netherlands)
		return d
	}
	all := []draft{add("visit")}
	if _, kind := w.company(n); kind != "" && chance(dice, 30) {
		all = append(all, add("billing"))
	}
	return all
}

// houseNumber picks a number in the range and parity of an address row.
func (w *world) houseNumber(dice *rand.Rand, row int) int {
	from, to := w.addresses.number(row, "from"), w.addresses.number(row, "to")
	if w.addresses.get(row, "parity") == "all" {
		return from + dice.IntN(to-from+1)
	}
	return from + 2*dice.IntN((to-from)/2+1)
}

func (w *world) employee(n int) draft {
	dice := w.dice("employee", n)
	d := w.draft("employee")
	p := w.person(dice)
	username := mailName(p.first[:1]) + mailName(p.infix+p.last)
	if n == 0 {
		username = "demo"
		if w.other {
			username = "other"
		}
	} else {
		username += strconv.Itoa(n)
	}
	// The first job titles are the office, and each is held by one; the rest
	// repeat as the workshop grows.
	job := n % len(w.jobs.rows)
	if n >= len(w.jobs.rows) {
		job = len(w.jobs.rows)/2 + n%(len(w.jobs.rows)/2)
	}
	d.text("number", strconv.Itoa(101+n))
	d.text("username", username)
	d.text("first_name", p.first)
	d.text("last_name", titled(p.surname()))
	d.text("email", username+"@example.nl")
	d.text("job_title", w.jobs.get(job, "job_title"))
	d.number("is_external", flag(n == 11))
	d.parsed("hourly_rate", w.jobs.get(job, "hourly_rate"))
	return d
}
