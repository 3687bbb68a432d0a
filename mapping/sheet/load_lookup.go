package sheet

import (
	"maps"
	"slices"
	"strings"

	"frontdesk/config/strictyaml"
)

// lookup compiles what is found in another table.
func (d *draft) lookup(at string, f *lookupFile) *Lookup {
	l := &Lookup{Table: f.Table, Take: f.Take, Write: f.Write, Delete: f.Delete}
	by := map[string]bool{}
	for _, m := range f.Match {
		if d.isPlace(strictyaml.Child(at, "match"), m.Value) {
			l.Match = append(l.Match, [2]string{m.Key, m.Value})
			by[m.Value] = true
		}
	}
	own := slices.Clone(d.resource.Key.Places)
	others := slices.DeleteFunc(slices.Collect(maps.Keys(by)), func(place string) bool { return slices.Contains(own, place) || place == d.resource.Client })
	switch {
	case l.Table == "" || l.Take == "" || len(l.Match) == 0:
		d.fail(at, "expected table, match and take")
	case l.Delete && !l.Write:
		d.fail(strictyaml.Child(at, "delete"), "found without write, so that the row may belong to several records: expected write: true too")
	case l.Delete && len(d.file.SoftDelete) > 0:
		d.fail(strictyaml.Child(at, "delete"), "found with soft_delete, by which the record stays: expected none")
	case l.Write && (len(others) > 0 || slices.ContainsFunc(own, func(place string) bool { return !by[place] })):
		d.fail(strictyaml.Child(at, "match"), "%s of %s is to be written, in a row that other records may have too: expected to match the key of the record, %s, and nothing else", l.Take, l.Table, strings.Join(own, ", "))
	case l.Write && slices.ContainsFunc(l.Match, func(m [2]string) bool { return m[0] == l.Take }):
		d.fail(strictyaml.Child(at, "take"), "found %s, by which the row is found: expected another column", l.Take)
	}
	for _, p := range d.resource.Places {
		if o := p.Lookup; l.Write && o != nil && o.Write && l.Table == o.Table && l.Take == o.Take {
			d.fail(at, "%s of %s is written by %s already, expected one field for each column", l.Take, l.Table, strings.TrimPrefix(p.Name, "lookup."))
		}
	}
	return l
}

// computed is a field that the database computes.
func (d *draft) computed(path string, out *Field, p Place) {
	if !d.sql() {
		d.fail(path, "found without a database, expected cel")
		return
	}
	out.From = []string{p.Name}
	out.fromAt = []int{d.placeOf(p)}
	out.source = fromPlace
	d.asReference(path, out)
}
