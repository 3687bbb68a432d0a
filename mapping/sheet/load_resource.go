package sheet

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"frontdesk/config/strictyaml"
	"frontdesk/mapping"
)

// draft is a resource while it is compiled.
type draft struct {
	*loader
	own
	owner     *ownerFile
	specs     map[string]fieldSpec
	inherited bool // the client is that of the containing records, since the sheet gives none
	path      string
	of        *mapping.Resource // in the whole model
	resource  *Resource
	mapped    []*Field // in the order of the model
	narrowing map[string]mapping.FieldNarrowing
}

// own is the part of a draft that depends on the kind of system.
type own interface {
	key()
	// fields returns what the sheet says about each field.
	fields() map[string]fieldSpec
	// field compiles the place of a field that is no constant. It sets whether the field is
	// writable, and completes its narrowing.
	field(f *Field, n *mapping.FieldNarrowing)
	array(f *Field)
	// judgeKeys judges the keys of a field that is no array.
	judgeKeys(f *Field)
	operations()
	// unfit returns why a reference cannot identify the client of a record; "" if it can.
	unfit(through *Field, target *draft) string
	// bind assigns what is compiled to the narrowed model.
	bind()
	judge()
}

// operationNames are the operations in the order of the documentation.
var operationNames = []string{"get", "list", "create", "update", "delete"}

// loadResources compiles the resources: keys first, since references depend on
// them, then fields and operations, then all that depends on the narrowed model.
func (l *loader) loadResources() {
	for _, name := range l.resources() {
		path := strictyaml.Child("resources", name)
		r := l.model.Resource(name)
		if r == nil {
			l.unknown(path, "resource", name, l.model.Names())
			continue
		}
		d := &draft{loader: l, path: path, of: r, narrowing: map[string]mapping.FieldNarrowing{}}
		d.resource = &Resource{sheet: l.sheet, Operations: map[mapping.Scope]bool{}}
		l.drafts, l.sheet.byName[name] = append(l.drafts, d), d.resource
	}
	for _, d := range l.drafts {
		d.own = l.resource(d)
		d.specs = d.fields()
	}
	for _, d := range l.drafts {
		d.key()
	}
	for _, d := range l.drafts {
		d.compileFields()
		d.operations()
	}
	l.related()
	to := map[string]mapping.Narrowing{}
	for _, d := range l.drafts {
		to[d.of.Name] = d.narrow()
	}
	l.sheet.Model = l.model.Narrow(to)
	for _, d := range l.drafts {
		d.bindFields()
		d.bind()
	}
	for _, d := range l.drafts {
		d.judgeRequired()
		d.judgeDays()
		d.judgeRuleFields()
		d.judge()
	}
	l.judgeClients()
	l.judgeRules()
}

// draftOf returns the draft of a resource; nil if it is not mapped.
func (l *loader) draftOf(name string) *draft {
	if i := slices.IndexFunc(l.drafts, func(d *draft) bool { return d.of.Name == name }); i >= 0 {
		return l.drafts[i]
	}
	return nil
}

// at returns the path of a key of the resource.
func (d *draft) at(keys ...string) string { return strictyaml.Child(d.path, keys...) }

// fieldAt returns the path of a key of a field.
func (d *draft) fieldAt(name string, keys ...string) string {
	return strictyaml.Child(d.at("fields", name), keys...)
}

// zone returns the zone of times in the resource.
func (d *draft) zone() *time.Location { return cmp.Or(d.owner.TimeZone.Location, d.sheet.Location) }

// has reports whether the resource has an operation.
func (d *draft) has(op mapping.Scope) bool { return d.resource.Operations[op] }

// names reports whether operations.only allows an operation.
func (d *draft) names(op mapping.Scope) bool {
	only := d.owner.Operations.Only
	return len(only) == 0 || slices.Contains(only, string(op))
}

// writes reports whether clients can create or update records.
func (d *draft) writes() bool { return d.has(mapping.OpCreate) || d.has(mapping.OpUpdate) }

// keyID compiles id and case of a key. plain is the value of id for a key that is the ID itself, and part
// the word for its parts in messages.
func (d *draft) keyID(plain, part, id, letters string, parts int) {
	key := &d.resource.Key
	key.Kept = id == "kept" || id == "" && parts > 1
	if id == plain && parts > 1 {
		d.fail(d.at("key", "id"), "found %s for a key of %s, expected kept: an int4 is then given out for every key", plain, count(parts, part))
	}
	if letters != "" && !key.Kept {
		d.fail(d.at("key", "case"), "found with a key that is the ID itself, a number: expected none, or id: kept")
	}
	key.IgnoresCase, key.CaseCounts = letters == "ignore", letters == "exact"
	if key.Kept && d.Keep == "" {
		d.fail(d.at("key"), "the IDs of %s are given out and must be kept, expected keep: FILE at the top of the sheet", d.of.Name)
	}
}

