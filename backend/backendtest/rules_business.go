package backendtest

import (
	"fmt"
	"slices"
	"strings"

	"frontdesk/mapping"
)

const (
	moneyHint   = "Totals are kept by the backend: quantity × price × (1 − discount/100), half away from zero, when a line is made, changed or deleted."
	publishHint = "Publishing is the backend's: publish_status and published_at are readonly, and set by publishstart and publishstop only."
)

// businessCases are about orders, contacts and what belongs to them.
func businessCases() []Case {
	return []Case{
		rule("order.total", "Derived fields are readonly and kept right by the backend: line total = quantity × price × (1 − discount/100), order total_excl their sum", moneyHint, func(t *T) {
			r, lines := t.on("order", "total_excl"), t.on("orderline", "total", "quantity", "price")
			order := t.create(r, nil)
			line := t.create(lines, values{"order_id": order, "quantity": 1.5, "price": 12.95})
			t.equal("the line's total", 19.43, t.get(lines, line).data()["total"])
			t.equal("total_excl", 19.43, t.get(r, order).data()["total_excl"])
			t.put(lines, line, values{"quantity": 2})
			t.equal("total_excl after the line was changed", 25.9, t.get(r, order).data()["total_excl"])
			t.ok(t.call("DELETE", path(lines, line), ""))
			t.equal("total_excl without lines", 0.0, t.get(r, order).data()["total_excl"])
		}),
		rule("order.children", "An array field is created in one transaction with its parent, and answered where fields names it", moneyHint, children, anyCreate),
		rule("order.children_undone", "A parent whose element is refused is not made either", "Make the parent and its elements in one transaction.", childrenUndone, anyCreate),
		rule("order.etag_of_lines", "ETag changes with any change, of an order by way of its lines too", "The backend must count a change of a line as one of its order's version.", func(t *T) {
			r, lines := t.on("order", "total_excl"), t.on("orderline")
			order := t.create(r, nil)
			last := t.tag(t.get(r, order))
			differs := func() {
				tag := t.tag(t.get(r, order))
				t.check(tag != last, "the ETag", "another one", tag)
				last = tag
			}
			line := t.create(lines, values{"order_id": order})
			differs()
			t.put(lines, line, values{"quantity": 2})
			differs()
			t.ok(t.call("DELETE", path(lines, line), ""))
			differs()
		}),
		rule("contactaddress.postcode", "A Dutch postcode is four digits, a space and two letters; that of another country is not judged so",
			"The rule postcode is judged on the merged record, by the country that country_id names.", func(t *T) {
				r := t.on("contactaddress", "postcode", "country_id")
				t.countryID()
				t.refusal(t.attempt(values{"postcode": "3511EV"}), mapping.ValidationFailed, "postcode", "3511EV", "postcode")
				belgium := t.list("/country?code=BE").Data
				t.check(len(belgium) == 1, "the country BE", "one record", text(belgium))
				t.create(r, values{"postcode": "1000", "country_id": idOf(belgium[0])})
			}, "POST /contactaddress"),
		rule("contactcommunication.email", "The value of a communication of type 4 is an e-mail address", "Check the rule email of contactcommunication.", func(t *T) {
			_, contact := t.preferred()
			a := t.attempt(values{"contact_id": contact, "type": 4, "value": "no address"})
			t.refusal(a, mapping.ValidationFailed, "value", "no address", "email")
		}, "POST /contactcommunication"),
	}
}

// closedOrder is an order that was invoiced, and a line of it. Both stay after the run, since a
// closed order cannot be deleted.
type closedOrder struct{ order, line int }

// closeOrder closes one order for all cases that need one.
func (t *T) closeOrder(r *Resource) closedOrder {
	if t.closed == nil {
		order := t.create(r, values{"order_status": "open"})
		line := 0
		if lines := t.known("orderline"); lines != nil && t.can("POST", "/orderline") {
			line = t.create(lines, values{"order_id": order})
		}
		t.put(r, order, values{"order_status": closedStatus(r)})
		t.closed = &closedOrder{order, line}
	}
	return *t.closed
}

// closedStatuses are those in which an order cannot be changed.
func closedStatuses(r *Resource) []string {
	return slices.DeleteFunc([]string{"cancelled", "invoiced"}, func(s string) bool { return !slices.Contains(r.field("order_status").options(), s) })
}

