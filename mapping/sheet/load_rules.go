package sheet

import (
	"slices"
	"strings"

	"frontdesk/config/strictyaml"
	"frontdesk/mapping"
)

// abilities finds which fields can be filtered and sorted by.
func (d *draft) abilities() {
	filterable, sortable := map[string]bool{}, map[string]bool{}
	for _, f := range d.drafted {
		filterable[f.Name] = d.sql() && f.comparable() || f.isFixed() || slices.Contains(d.listed, f.Name)
		sortable[f.Name] = d.sql() && f.sortable() || d.sorted[f.Name]
	}
	if d.file.Filters != nil {
		filterable = d.chosen("filters", d.file.Filters, func(f *Field) string {
			if !slices.Contains(d.listed, f.Name) && !f.isFixed() {
				return "the list's query does not have {filter." + f.Name + "}"
			}
			return ""
		})
	}
	if d.file.Sorts != nil {
		sortable = d.chosen("sorts", d.file.Sorts, func(f *Field) string {
			if !d.sorted[f.Name] {
				return "the list's sort does not say how the service is told"
			}
			return ""
		})
	}
	for _, name := range d.file.Order {
		d.isPlace(d.at("order"), name)
	}
	d.resource.Order = d.file.Order
	for _, f := range d.drafted {
		n := d.narrowing[f.Name]
		n.Unfilterable, n.Unsortable = !filterable[f.Name], !sortable[f.Name]
		switch n.Unfiltered = d.unsent(f); {
		case d.sql() && d.isReferenceOfKept(f):
			n.Unfiltered = ranges | mapping.OperatorsOf(mapping.Contains) // the database has keys, and not the IDs
		case d.sql():
			n.Unfiltered = 0
		}
		d.narrowing[f.Name] = n
	}
	if !d.sql() {
		d.fixedUnsortable()
	}
	id := d.narrowing["id"]
	id.Unfilterable = !d.sql() && !slices.Contains(d.listed, "id")
	id.Unsortable = !d.sql() && !d.sorted["id"]
	if !d.sql() {
		id.Unfiltered = mapping.OperatorsOf(mapping.AnyOf)
	}
	d.narrowing["id"] = id
}

// fixedUnsortable makes fields that are the same in every record unsortable: a service cannot
// be asked to sort by them.
func (d *draft) fixedUnsortable() {
	for _, i := range []int{d.of.IsSystem, d.of.IsBlocked, d.of.IsArchived, d.of.CreatedAt, d.of.ModifiedAt} {
		name := d.of.Fields[i].Name
		if _, named := d.narrowing[name]; !named {
			d.narrowing[name] = mapping.FieldNarrowing{Readonly: true, Unsortable: true}
		}
	}
}

// chosen are the fields that the sheet names under filters or sorts.
func (d *draft) chosen(key string, names []string, fault func(*Field) string) map[string]bool {
	known := map[string]*Field{}
	var mapped []string
	for _, f := range d.drafted {
		known[f.Name] = f
		mapped = append(mapped, f.Name)
	}
	out := map[string]bool{}
	for i, name := range names {
		path := d.at(key) + "[" + itoa(i) + "]"
		f := known[name]
		if f == nil {
			d.unknown(path, "mapped field", name, mapped)
			continue
		}
		if why := fault(f); why != "" {
			d.fail(path, "found %s: %s", name, why)
		}
		out[name] = true
	}
	return out
}

// comparable tells whether a database can search for values of the field.
func (f *Field) comparable() bool {
	switch f.source {
	case fromPlace:
		return f.codec.codes == nil || f.codec.codes.unknown != "value"
	case fromReference, fromReferred:
		return true
	default:
		return false
	}
}

// isFixed tells whether all records have the same value.
func (f *Field) isFixed() bool { return f.source == fromConstant || f.source == fromNothing }

// sortable tells whether a database can sort by the field. References to records with kept IDs
// are sorted by their keys, as those records are.
func (f *Field) sortable() bool {
	switch f.source {
	case fromReference, fromReferred, fromConstant, fromNothing:
		return true
	case fromPlace:
		return f.codec.codes == nil && f.codec.ordered() || f.codec.codes != nil && f.codec.codes.unknown != "keep"
	default:
		return false
	}
}