// narrow returns what remains of the resource in the model.
func (d *draft) narrow() mapping.Narrowing {
	n := mapping.Narrowing{Fields: d.narrowing, WithoutRules: d.WithoutRules, Undated: !d.isDated()}
	if required := d.owner.ListRequires; required != nil {
		n.ListRequires = append([]string{}, *required...)
		for i, name := range n.ListRequires {
			path := fmt.Sprintf("%s[%d]", d.at("list_requires"), i)
			if _, ok := d.narrowing[name]; !ok {
				d.unknown(path, "mapped field", name, d.mappedNames())
			} else if d.of.Field(name).Type == mapping.Array {
				d.fail(path, "found %s, which cannot be filtered by", name)
			}
		}
	}
	return n
}

func (d *draft) mappedNames() (names []string) {
	for _, f := range d.mapped {
		names = append(names, f.Name)
	}
	return names
}

// isDated reports whether the system has the time of the last change, so that lists can filter by it.
func (d *draft) isDated() bool {
	name := d.of.Fields[d.of.ModifiedAt].Name
	s := d.specs[name]
	return slices.Contains(d.mappedNames(), name) && len(s.sources) > 0 && !s.conversionFile.Codes.given()
}

// bindFields assigns the fields to those of the narrowed model.
func (d *draft) bindFields() {
	r := d.resource
	r.Resource = d.sheet.Model.Resource(d.of.Name)
	d.sheet.Resources[r.Resource] = r
	r.Fields = make([]Field, len(r.Resource.Fields))
	for i, f := range mapping.Each(r.Resource.Fields) {
		r.Fields[i].Field = f
	}
	for _, mapped := range d.mapped {
		if f := r.Resource.Field(mapped.Name); f != nil { // nil for an array whose elements are not mapped
			mapped.Field = f
			r.Fields[f.Index] = *mapped
		}
	}
}

// bound returns the conversions of the fields of the narrowed model. Fields that the system does not have
// are null, and flags 0.
func bound[T any](r *Resource, of map[string]*T, conversion func(*T) *Conversion) []T {
	all := make([]T, len(r.Fields))
	for i := range all {
		switch how := of[r.Fields[i].Name]; {
		case how != nil:
			all[i] = *how
		case r.Fields[i].Primary:
		case i == r.IsSystem, i == r.IsBlocked, i == r.IsArchived:
			conversion(&all[i]).Constant = mapping.IntValue(0)
		default:
			conversion(&all[i]).Constant = mapping.NullValue()
		}
	}
	return all
}

// judgeRequired requires that every field that a new record needs is mapped and written.
func (d *draft) judgeRequired() {
	if !d.has(mapping.OpCreate) {
		return
	}
	for _, f := range mapping.Each(d.of.Fields) {
		if _, given := d.specs[f.Name]; f.Required && !f.Primary && !given {
			d.fail(d.at("fields"), "%s is required of a new %s and not mapped, expected its place, a constant, or %s: {absent: true} where it is meant to be left out", f.Name, d.of.Name, f.Name)
		}
	}
	for i, f := range mapping.Each(d.resource.Resource.Fields) {
		if f.Required && !f.Primary && f.Type != mapping.Array && !d.resource.Fields[i].writable {
			d.fail(d.fieldAt(f.Name), "%s is required of a new %s, but nowhere written: expected %s, write or a constant", f.Name, d.of.Name, d.words().place)
		}
	}
}

// judgeRuleFields requires that the fields that the rules of the resource work with are mapped.
func (d *draft) judgeRuleFields() {
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

// judgeRules requires the operations with which the gateway's rules look up records.
func (l *loader) judgeRules() {
	if l.sheet.OwnRules {
		return
	}
	for _, d := range l.drafts {
		for i, f := range mapping.Each(d.resource.Resource.Fields) {
			if !d.resource.Fields[i].writable || !d.writes() {
				continue
			}
			if f.Unique && !d.has(mapping.OpList) {
				d.fail(d.fieldAt(f.Name), "the gateway has to look up whether another record has the same %s, and there is no list: expected list among the operations, or rules: backend", f.Name)
			}
			if target := l.draftOf(f.Reference); f.Reference != "" && target != nil && !target.has(mapping.OpGet) {
				d.fail(d.fieldAt(f.Name), "the gateway has to look up by get whether the %s exists, and %s has no get: expected get among its operations, or rules: backend", f.Reference, f.Reference)
			}
		}
		if !d.has(mapping.OpDelete) {
			continue
		}
		for _, ref := range d.resource.Referrers() {
			if other := l.draftOf(ref.Resource.Name); !other.has(mapping.OpList) {
				l.fail(other.fieldAt(ref.Field.Name), "before it deletes a %s the gateway has to look up whether %s.%s refers to it, and there is no list: expected list among the operations of %[2]s, or rules: backend, or operations of %[1]s without delete",
					d.of.Name, ref.Resource.Name, ref.Field.Name)
			}
		}
	}
}

// sortedKeys returns the keys of a map, sorted.
func sortedKeys[T any](of map[string]T) []string { return slices.Sorted(maps.Keys(of)) }
