package desk

import (
	"maps"
	"net/url"
	"time"
)

// filters are those of a list that are set in the address of its page.
type filters struct {
	path  string
	names []string // of those there are
	set   url.Values
	zone  *time.Location
}

// setFilter is one that is set, and the address without it.
type setFilter struct{ Name, Value, Without string }

// onlyView is a value of a list, and the address of those that have it.
type onlyView struct{ Value, Link string }

func (p *past) filtersOf(path string, query map[string]string, names ...string) filters {
	f := filters{path: path, names: names, set: url.Values{}, zone: p.of.config.Server.TimeZone.Location}
	for _, name := range names {
		if value, ok := query[name]; ok {
			f.set.Set(name, value)
		}
	}
	return f
}

// Filters are those that are set.
func (f filters) Filters() (all []setFilter) {
	for _, name := range f.names {
		if f.set.Has(name) {
			all = append(all, setFilter{name, f.set.Get(name), f.address(func(q url.Values) { q.Del(name) })})
		}
	}
	return all
}

// address is that of the list after a change of the filters that are set.
func (f filters) address(change func(url.Values)) string {
	q := maps.Clone(f.set)
	if change(q); len(q) == 0 {
		return f.path
	}
	return f.path + "?" + q.Encode()
}

// More is the address with one filter more.
func (f filters) More(name, value string) string {
	return f.address(func(q url.Values) { q.Set(name, value) })
}

// Only is a value as the list shows it, which leads to those that have it.
func (f filters) Only(name, value string) onlyView { return onlyView{value, f.More(name, value)} }

// Minute is a moment that is told roughly.
func (f filters) Minute(t time.Time) string { return t.In(f.zone).Format("02 Jan 15:04 MST") }

// Clock is a moment as the list shows it.
func (f filters) Clock(t time.Time) string { return t.In(f.zone).Format("02 Jan 15:04:05 MST") }
