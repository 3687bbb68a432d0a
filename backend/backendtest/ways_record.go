package backendtest

import (
	"slices"
	"strconv"

	"frontdesk/mapping"
)

// readonly sends a readonly field, empty and with its value.
func readonly(t *T) {
	r, f := t.op.resource, t.choose("a readonly field", func(_ *Resource, f *Field) bool { return f.Readonly && !f.Primary })
	for _, v := range []any{nil, t.get(r, t.record(r)).data()[f.Name]} {
		t.refused(t.attempt(values{f.Name: v}), f.Name)
	}
}

// empties are the values that count as empty in a required field.
func empties(f *Field) []any {
	if f.Datatype == "varchar" {
		return []any{nil, ""}
	}
	return []any{nil}
}

func arrayEmpty(t *T) {
	f := t.choose("an array field", isArray)
	t.refused(t.attempt(values{f.Name: []int{}}), f.Name)
}

func isArray(_ *Resource, f *Field) bool { return f.Array && f.writable() }

// parents names the lines of the interface by what they belong to.
var parents = map[string]string{
	"orderline": "order_id", "contactcommunication": "contact_id", "contactaddress": "contact_id", "vehicleroleline": "vehicle_id",
	"vehicleadvertisementsite": "vehicle_id", "flatrateline": "flatrate_id",
}

func isParent(r *Resource, f *Field) bool { return parents[r.Name] == f.Name && f.writable() }

func parentFixed(t *T) {
	f := t.choose("a parent", isParent)
	t.allowed()
	t.refused(t.attempt(values{f.Name: t.create(t.known(f.Reference), nil)}), f.Name)
}

// unrelated sends a reference to a record that does not exist; to a parent if the resource has no
// other reference.
func unrelated(t *T) {
	f := t.choose("a reference that can be changed",
		func(r *Resource, f *Field) bool { return refers(f) && !slices.Contains(r.requires, f.Name) },
		func(_ *Resource, f *Field) bool { return refers(f) || f.Name == "resource_id" })
	t.refused(t.attempt(values{f.Name: absentID}), f.Name, strconv.Itoa(absentID))
}

// refers reports whether a field can be sent that refers to a record.
func refers(f *Field) bool { return f.Reference != "" && f.writable() && !f.Array }

// duplicate sends the value of another record for a field that must be unique: the first such
// field that can be sent freely.
func duplicate(t *T) {
	if t.op.form {
		taken := t.right().fields["license_plate"]
		t.create(t.on("vehicle"), values{"license_plate": taken})
		t.refused(t.ask(t.right().with(values{"license_plate": taken})), "license_plate", plainText(taken))
		return
	}
	unique := func(f *Field) bool { return f.Unique && f.writable() }
	r, f := t.op.resource, t.choose("a unique field that can be written",
		func(_ *Resource, f *Field) bool {
			return unique(f) && f.Required && f.Validation == "" && f.Reference == ""
		},
		func(r *Resource, f *Field) bool {
			return unique(f) && described(r, f) != ownRow && (f.Validation != "license_plate" || t.op.method == "POST")
		})
	t.allowed()
	t.taken(r, f)
}

// ownRow is the field whose uniqueness has a row of its own.
const ownRow = "flatrateline.sort_order"

// taken sends another record's value of a field.
func (t *T) taken(r *Resource, f *Field) {
	var own values
	if !f.Required {
		own = values{f.Name: t.value(f)}
	}
	// A short value may already be taken.
	taken := t.get(r, t.create(r, own)).data()[f.Name]
	t.refusal(t.attempt(values{f.Name: taken}), mapping.DuplicateValue, f.Name, plainText(taken))
}

func dateNotAfter(t *T) {
	f := t.choose("a date that must be after another", func(r *Resource, f *Field) bool {
		before := r.field(f.After)
		return f.writable() && before != nil && before.writable()
	})
	const early, late = "2026-06-30", "2026-07-01"
	for _, date := range []string{early, late} {
		t.refused(t.attempt(values{f.Name: date, f.After: late}), f.Name, date, f.After, late)
	}
}

