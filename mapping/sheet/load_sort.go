package sheet

import (
	"maps"
	"slices"
	"strings"

	"frontdesk/config/strictyaml"
	"frontdesk/mapping"
)

// Sorting says how a service is asked for the order of a list.
type Sorting struct {
	Join string
	by   map[string][2]string // upwards and downwards, by field
}

// By returns the words for the order by a field; false if the service cannot sort by it.
func (s *Sorting) By(f *mapping.Field, descending bool) (text string, ok bool) {
	both, ok := s.by[f.Name]
	if descending {
		return both[1], ok
	}
	return both[0], ok
}

// Fields are the names of those that the service can sort by.
func (s *Sorting) Fields() []string { return slices.Sorted(maps.Keys(s.by)) }

// sorting compiles what {sort} stands for in a list.
func (d *draft) sorting(at string, f *sortFile) *Sorting {
	s := &Sorting{Join: f.Join, by: map[string][2]string{}}
	if s.Join == "" {
		s.Join = ","
	}
	d.sorted = map[string]bool{}
	by := strictyaml.Child(at, "by")
	switch {
	case len(f.By) == 0:
		d.fail(at, "by is missing, expected what the service is told for each field: {id: [id, -id]}")
	case f.By["id"] == nil && !d.doc.Broken(by):
		d.fail(by, "id is missing, expected how the service lists by itself: without it records with the same value may be on two pages, or on none")
	}
	known := append([]string{"id"}, d.mapped()...)
	for _, name := range slices.Sorted(maps.Keys(f.By)) {
		path := strictyaml.Child(by, name)
		if !slices.Contains(known, name) {
			d.unknown(path, "mapped field", name, known)
			continue
		}
		d.sorted[name] = true
		s.by[name] = d.both(path, f.By[name])
		if i := slices.IndexFunc(d.drafted, func(f *Field) bool { return f.Name == name }); i >= 0 {
			d.judgeSorted(path, d.drafted[i])
		}
	}
	return s
}

// both are the words for a field, ascending and descending.
func (d *draft) both(path string, said []string) (both [2]string) {
	switch {
	case len(said) != 2 || said[0] == "" || said[1] == "":
		d.fail(path, "found %s, expected two: what the service is told upwards, and downwards", count(len(said), "text"))
		return both
	case said[0] == said[1]:
		d.fail(path, "found the same upwards and downwards, expected two orders")
	}
	for i, text := range said {
		if one := path + "[" + itoa(i) + "]"; strings.ContainsAny(text, "{}") {
			d.fail(one, "found %s, where nothing is filled in: expected the service's own words", d.found(one, text))
		}
	}
	return [2]string(said)
}

// judgeSorted requires that the service's order is the order of the values that clients see.
func (d *draft) judgeSorted(path string, f *Field) {
	switch {
	case f.source != fromPlace && f.source != fromReference:
		d.fail(path, "%s is none of the service's own values, which it could sort by: expected a field with from", f.Name)
	case f.source == fromPlace && !f.isInOrder():
		d.fail(path, "the codes of %s are in another order than what they stand for, and the service would sort by the codes: expected no sort by it", f.Name)
	case f.source == fromPlace && !f.sortable():
		d.fail(path, "what the service has of %s is in another order than what clients see, and it would sort by its own: expected no sort by it", f.Name)
	}
}

// isInOrder tells whether a service that sorts by what it has sorts by the field's values. Nulls,
// of which an empty text may be one, come as it has them.
func (f *Field) isInOrder() bool {
	cs := f.codec.codes
	return cs == nil || cs.unknown == "keep" || f.codec.unlistedZeros() == nil && cs.inOrder()
}

// unlistedZeros are the values that zero says are null, but for those that the list of codes has.
func (c *codec) unlistedZeros() (all []Raw) {
	for _, z := range c.zero {
		if _, known := c.codes.read[z]; !known {
			all = append(all, c.typed(z))
		}
	}
	return all
}