// sameRows finds references to the record on the same row, such as the contact of an address
// that is stored in the contact's columns. They do not count as use of that record, and are
// made and removed with it.
func (d *draft) sameRows() {
	for _, f := range d.drafted {
		target, r := d.draftOf(f.Reference), d.resource
		if target == nil || r.Table == "" || r.Table != target.resource.Table || !slices.Equal(f.From, r.Key.Places) || !slices.Equal(f.From, target.resource.Key.Places) {
			continue
		}
		n := d.narrowing[f.Name]
		n.SameRow = true
		d.narrowing[f.Name] = n
		if d.isOwn(mapping.OpCreate) || d.isOwn(mapping.OpDelete) {
			d.fail(d.at("operations"), "a %s is stored on the row of its %s: creating one would add a second row, and deleting one would delete the %s. Expected operations: {only: [get, list, update]}, and delete where a statement empties its columns",
				d.of.Name, f.Reference, f.Reference)
		}
	}
}

// narrow is what remains of the model.
func (d *draft) narrow() mapping.Narrowing {
	n := mapping.Narrowing{Fields: d.narrowing, WithoutRules: d.WithoutRules, Undated: !d.isDated()}
	if required := d.file.ListRequires; required != nil {
		n.ListRequires = *required
		if n.ListRequires == nil {
			n.ListRequires = []string{}
		}
		for i, name := range *required {
			path := d.at("list_requires") + "[" + itoa(i) + "]"
			if f, ok := d.narrowing[name]; !ok {
				d.unknown(path, "mapped field", name, d.mapped())
			} else if f.Unfilterable {
				d.fail(path, "found %s, which cannot be filtered by", name)
			}
		}
	}
	return n
}

// isDated tells whether lists can be narrowed by when records were changed.
func (d *draft) isDated() bool {
	list := d.resource.Operations[mapping.OpList]
	return slices.ContainsFunc(d.drafted, func(f *Field) bool {
		return f.Index == d.of.ModifiedAt && f.source == fromPlace && f.codec.ordered()
	}) && (d.sql() || list != nil && list.Request != nil && list.Request.Uses("modified_since"))
}

func (d *draft) mapped() []string {
	var names []string
	for _, f := range d.drafted {
		names = append(names, f.Name)
	}
	return names
}

// bind moves the compiled fields onto the narrowed model.
func (d *draft) bind() {
	r := d.resource
	r.Resource = d.sheet.Model.Resource(d.of.Name)
	d.sheet.Resources[r.Resource] = r
	r.Fields = make([]Field, len(r.Resource.Fields))
	for i := range r.Fields {
		f := &r.Resource.Fields[i]
		r.Fields[i] = Field{Field: f, clockAt: -1, constant: mapping.NullValue()}
		out := &r.Fields[i]
		switch {
		case f.Primary:
			out.source = fromKey
			out.codec = codec{field: f, system: sysInteger, loc: d.sheet.Location}
			if r.Key.width > 0 {
				out.codec.system, out.codec.padZero, out.codec.width = sysText, true, r.Key.width
			}
		case i == r.IsSystem, i == r.IsBlocked, i == r.IsArchived:
			out.source, out.constant = fromConstant, mapping.IntValue(0)
		}
	}
	for _, drafted := range d.drafted {
		f := r.Resource.Field(drafted.Name)
		if f == nil {
			continue // an array whose elements are gone
		}
		drafted.Field = f
		drafted.codec.field = f
		r.Fields[f.Index] = *drafted
	}
	d.bindSQL()
	r.refers = r.Key.Kept
	for i := range r.Fields {
		switch f := &r.Fields[i]; {
		case f.source == fromReferred:
			r.referred = append(r.referred, i)
			r.refers = true
		case f.source == fromReference:
			r.refers = true
		}
		if r.Fields[i].stamp != StampNever {
			r.stamps = append(r.stamps, i)
		}
	}
}