// closedStatus is one of them, "" if there is none.
func closedStatus(r *Resource) string { return append(closedStatuses(r), "")[0] }

func (t *T) orders() *Resource {
	r := t.on("order", "order_status")
	if r.field("order_status").Readonly {
		t.impossible("order_status is readonly")
	}
	if closedStatus(r) == "" {
		t.impossible("order has no status that closes it (%s)", r.field("order_status").Validation)
	}
	return r
}

// changeRefused tries to change a record, or to delete it, as the operation does.
func (t *T) changeRefused(r *Resource, id int, changes []values, args ...string) {
	if t.op.method == "DELETE" {
		t.refused(t.call("DELETE", path(r, id), ""), args...)
		return
	}
	for _, change := range changes {
		t.refused(t.call("PUT", path(r, id), change.json()), args...)
	}
}

// madeOrChanged tries to create a record with a fault, or to give a new one the fault.
func (t *T) madeOrChanged(r *Resource, made, fault values) {
	if t.op.method == "POST" {
		t.refused(t.attempt(made.with(fault)))
		return
	}
	t.changeRefused(r, t.create(r, made), []values{fault})
}

func children(t *T) {
	r, f := t.op.resource, t.choose("an array field", isArray)
	if !t.can("GET", "/"+f.Reference) { // the api_key may send elements but not see them
		t.needs(keyThat+"GET /%s", f.Reference)
	}
	a := t.status(t.ask(t.right().with(values{f.Name: []values{t.elementOf(f), t.elementOf(f)}})), 201)
	_, present := a.data()[f.Name]
	t.check(!present, "the array in an answer that did not ask for it", "no member "+f.Name, string(a.body))
	read := t.ok(t.call("GET", path(r, idOf(a.data()))+"?fields="+f.Name, ""))
	elements, _ := read.data()[f.Name].([]any)
	t.equal("how many elements", 2, len(elements))
	for _, e := range elements {
		rec, _ := e.(map[string]any)
		t.made = append(t.made, madeRecord{f.Reference, idOf(rec)})
	}
}

func childrenUndone(t *T) {
	r, f := t.op.resource, t.choose("an array field", isArray)
	target := t.known(f.Reference)
	reference := target.find(func(g *Field) bool { return refers(g) && !slices.Contains(target.requires, g.Name) })
	if reference == nil {
		t.impossible("%s has no reference that could be wrong", target.Name)
	}
	total := func() int {
		p := t.list("/" + r.Name + "?page_size=1&total=1")
		t.check(p.Total != nil, "total=1", "a member total", text(p))
		return *p.Total
	}
	right := t.right()
	before := total()
	wrong := t.elementOf(f).with(values{reference.Name: absentID})
	a := t.ask(right.with(values{f.Name: []values{t.elementOf(f), wrong}}))
	t.messages(a, fmt.Sprintf("Field: %s[1].%s value: %d ID not found", f.Name, reference.Name, absentID))
	t.equal("how many records there are", before, total())
}

// preferred is contactcommunication, and a contact without any.
func (t *T) preferred() (*Resource, int) {
	r := t.on("contactcommunication", "is_prefered_email", "type", "value", "contact_id")
	return r, t.create(t.on("contact"), nil)
}

