package reference

import (
	"math/rand/v2"
	"time"
)

// car is what the parts of the sample data agree on about the n-th vehicle.
type car struct {
	row, price int
	yearly     int  // kilometres
	forSale    bool // stands in the showroom; else it is a customer's
	published  bool
	owner      int // the contact it belongs to, or did before it was traded in
	// It came on the road, then to its owner, and last, where it is for sale, to
	// the showroom.
	admitted, bought, tradedIn time.Time
}

// steadyCar is the vehicle that a customer has owned since before the first
// order, whatever else there is.
const steadyCar = 3

func (w *world) car(n int) car {
	dice := w.dice("car", n)
	row := pick(dice, w.cars)
	if n == steadyCar {
		row = 0
	}
	first, last := w.cars.number(row, "first_year"), w.cars.number(row, "last_year")
	low, high := w.cars.number(row, "price_low"), w.cars.number(row, "price_high")
	year := first + dice.IntN(last-first+1)
	c := car{row: row, yearly: 8000 + dice.IntN(14000)}
	c.admitted = day(year, 1+dice.IntN(12), 1+dice.IntN(28))
	c.bought = later(c.admitted, day(2018, 1, 8)).AddDate(0, 0, dice.IntN(400))
	if latest := day(2026, 5, 4); c.bought.After(latest) {
		c.bought = latest
	}
	c.tradedIn = workday(dice, day(2026, 6+dice.IntN(4), 1+dice.IntN(28)))
	// The newest of a type costs most; a bit of chance, and whole fifties.
	c.price = low + (high-low)*(year-first)/max(last-first, 1)
	c.price = (c.price + dice.IntN(1+(high-low)/8)) / 50 * 50
	c.forSale = chance(dice, 20)
	c.published = c.forSale && chance(dice, 70)
	if n < 4 { // some of each, however few there are
		c.forSale, c.published = n != steadyCar, n < 2
	}
	c.owner = w.customer(dice)
	return c
}

// mileage is what the odometer shows at a moment.
func (c car) mileage(at time.Time) int {
	return 40 + int(at.Sub(c.admitted).Hours()/24)*c.yearly/365
}

func later(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}

func (w *world) vehicle(n int) draft {
	dice, c := w.dice("vehicle", n), w.car(n)
	d := w.draft("vehicle")
	brand, model := w.cars.get(c.row, "brand"), w.cars.get(c.row, "model")
	d.text("license_plate", plate(n, c.admitted.Year()))
	d.ref("country_id", netherlands)
	d.text("vin", vinOf(n, brand, model, c.admitted.Year()))
	d.text("brand", brand)
	d.text("model", model)
	d.texts(w.cars, c.row, "version", "body_kind", "fuel_kind", "transmission_kind")
	d.text("color", w.colors.get(pick(dice, w.colors), "color"))
	d.time("first_admission_date", c.admitted)
	d.time("apk_expiry_date", nextInspection(c.admitted))
	d.number("mileage", c.mileage(sampleEnd))
	d.number("power_kw", w.cars.number(c.row, "power_kw"))
	if c.forSale {
		kind := "margin"
		if w.cars.get(c.row, "body_kind") == "van" || chance(dice, 25) {
			kind = "vat"
		}
		if c.published || chance(dice, 60) {
			d.text("tax_kind", kind)
		}
		d.euros("bpm_amount", c.price/20)
		d.euros("purchase_price", c.price*82/100)
		d.euros("sales_price", c.price)
		d.text("publish_status", "not_published")
		if c.published {
			d.text("publish_status", "published")
		}
		if chance(dice, 20) {
			d.text("remark", []string{"Second key missing.", "Small dent in left rear door.", "Traded in, one owner.", "Waiting for tyres."}[dice.IntN(4)])
		}
	}
	return d
}

// nextInspection is the first anniversary of the admission after the sample
// data ends, but not within four years of the admission.
func nextInspection(admitted time.Time) time.Time {
	next := admitted.AddDate(4, 0, 0)
	for next.Before(sampleEnd) {
		next = next.AddDate(1, 0, 0)
	}
	return next
}

// roles are who has to do with the n-th vehicle: its owner, who drives it where
// that is somebody else, or whose it was before it came into the showroom.
func (w *world) roles(n int) []draft {
	dice, c := w.dice("role", n), w.car(n)
	add := func(role string, contact int32) draft {
		d := w.draft("vehicleroleline")
		d.ref("vehicle_id", w.id("vehicle", n))
		d.ref("contact_id", contact)
		d.text("role", role)
		return d
	}
	owner := w.id("contact", c.owner)
	if c.forSale {
		d := add("previous_owner", owner)
		d.time("start_date", c.bought)
		d.time("end_date", c.tradedIn)
		return []draft{d}
	}
	if chance(dice, 12) { // leased
		lessor := w.companyOf(dice, "lease")
		all := []draft{add("owner", lessor), add("lease_company", lessor), add("driver", owner)}
		all[0].time("start_date", c.bought)
		return all
	}
	all := []draft{add("owner", owner)}
	all[0].time("start_date", c.bought)
	if chance(dice, 10) {
		all = append(all, add("insurer", w.companyOf(dice, "insurer")))
	}
	return all
}

// advertisements are where the n-th vehicle is offered.
func (w *world) advertisements(n int) []draft {
	dice, c := w.dice("advertisement", n), w.car(n)
	if !c.published {
		return nil
	}
	start, count := dice.IntN(len(w.sites.rows)), 1+dice.IntN(3)
	var all []draft
	for i := range count {
		d := w.draft("vehicleadvertisementsite")
		d.ref("vehicle_id", w.id("vehicle", n))
		d.number("advertisementsite_id", w.sites.number((start+i)%len(w.sites.rows), "id"))
		d.euros("price", c.price)
		d.text("title", w.cars.get(c.row, "brand")+" "+w.cars.get(c.row, "model")+" "+w.cars.get(c.row, "version"))
		d.text("description", w.advertisementText(dice))
		all = append(all, d)
	}
	return all
}

func (w *world) advertisementText(dice *rand.Rand) string {
	texts := [...]string{"Full service history.", "One owner, dealer maintained.", "New all-season tyres.", "Twelve months warranty.", "Trade-in possible."}
	first := dice.IntN(len(texts))
	return texts[first] + " " + texts[(first+1+dice.IntN(len(texts)-1))%len(texts)]
}
