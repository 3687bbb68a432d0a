package backendtest

import (
	"net/http"
	"slices"

	"frontdesk/mapping"
)

// updateCases are the table "PUT (update one)".
func updateCases() []Case {
	return append([]Case{
		row(mapping.OpUpdate, mapping.EmptyBody, emptyBody),
		row(mapping.OpUpdate, mapping.BodyNotJSON, notJSON),
		row(mapping.OpUpdate, mapping.PrimaryIDInvalid, idInvalid),
		row(mapping.OpUpdate, mapping.PrimaryIDMissing, idMissing),
		row(mapping.OpUpdate, mapping.FieldNotInModel, notInModel),
		row(mapping.OpUpdate, mapping.FieldReadonly, readonly),
		row(mapping.OpUpdate, mapping.FieldRequired, fieldLacking),
		row(mapping.OpUpdate, mapping.FieldEmpty, func(t *T) {
			required := func(_ *Resource, f *Field) bool { return f.Required && f.writable() }
			r, f := t.choose("PUT", "a required text", func(_ *Resource, f *Field) bool { return required(nil, f) && f.Datatype == "varchar" }, required)
			empty := []any{nil, ""}
			if f.Datatype != "varchar" {
				empty = empty[:1]
			}
			for _, empty := range empty {
				t.refused(t.attempt(t.method(), r, values{f.Name: empty}), f.Name)
			}
		}),
		row(mapping.OpUpdate, mapping.RelatedIDNotFound, unrelated),
		row(mapping.OpUpdate, mapping.ArrayEmpty, arrayEmpty),
		row(mapping.OpUpdate, mapping.RecordNotFound, notFound),
		row(mapping.OpUpdate, mapping.DuplicateValue, duplicate),
		row(mapping.OpUpdate, mapping.SystemRecord, func(t *T) {
			r := t.withSystemRecord("PUT")
			t.refused(t.call("PUT", path(r, t.systemRecord(r)), `{"is_blocked":1}`))
			if f := t.textField(r); f != nil {
				t.refused(t.call("PUT", path(r, t.systemRecord(r)), values{f.Name: "A"}.json()))
			}
		}),
		row(mapping.OpUpdate, mapping.BlockedRecord, func(t *T) { t.stateRefuses("is_blocked", "is_archived") }),
		row(mapping.OpUpdate, mapping.ArchivedRecord, func(t *T) { t.stateRefuses("is_archived", "is_blocked") }),
		row(mapping.OpUpdate, mapping.CannotUpdate, func(t *T) {
			if t.told && t.op.resource.find(func(f *Field) bool { return isArray(nil, f) }) == nil {
				parentFixed(t)
				return
			}
			r, f := t.choose("PUT", "an array field or a parent", isArray)
			element := t.valid(t.known(f.Reference))
			for _, parent := range t.known(f.Reference).requires {
				delete(element, parent)
			}
			t.refused(t.attempt("PUT", r, values{f.Name: []values{element}}), f.Name)
		}),
		rule("put.date_not_after", "A row listed for POST only holds on PUT too, judged on the merged record: "+rowWords(mapping.OpCreate, mapping.DateNotAfter),
			hintOf(mapping.FieldRequired), func(t *T) { t.c.scope, t.c.reason = mapping.OpCreate, mapping.DateNotAfter; t.dateNotAfter("PUT") }),
		rule("put.bytea_invalid", "A row listed for POST only holds on PUT too: "+rowWords(mapping.OpCreate, mapping.ByteaInvalid),
			hintOf(mapping.EmptyBody), func(t *T) {
				r, f := t.choose("PUT", "a bytea field", func(_ *Resource, f *Field) bool { return f.Datatype == "bytea" && f.writable() })
				t.refusal(t.attempt("PUT", r, values{f.Name: "!!"}), []mapping.Scope{mapping.OpUpdate}, mapping.ByteaInvalid, f.Name, "!!")
			}),
		rule("put.parent_fixed", "The field that a line names its parent by cannot be changed after create: "+rowWords(mapping.OpUpdate, mapping.CannotUpdate),
			hintOf(mapping.CannotUpdate), parentFixed),
	}, wrongValueCases(mapping.OpUpdate)...)
}

// rowWords are the status and words of a row.
func rowWords(scope mapping.Scope, reason mapping.Reason) string {
	entry := mapping.NewCatalogue().Lookup(reason, scope)
	return status(entry.Status) + " " + entry.Message
}

