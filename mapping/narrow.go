package mapping

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"maps"
	"slices"
)

// Narrowing says which parts of a resource remain.
type Narrowing struct {
	// Fields are the fields that remain, by name. The primary ID and the fields
	// that every resource has always remain; the latter are readonly unless they
	// are named.
	Fields map[string]FieldNarrowing
	// ListRequires replaces the query parameters that lists require, unless nil.
	ListRequires []string
	// WithoutRules names rules that are not enforced.
	WithoutRules []string
	// Undated says that lists cannot be filtered by the time of the last change.
	Undated bool
}

// FieldNarrowing restricts a field. The zero value leaves it as it is.
type FieldNarrowing struct {
	Readonly, Immutable, SameRow bool

	Withheld   Writes
	Unfiltered Operators
	Required   *bool    // nil leaves it; a readonly field is never required
	Length     int      // 0, or more than the model's, leaves it
	Scale      *int     // nil, or more than the model's, leaves it
	OneOf      []string // nil leaves it
	Default    *string  // nil leaves it; as Field.Default
}

// Narrow returns the model with only the resources named, each reduced as its narrowing
// says. References to removed parts change: a reference becomes a plain int4, an array
// field is removed, a date need not follow another, a value is not unique per another.
// Lists no longer require parameters that are removed or cannot be filtered by.
func (m *Model) Narrow(to map[string]Narrowing) *Model {
	narrowed := &Model{byName: map[string]*Resource{}, Version: m.narrowedVersion(to)}
	for _, r := range m.Resources {
		n, remains := to[r.Name]
		if !remains {
			continue
		}
		c := r.narrow(n, func(name string) bool { _, ok := to[name]; return ok && m.byName[name] != nil })
		c.model = narrowed
		narrowed.byName[c.Name] = c
		narrowed.Resources = append(narrowed.Resources, c)
	}
	for _, r := range narrowed.Resources {
		r.dropArrays()
	}
	l := loader{model: narrowed}
	for _, r := range narrowed.Resources {
		r.keepRequirements()
		l.link(r) // reports no problems, since references to removed parts are gone
	}
	for _, r := range narrowed.Resources {
		l.refer(r)
	}
	narrowed.age()
	return narrowed
}

func (m *Model) narrowedVersion(to map[string]Narrowing) string {
	hash := sha256.New()
	fmt.Fprintln(hash, m.Version)
	for _, name := range slices.Sorted(maps.Keys(to)) {
		n := to[name]
		fmt.Fprintf(hash, "%s %q %q %t\n", name, n.ListRequires, n.WithoutRules, n.Undated)
		for _, field := range slices.Sorted(maps.Keys(n.Fields)) {
			f := n.Fields[field]
			fmt.Fprintf(hash, "%s %t %t %d %d %q", field, f.Readonly, f.Immutable, f.Unfiltered, f.Length, f.OneOf)
			if f.Withheld != 0 {
				fmt.Fprintf(hash, " withheld=%d", f.Withheld)
			}
			if f.Required != nil {
				fmt.Fprintf(hash, " required=%t", *f.Required)
			}
			if f.Scale != nil {
				fmt.Fprintf(hash, " scale=%d", *f.Scale)
			}
			if f.Default != nil {
				fmt.Fprintf(hash, " default=%q", *f.Default)
			}
			fmt.Fprintln(hash)
		}
	}
	return hex.EncodeToString(hash.Sum(nil))[:12]
}

// narrow copies the resource with the fields that remain, still without links.
func (r *Resource) narrow(n Narrowing, remains func(string) bool) *Resource {
	c := &Resource{
		Name: r.Name, Description: r.Description, Module: r.Module, ListRequires: r.ListRequires,
		SystemRecords: r.SystemRecords, Since: r.Since, Undated: r.Undated || n.Undated, Deprecated: r.Deprecated, going: r.going, doc: r.doc, byName: map[string]*Field{},
	}
	for _, rule := range r.Rules {
		if !slices.Contains(n.WithoutRules, rule) {
			c.Rules = append(c.Rules, rule)
		}
	}
	if n.ListRequires != nil {
		c.ListRequires = n.ListRequires
	}
	kept := func(name string) bool {
		_, ok := n.Fields[name]
		f := r.byName[name]
		return f != nil && (ok || f.Primary || f.Index >= r.IsSystem) // the common fields come last
	}
	for i := range r.Fields {
		f := r.Fields[i] // a copy
		if !kept(f.Name) || f.ArrayOf != "" && !remains(f.ArrayOf) {
			continue
		}
		f.target, f.after = nil, nil
		if f.Reference != "" && !remains(f.Reference) {
			f.Reference = ""
		}
		for _, other := range []*string{&f.After, &f.ReferenceBy} {
			if !kept(*other) {
				*other = ""
			}
		}
		if f.UniquePer != "" && !kept(f.UniquePer) {
			f.UniquePer, f.Unique = "", false
		}
		narrowing, named := n.Fields[f.Name]
		if !named && !f.Primary {
			narrowing.Readonly = true
		}
		f.narrow(narrowing)
		c.Fields = append(c.Fields, f)
	}
	c.index()
	return c
}

func (f *Field) narrow(n FieldNarrowing) {
	f.Readonly = f.Readonly || n.Readonly
	f.Immutable = f.Immutable || n.Immutable
	f.Unfiltered |= n.Unfiltered
	f.Withheld |= n.Withheld
	f.SameRow = n.SameRow
	if n.Required != nil && !f.Primary {
		f.Required = *n.Required
	}
	if f.Readonly && !f.Primary {
		f.Required = false
	}
	if n.Length > 0 && n.Length < f.Length {
		f.Length = n.Length
		if example := []rune(f.Example); f.IsText() && len(example) > f.Length {
			f.Example = string(example[:f.Length])
		}
	}
	if n.Scale != nil && f.Scale > *n.Scale {
		f.Scale = *n.Scale
	}
	if n.OneOf != nil {
		f.OneOf = n.OneOf
	}
	if n.Default != nil {
		f.Default = *n.Default
	}
}

// index gives the fields their positions.
func (r *Resource) index() {
	clear(r.byName)
	for i, f := range Each(r.Fields) {
		f.Index = i
		r.byName[f.Name] = f
		if f.Primary {
			r.ID = i
		}
	}
	if r.byName[isSystem] == nil {
		return // a form does not have the common fields
	}
	r.IsSystem, r.IsBlocked, r.IsArchived = r.byName[isSystem].Index, r.byName[isBlocked].Index, r.byName[isArchived].Index
	r.CreatedAt, r.ModifiedAt = r.byName["created_at"].Index, r.byName["modified_at"].Index
}

// dropArrays removes the array fields whose elements no longer refer back.
func (r *Resource) dropArrays() {
	r.Fields = slices.DeleteFunc(r.Fields, func(f Field) bool {
		return f.ArrayOf != "" && r.model.byName[f.ArrayOf].byName[f.ArrayKey] == nil
	})
	r.index()
}

// keepRequirements removes the requirements of lists that cannot be met.
func (r *Resource) keepRequirements() {
	var met []string
	for _, name := range r.ListRequires {
		if f := r.byName[name]; f != nil && f.Filterable() {
			met = append(met, name)
		}
	}
	r.ListRequires = met
}