// inUse deletes a record that another one refers to; if no resource refers to it, a document does.
func inUse(t *T) {
	target := t.op.resource
	t.allowed()
	referrer := func(suits func(r *Resource, f *Field) bool) (*Resource, *Field) {
		for _, r := range t.resources {
			f := r.find(func(f *Field) bool { return f.writable() && !f.Array && suits(r, f) })
			if f != nil && t.can("POST", "/"+r.Name) && t.cannotMake(r) == nil {
				return r, f
			}
		}
		return nil, nil
	}
	r, f := referrer(func(_ *Resource, f *Field) bool { return f.Reference == target.Name })
	if r == nil && t.given {
		r, f = referrer(func(r *Resource, f *Field) bool { return f.Name == "resource_id" && r.field("resource") != nil })
	}
	if r == nil {
		t.unfit("no resource has a reference to a record that can be made")
	}
	used := t.create(target, nil)
	with := values{f.Name: used}
	if f.Reference == "" {
		with["resource"] = target.Name
	}
	t.create(r, with)
	t.refused(t.call("DELETE", path(target, used), ""), "id", r.Name)
	t.get(target, used)
}

// systemRecord changes or deletes a record of the system.
func systemRecord(t *T) {
	r := t.op.resource
	id := t.systemRecord(r)
	if id == 0 {
		t.unfit("there is no system record")
	}
	t.allowed()
	if t.op.method == "DELETE" {
		t.refused(t.call("DELETE", path(r, id), ""))
		return
	}
	t.refused(t.call("PUT", path(r, id), `{"is_blocked":1}`))
	if f := t.textField(r); f != nil {
		t.refused(t.call("PUT", path(r, id), values{f.Name: "A"}.json()))
	}
}

// stateRefuses tests a record in a state in which only the flag of that state may change.
func stateRefuses(flag, otherFlag string) way {
	return func(t *T) {
		r := t.op.resource
		if t.op.form || t.op.method != "PUT" {
			t.ownerRefuses(flag)
			return
		}
		f := t.textField(r)
		if state := r.field(flag); state == nil || t.ReadOnly || !state.writable() {
			t.foundRefuses(f, flag)
			return
		}
		var changes []values
		if f != nil {
			changes = append(changes, values{f.Name: "A"}, values{flag: 0, f.Name: "A"})
		}
		if other := r.field(otherFlag); other != nil && other.writable() {
			changes = append(changes, values{otherFlag: 1})
		}
		if len(changes) == 0 {
			t.unfit("no free text to change")
		}
		t.allowed()
		id := t.create(r, values{flag: 1})
		for _, change := range changes {
			t.refused(t.call("PUT", path(r, id), change.json()))
		}
		t.equal(flag, 0.0, t.put(r, id, values{flag: 0}).data()[flag])
		if f != nil {
			t.put(r, id, values{f.Name: "A"})
		}
		t.put(r, id, values{flag: 1})
		if t.can("DELETE", "/"+r.Name) {
			t.ok(t.call("DELETE", path(r, id), ""))
		}
	}
}

// ownerRefuses tests what belongs to a record in a state: a line of it, or the vehicle of a form.
func (t *T) ownerRefuses(flag string) {
	r, owner := t.right(), t.on("vehicle")
	if !t.op.form {
		parent := t.op.resource.field(t.op.resource.requires[0])
		owner = t.known(parent.Reference)
		if t.op.method == "DELETE" {
			id, _ := t.get(t.op.resource, r.id).data()[parent.Name].(float64)
			r.id = int(id)
		} else {
			r.id = t.create(owner, nil)
			r = r.with(values{parent.Name: r.id})
		}
	}
	t.put(owner, r.id, values{flag: 1})
	t.refused(t.ask(r))
	t.put(owner, r.id, values{flag: 0}) // other cases use elements of the owner
}

// foundRefuses tests a flag that clients cannot set: it looks for a record with the flag, and sends
// its own text again.
func (t *T) foundRefuses(f *Field, flag string) {
	r := t.op.resource
	if f != nil && r.field(flag) != nil && t.can("GET", "/"+r.Name) && t.can("PUT", "/"+r.Name) && len(r.requires) == 0 {
		p, err := t.call("GET", "/"+r.Name+"?page_size=1&"+flag+"=1", "").page()
		if err == nil && len(p.Data) > 0 {
			t.refused(t.call("PUT", path(r, idOf(p.Data[0])), values{f.Name: p.Data[0][f.Name]}.json()))
			return
		}
	}
	t.unfit("%s is readonly, and no record was found that has it", flag)
}

// fieldLacking leaves out a field of a form. No request can make a stored record lack a field.
func fieldLacking(t *T) {
	if !t.op.form {
		t.unfit("it takes a stored record that lacks a required field, as old data of the built-in administration may")
	}
	t.refused(t.ask(t.right().without("license_plate")), "license_plate")
}
