package mapping

import (
	"maps"
	"slices"
	"strings"
	"time"

	"frontdesk/config/strictyaml"
)

// Deprecation says that a field, an operation or a resource will be removed. It still works;
// clients are informed, and its use is counted.
type Deprecation struct {
	Since time.Time // midnight in UTC, like Until
	Until time.Time // when it may be removed; zero if no day is set
}

// deprecationFile is the form of a Deprecation in resources/<name>.yaml.
type deprecationFile struct {
	Since string `yaml:"since"`
	Until string `yaml:"until"`
}

// operationFile is what resources/<name>.yaml says of an operation.
type operationFile struct {
	Deprecated *deprecationFile `yaml:"deprecated"`
}

// operations are the names of operations in resource files.
var operations = []string{string(OpCreate), string(OpGet), string(OpUpdate), string(OpList), string(OpDelete)}

// Sooner combines two deprecations of one thing: it has the earlier day of each kind. Either may be nil.
func (d *Deprecation) Sooner(o *Deprecation) *Deprecation {
	switch {
	case d == nil:
		return o
	case o == nil:
		return d
	}
	first := *d
	if o.Since.Before(first.Since) {
		first.Since = o.Since
	}
	if first.Until.IsZero() || !o.Until.IsZero() && o.Until.Before(first.Until) {
		first.Until = o.Until
	}
	return &first
}

// String returns a sentence for people; "" for nil.
func (d *Deprecation) String() string {
	if d == nil {
		return ""
	}
	text := "Deprecated since " + d.Since.Format(time.DateOnly)
	if !d.Until.IsZero() {
		text += ", there until " + d.Until.Format(time.DateOnly)
	}
	return text + "."
}

// deprecation reads the deprecation at a path of the resource's file; nil if there is none.
func (l *loader) deprecation(r *Resource, at string, file *deprecationFile) *Deprecation {
	if file == nil {
		return nil
	}
	day := func(key, text string, needed bool) (day time.Time) {
		if text == "" && !needed {
			return day
		}
		day, err := time.Parse(time.DateOnly, text)
		switch {
		case text == "":
			l.problem(r, at, "expected since, the day from which it is deprecated: 2026-12-01")
		case err != nil:
			l.problem(r, strictyaml.Child(at, key), "expected a day such as 2026-12-01, saw %q", text)
		}
		return day
	}
	d := &Deprecation{Since: day("since", file.Since, true), Until: day("until", file.Until, false)}
	if !d.Since.IsZero() && !d.Until.IsZero() && !d.Until.After(d.Since) {
		l.problem(r, at+".until", "expected a day after since, %s, saw %s", file.Since, file.Until)
	}
	return d
}

// operations reads the deprecations of operations from the resource's file.
func (l *loader) operations(r *Resource, file map[string]operationFile) {
	for _, name := range slices.Sorted(maps.Keys(file)) {
		at := "operations." + name
		if !slices.Contains(operations, name) {
			l.problem(r, at, "unknown operation%s, known are %s", strictyaml.Suggest(name, operations), strings.Join(operations, ", "))
			continue
		}
		d := l.deprecation(r, at+".deprecated", file[name].Deprecated)
		if d == nil {
			continue
		}
		if r.going == nil {
			r.going = map[Scope]*Deprecation{}
		}
		r.going[Scope(name)] = d
	}
}

// OperationDeprecated returns the deprecation of an operation, or else that of the resource; nil
// if there is neither.
func (r *Resource) OperationDeprecated(op Scope) *Deprecation {
	if d := r.going[op]; d != nil {
		return d
	}
	return r.Deprecated
}

// HasDeprecated reports whether a field is deprecated, or the resource of an array's elements, or one of
// its fields.
func (r *Resource) HasDeprecated() bool { return r.aging }

// age sets aging of all resources, which must be linked.
func (m *Model) age() {
	for _, r := range m.Resources {
		r.aging = slices.ContainsFunc(r.Fields, func(f Field) bool {
			if f.Deprecated != nil || f.Type != Array {
				return f.Deprecated != nil
			}
			return f.target.Deprecated != nil || slices.ContainsFunc(f.target.Fields, func(of Field) bool { return of.Deprecated != nil })
		})
	}
}

// EachDeprecated calls f for each of the fields at these positions that is deprecated. For arrays
// it also calls f for deprecated fields of their elements. name is order.reference, or orderline
// if the elements as a whole are deprecated.
func (r *Resource) EachDeprecated(fields []int, f func(name string, d *Deprecation)) {
	if !r.aging {
		return
	}
	for _, i := range fields {
		field := &r.Fields[i]
		field.deprecated(r, f)
		if field.Type == Array {
			for _, k := range field.target.plain {
				field.target.Fields[k].deprecated(field.target, f)
			}
		}
	}
}

// deprecated calls f if a field of r is deprecated, or the resource of its elements.
func (field *Field) deprecated(r *Resource, f func(name string, d *Deprecation)) {
	if field.Deprecated != nil {
		f(r.Name+"."+field.Name, field.Deprecated)
	}
	if field.Type == Array && field.target.Deprecated != nil {
		f(field.target.Name, field.target.Deprecated)
	}
}

// EachDeprecated calls f for everything deprecated that the body supplies, including elements of
// arrays.
func (b *Body) EachDeprecated(f func(name string, d *Deprecation)) {
	r := b.Record.Resource
	if !r.aging {
		return
	}
	for i, supplied := range b.supplied {
		if supplied {
			r.Fields[i].deprecated(r, f)
		}
		for _, line := range b.lines[i] {
			if line != nil {
				line.EachDeprecated(f)
			}
		}
	}
}