// stateRefuses puts a record into a state in which only the flag of that state may change.
func (t *T) stateRefuses(flag, otherFlag string) {
	if t.told {
		t.stateHolds(flag, otherFlag)
		return
	}
	r := t.findChangeable(func(r *Resource) bool { f := r.field(flag); return f != nil && f.writable() })
	if r == nil {
		if !slices.ContainsFunc(t.resources, func(r *Resource) bool { return t.refusedAsFound(r, flag, t.c.reason) }) {
			t.impossible("%s is readonly everywhere, and no record was found that has it", flag)
		}
		return
	}
	id := t.create(r, nil)
	t.put(r, id, values{flag: 1})
	f := t.textField(r)
	t.refused(t.call("PUT", path(r, id), values{f.Name: "A"}.json()))
	t.refused(t.call("PUT", path(r, id), values{flag: 0, f.Name: "A"}.json()))
	if other := r.field(otherFlag); other != nil && other.writable() {
		t.refused(t.call("PUT", path(r, id), values{otherFlag: 1}.json()))
	}
	t.put(r, id, values{flag: 0})
	t.put(r, id, values{f.Name: "A"})
}

// stateHolds puts the record of a right request into a state.
func (t *T) stateHolds(flag, otherFlag string) {
	r, about := t.right(), t.op.resource
	switch {
	case t.op.form:
		about = t.on("vehicle")
	case t.op.method != "PUT": // an element of the record
		parent := about.field(about.requires[0])
		if about = t.known(parent.Reference); t.op.method == "DELETE" {
			line := t.create(t.op.resource, nil)
			parentID, _ := t.get(t.op.resource, line).data()[parent.Name].(float64)
			r.path, r.id = path(t.op.resource, line), int(parentID)
		} else {
			r.id = t.create(about, nil)
			r = r.with(values{parent.Name: r.id})
		}
	default:
		r.id = t.create(about, nil)
		r.path = path(about, r.id)
		r = r.with(values{otherFlag: 0})
	}
	t.put(about, r.id, values{flag: 1})
	t.refused(t.ask(r))
	t.put(about, r.id, values{flag: 0}) // others are elements of it
}

// mayChange tells whether nothing that a record says of itself keeps it from being changed.
func mayChange(rec map[string]any) bool {
	return rec["is_system"] != 1.0 && rec["is_blocked"] != 1.0 && rec["is_archived"] != 1.0 && rec["order_status"] != "invoiced" && rec["order_status"] != "cancelled"
}

// fieldLacking looks for a record that lacks a required field, which old data may and no request
// can cause, and sends its own text again.
func fieldLacking(t *T) {
	if t.told && t.op.form {
		t.refused(t.ask(t.right().without("license_plate")), "license_plate")
		return
	}
	for _, r := range t.resources {
		f := t.textField(r)
		if f == nil || len(r.requires) > 0 || !t.can("GET", "/"+r.Name) || !t.can("PUT", "/"+r.Name) {
			continue
		}
		for _, rec := range t.list("/" + r.Name + "?page_size=1000").Data {
			var lacking []string
			for _, g := range r.Fields {
				if g.Required && g.scalar() && rec[g.Name] == nil {
					lacking = append(lacking, g.Name)
				}
			}
			if len(lacking) == 1 && rec[f.Name] != nil && mayChange(rec) {
				a := t.call("PUT", path(r, idOf(rec)), values{f.Name: rec[f.Name]}.json())
				if a.status == http.StatusOK {
					t.impossible("what a stored record of another system lacks already is not held against a change of other fields")
				}
				t.refused(a, lacking[0])
				return
			}
		}
	}
	t.impossible("it takes a stored record that lacks a required field, as old data may; none was found")
}

// parents names the lines of the interface by what they belong to.
var parents = map[string]string{
	"orderline": "order_id", "contactcommunication": "contact_id", "contactaddress": "contact_id", "vehicleroleline": "vehicle_id",
	"vehicleadvertisementsite": "vehicle_id", "flatrateline": "flatrate_id",
}

func parentFixed(t *T) {
	r, f := t.choose("PUT", "a parent", func(r *Resource, f *Field) bool { return parents[r.Name] == f.Name && f.writable() })
	another := t.create(t.known(f.Reference), nil)
	t.refusal(t.attempt("PUT", r, values{f.Name: another}), []mapping.Scope{mapping.OpUpdate}, mapping.CannotUpdate, f.Name)
}