// judge checks a resource as clients will see it.
func (d *draft) judge() {
	d.judgeNewKey()
	d.judgeLost()
	for _, f := range d.drafted {
		if f.Type == mapping.Timestamp {
			d.judgeDays(f)
		}
	}
	if d.has(mapping.OpCreate) {
		for _, f := range mapping.Each(d.of.Fields) {
			if _, given := d.file.Fields[f.Name]; f.Required && !f.Primary && !given {
				d.fail(d.at("fields"), "%s is required of a new %s and not mapped, expected its place, a constant, or %s: {absent: true} where it is meant to be left out", f.Name, d.of.Name, f.Name)
			}
		}
		for _, f := range mapping.Each(d.resource.Fields) {
			if f.Required && !f.Primary && f.source != fromElements && !f.writable && f.stamp == StampNever {
				d.fail(d.at("fields", f.Name), "%s is required of a new %s, but nowhere written: expected %s or a constant", f.Name, d.of.Name, d.word("from, set", "column, write"))
			}
		}
	}
	d.elements()
	for op, key := range map[mapping.Scope]string{mapping.OpCreate: "create", mapping.OpUpdate: "update"} {
		d.judgeBody(op, key)
	}
	if d.sheet.OwnRules || d.o.RuleFields == nil {
		return
	}
	for _, rule := range d.resource.Rules {
		for _, alternatives := range d.o.RuleFields(rule) {
			if !slices.ContainsFunc(strings.Split(alternatives, "|"), func(name string) bool { return d.resource.Field(name) != nil }) {
				d.fail(d.at("fields"), "rule %s works with %s, which is not mapped: expected it, or %s among without_rules", rule, alternatives, rule)
			}
		}
	}
}

// judgeBody requires that a call contains everything that clients may send: what a template
// leaves out would be confirmed to the client, and lost. A field in the path does not count,
// because the path says which record is meant.
func (d *draft) judgeBody(op mapping.Scope, key string) {
	how := d.resource.Operations[op]
	if how == nil || how.Request == nil {
		return
	}
	path, create := d.at("operations", key), op == mapping.OpCreate
	var lost []string
	for _, f := range mapping.Each(d.resource.Fields) {
		sent := !f.Readonly && !f.Primary && (f.writable || f.source == fromElements) && (create || !f.Immutable && f.Type != mapping.Array)
		switch {
		case !sent:
		case !create && how.Request.IsInPath("value."+f.Name):
			d.fail(strictyaml.Child(path, "path"), "found {value.%s}, which clients can change, and then it would lead to another record: expected immutable: true at the field, or another path", f.Name)
		case how.Request.Tells(f.Field, create):
		case f.source == fromElements && f.Children == "":
			d.fail(path, "%s are records of their own, and the call leaves them out: expected {value.%[1]s} in its body, and each: {%[1]s: …}, or readonly: true at the field", f.Name)
		case how.Request.body != nil && !how.Request.hasFields(f.Write):
			lost = append(lost, f.Name)
		}
	}
	if len(lost) > 0 {
		d.fail(path, "the call leaves out what clients may send: %s. Expected {value.FIELD} for each, {fields} for all of them, or readonly: true at the field", strings.Join(lost, ", "))
	}
}

func (d *draft) has(op mapping.Scope) bool { return d.resource.Operations[op] != nil }

// judgeRules requires that the system can look up what the gateway's rules look up.
func (l *loader) judgeRules() {
	if l.sheet.OwnRules {
		return
	}
	byName := map[string]*draft{}
	for _, d := range l.drafts {
		byName[d.of.Name] = d
	}
	cures := "expected {filter.%s} in the list's query, or rules: backend"
	if l.sql() {
		cures = l.word("expected %s among filters, or rules: backend", "expected list among the operations of the resource that has %s, or rules: backend")
	}
	for _, d := range l.drafts {
		for _, f := range mapping.Each(d.resource.Fields) {
			writes := d.has(mapping.OpCreate) || d.has(mapping.OpUpdate)
			if f.Unique && writes && f.writable && (f.Unfilterable || !d.has(mapping.OpList)) {
				d.fail(d.at("fields", f.Name), "the gateway has to look up whether another record has the same %s, and the system cannot do that: "+cures, f.Name, f.Name)
			}
			if target := byName[f.Reference]; f.Reference != "" && f.writable && writes && target != nil && !target.has(mapping.OpGet) {
				d.fail(d.at("fields", f.Name), "the gateway has to look up by get whether the %s exists, and %s has no get: expected get among its operations, or rules: backend", f.Reference, f.Reference)
			}
		}
		if !d.has(mapping.OpDelete) {
			continue
		}
		for _, ref := range d.resource.Referrers() {
			other := byName[ref.Resource.Name]
			if ref.Field.Unfilterable || !other.has(mapping.OpList) {
				path := strictyaml.Child(other.at("fields"), ref.Field.Name)
				l.fail(path, "before it deletes a %s the gateway has to look up whether %s.%s refers to it, and the system cannot do that: "+cures+", or operations of %s without delete",
					d.of.Name, ref.Resource.Name, ref.Field.Name, ref.Field.Name, d.of.Name)
			}
		}
	}
}
