package draft

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"frontdesk/mapping"
)

// sharedList is a code list that several fields have.
type sharedList struct {
	name    string
	entries []code
	blank   bool // the empty text is null
	flag    bool // yes and no
	fields  map[*mapping.Field]bool
	apart   bool // the same code means different things
}

// share returns a code list, or its name where other fields with the same values
// have it too: several columns that hold the same thing are written alike.
func (d *drafter) share(f *mapping.Field, list []code, blank bool) string {
	own := codeList(list, blank)
	if len(f.OneOf) < 3 || d.unshared {
		return own
	}
	key := strings.Join(f.OneOf, " ")
	s := d.shared[key]
	if s == nil {
		s = &sharedList{name: strings.TrimSuffix(strings.TrimSuffix(f.Name, "_type"), "_kind"), fields: map[*mapping.Field]bool{}}
		d.shared[key] = s
	}
	for _, k := range list {
		at := slices.IndexFunc(s.entries, func(e code) bool { return e.from == k.from })
		if at < 0 {
			s.entries = append(s.entries, k)
		} else if s.entries[at].to != k.to {
			s.apart = true
		}
	}
	s.fields[f], s.blank = true, s.blank || blank
	if len(s.fields) < 2 || s.apart {
		return own
	}
	return s.name
}

// shareFlag returns the name of a list of yes and no.
func (d *drafter) shareFlag(list []code) string {
	key := codeList(list, false)
	if d.shared[key] == nil {
		name := "yesno"
		for n := 2; slices.ContainsFunc(slices.Collect(maps.Values(d.shared)), func(s *sharedList) bool { return s.name == name }); n++ {
			name = fmt.Sprintf("yesno%d", n)
		}
		d.shared[key] = &sharedList{name: name, entries: list, flag: true}
	}
	return d.shared[key].name
}

// lists are the shared lists that are used, by name.
func (d *drafter) lists() map[string]string {
	all := map[string]string{}
	for _, s := range d.shared {
		if s.flag || len(s.fields) > 1 && !s.apart {
			all[s.name] = codeList(s.entries, s.blank)
		}
	}
	return all
}
