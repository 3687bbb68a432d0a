package backendtest

import (
	"fmt"
	"slices"

	"frontdesk/mapping"
)

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

// closedStatus is one of them, "" where there is none.
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

const moneyHint = "Totals are kept by the backend: quantity × price × (1 − discount/100), half away from zero, when a line is made, changed or deleted."

// orderCases are about orders and their lines.
func orderCases() []Case {
	return []Case{
		row("/order", mapping.StatusForbidsChange, func(t *T) {
			r := t.orders()
			closed, status := t.closeOrder(r), closedStatus(r)
			f := t.textField(r)
			for _, made := range closedStatuses(r) {
				t.refused(t.attempt("POST", r, values{"order_status": made}), "order_status", made)
			}
			t.refused(t.call("PUT", path(r, closed.order), values{f.Name: "A"}.json()), "order_status", status)
			t.refused(t.call("PUT", path(r, closed.order), `{"order_status":"open"}`), "order_status", status)
			t.refused(t.call("DELETE", path(r, closed.order), ""), "order_status", status)
		}),
		row("/orderline", mapping.StatusForbidsChange, func(t *T) {
			r, lines := t.orders(), t.on("orderline")
			closed, status := t.closeOrder(r), closedStatus(r)
			t.refused(t.attempt("POST", lines, values{"order_id": closed.order}), "order_status", status)
			t.refused(t.call("PUT", path(lines, closed.line), `{"quantity":2}`), "order_status", status)
			t.refused(t.call("DELETE", path(lines, closed.line), ""), "order_status", status)
		}),
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
		rule("order.children", "An array field is created in one transaction with its parent, and answered where fields names it", moneyHint, children),
		rule("order.children_undone", "A parent whose element is refused is not made either", "Make the parent and its elements in one transaction.", childrenUndone),
		rule("order.etag_of_lines", "ETag changes with any change, of an order by way of its lines too", "The backend must count a change of a line as one of its order's version.", func(t *T) {
			r, lines := t.on("order", "total_excl"), t.on("orderline")
			order := t.create(r, nil)
			before := t.get(r, order).header.Get("ETag")
			t.create(lines, values{"order_id": order})
			t.check(before != "" && before != t.get(r, order).header.Get("ETag"), "the ETag", "another one", before)
		}),
	}
}

// withChildren are values for a parent with elements.
func (t *T) withChildren(r *Resource, f *Field, n int) values {
	target := t.known(f.Reference)
	elements := make([]values, n)
	for i := range elements {
		elements[i] = t.valid(target)
		for _, parent := range target.requires {
			delete(elements[i], parent)
		}
	}
	return t.valid(r).with(values{f.Name: elements})
}

func children(t *T) {
	r, f := t.choose("POST", "an array field", isArray)
	if !t.can("GET", "/"+f.Reference) { // whoever may only send elements does not see them
		t.needs("an api_key that may call GET /%s", f.Reference)
	}
	a := t.status(t.call("POST", "/"+r.Name, t.withChildren(r, f, 2).json()), 201)
	id := t.keep(r, a)
	_, present := a.data()[f.Name]
	t.check(!present, "the array in an answer that did not ask for it", "no member "+f.Name, string(a.body))
	read := t.ok(t.call("GET", path(r, id)+"?fields="+f.Name, ""))
	elements, _ := read.data()[f.Name].([]any)
	t.equal("how many elements", 2, len(elements))
	for _, e := range elements {
		rec, _ := e.(map[string]any)
		t.made = append(t.made, madeRecord{f.Reference, idOf(rec)})
	}
}

func childrenUndone(t *T) {
	r, f := t.choose("POST", "an array field", isArray)
	target := t.known(f.Reference)
	var reference *Field
	for _, g := range target.Fields {
		if g.Reference != "" && g.writable() && !slices.Contains(target.requires, g.Name) {
			reference = g
		}
	}
	if reference == nil {
		t.impossible("%s has no reference that could be wrong", target.Name)
	}
	before := t.total(r)
	body := t.withChildren(r, f, 2)
	body[f.Name].([]values)[1][reference.Name] = absentID
	a := t.call("POST", "/"+r.Name, body.json())
	if a.status == 201 {
		t.keep(r, a)
	}
	t.messages(a, fmt.Sprintf("Field: %s[1].%s value: %d ID not found", f.Name, reference.Name, absentID))
	t.equal("how many records there are", before, t.total(r))
}

// total is how many records a list has.
func (t *T) total(r *Resource) int {
	p := t.list("/" + r.Name + "?page_size=1&total=1")
	t.check(p.Total != nil, "total=1", "a member total", text(p))
	return *p.Total
}

// contactCases are about contacts and what belongs to them.
func contactCases() []Case {
	return []Case{
		row("/contactcommunication", mapping.PreferredEmailDuplicate, func(t *T) {
			r, contact := t.preferred()
			mail := values{"contact_id": contact, "type": 4, "value": "a@example.nl", "is_prefered_email": 1}
			t.create(r, mail)
			t.refused(t.attempt("POST", r, mail))
			other := t.create(r, mail.with(values{"is_prefered_email": 0}))
			t.refused(t.call("PUT", path(r, other), `{"is_prefered_email":1}`))
		}),
		row("/contactcommunication", mapping.PreferredEmailNotAllowed, func(t *T) {
			r, contact := t.preferred()
			phone := values{"contact_id": contact, "type": 1, "value": "+31 88 000 0000"}
			t.refused(t.attempt("POST", r, phone.with(values{"is_prefered_email": 1})))
			t.refused(t.call("PUT", path(r, t.create(r, phone)), `{"is_prefered_email":1}`))
		}),
		rule("contactaddress.postcode", "A Dutch postcode is four digits, a space and two letters; that of another country is not judged so",
			"The rule postcode is judged on the merged record, by the country that country_id names.", func(t *T) {
				r := t.on("contactaddress", "postcode", "country_id")
				if t.systemRecord(t.on("country", "code")) == 0 {
					t.impossible("the backend has no countries of its own")
				}
				t.refusal(t.attempt("POST", r, values{"postcode": "3511EV"}), []mapping.Scope{mapping.OpCreate}, mapping.ValidationFailed, "postcode", "3511EV", "postcode")
				belgium := t.list("/country?code=BE").Data
				t.check(len(belgium) == 1, "the country BE", "one record", text(belgium))
				t.create(r, values{"postcode": "1000", "country_id": idOf(belgium[0])})
			}),
		rule("contactcommunication.email", "The value of a communication of type 4 is an e-mail address", "Check the rule email of contactcommunication.", func(t *T) {
			r, contact := t.preferred()
			a := t.attempt("POST", r, values{"contact_id": contact, "type": 4, "value": "no address"})
			t.refusal(a, []mapping.Scope{mapping.OpCreate}, mapping.ValidationFailed, "value", "no address", "email")
		}),
	}
}

// preferred is contactcommunication, and a contact without any.
func (t *T) preferred() (*Resource, int) {
	r := t.on("contactcommunication", "is_prefered_email", "type", "value", "contact_id")
	return r, t.create(t.on("contact"), nil)
}