// vehicleCases are about vehicles and their publishing.
func vehicleCases() []Case {
	return []Case{
		rule("vehicle.publish", "PUT /vehicle/publishstart publishes and answers the vehicle, GET only judges; PUT /vehicle/publishstop ends it", publishHint, func(t *T) {
			r, id := t.advertised(values{"tax_kind": "vat"})
			stands := func(what, want string, rec map[string]any) { t.equal(what, want, rec["publish_status"]) }
			query := "?id=" + status(id)
			stands("at first", "not_published", t.get(r, id).data())
			t.equal("the answer of GET", `{"successCode":200}`, string(t.ok(t.call("GET", "/vehicle/publishstart"+query, "")).body))
			stands("after GET", "not_published", t.get(r, id).data())
			stands("the answer of PUT", "published", t.ok(t.call("PUT", "/vehicle/publishstart", values{"id": id}.json())).data())
			stands("after PUT", "published", t.get(r, id).data())
			stands("the answer of publishstop", "not_published", t.ok(t.call("PUT", "/vehicle/publishstop"+query, "")).data())
			stands("after publishstop", "not_published", t.get(r, id).data())
		}),
		rule("vehicle.updatelicenseplate", "/updatelicenseplate, PUT and POST, changes the plate and answers the vehicle; its present value in a PUT is no change", publishHint, func(t *T) {
			r := t.on("vehicle", "license_plate")
			id := t.create(r, nil)
			for _, method := range []string{"PUT", "POST"} {
				plate := t.textValue(r.field("license_plate"))
				a := t.ok(t.call(method, platePath, values{"id": id, "license_plate": plate}.json()))
				t.equal("the plate in the answer", plate, a.data()["license_plate"])
				t.equal("the plate afterwards", plate, t.get(r, id).data()["license_plate"])
				t.put(r, id, values{"license_plate": plate})
			}
		}),
		rule("vehicle.plate_compared", "A Dutch plate is answered in capitals with dashes, and compared without", "Store plates bare, in capitals, and have the unique index on that.", func(t *T) {
			r, f := t.plates()
			plate := t.textValue(f)
			bare := strings.ToLower(strings.ReplaceAll(plate, "-", ""))
			id := t.create(r, values{"license_plate": bare})
			t.equal("the plate that was sent bare", plate, t.get(r, id).data()["license_plate"])
			if f.Unique {
				t.refusal(t.attempt(values{"license_plate": plate}), mapping.DuplicateValue, "license_plate", plate)
			}
			found := t.list("/vehicle?license_plate=" + bare).Data
			t.check(len(found) == 1 && idOf(found[0]) == id, "a filter on the bare plate", fmt.Sprint("vehicle ", id), text(found))
		}, "POST /vehicle"),
		rule("vehicle.plate_invalid", "A Dutch plate has the form of a side code: 403 Field: license_plate has an invalid value: <x> for validation: license_plate", hintOf(mapping.EmptyBody), func(t *T) {
			_, _ = t.plates()
			t.refusal(t.attempt(values{"license_plate": "A"}), mapping.ValidationFailed, "license_plate", "A", "license_plate")
		}, "POST /vehicle"),
	}
}

// plates are those of vehicles, where they are judged.
func (t *T) plates() (*Resource, *Field) {
	r := t.on("vehicle", "license_plate")
	f := r.field("license_plate")
	if f.Validation != "license_plate" {
		t.impossible("license_plate has no validation of plates")
	}
	return r, f
}

// advertised is a new vehicle with an advertisement site.
func (t *T) advertised(more values) (*Resource, int) {
	r := t.on("vehicle", "tax_kind", "publish_status")
	sites := t.on("vehicleadvertisementsite")
	id := t.create(r, more)
	t.create(sites, values{"vehicle_id": id})
	return r, id
}

// publishRefused tries to publish a vehicle.
func (t *T) publishRefused(id int) {
	t.refused(t.call(t.op.method, "/vehicle/publishstart?id="+status(id), ""))
	if t.op.method == "PUT" {
		t.refused(t.call("PUT", "/vehicle/publishstart", values{"id": id}.json()))
	}
}

// itsOwn stands for the number of a line's article.
const itsOwn = "its own"

// lineRefused tries to create a line with these fields, or to give them to a line, in
// a flat rate in which another line has sort_order 10.
func (t *T) lineRefused(fields values, args ...string) {
	r, articles := t.on("flatrateline"), t.on("article", "number")
	article := t.record(articles)
	line, change := values{"flatrate_id": t.create(t.on("flatrate"), nil)}, fields.with(nil)
	if change["article_id"] != nil {
		change["article_id"] = article
	}
	if change["article_number"] == itsOwn {
		change["article_number"] = t.get(articles, article).data()["number"]
	}
	for name := range change {
		t.on("flatrateline", name)
	}
	if r.field("sort_order") != nil {
		t.create(r, line.with(values{"sort_order": 10}))
	}
	// Some combinations violate two rows at once.
	switch {
	case t.op.resource != r: // a flat rate, which has lines
		t.element = "flatratelines[1]"
		t.first(t.attempt(values{"flatratelines": []values{{"sort_order": 10}, change}}), t.c.reason, args...)
	case t.op.method == "POST":
		t.first(t.attempt(change.with(line)), t.c.reason, args...)
	default:
		t.first(t.call("PUT", path(r, t.create(r, line)), change.json()), t.c.reason, args...)
	}
}
