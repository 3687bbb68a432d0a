package desk

import (
	"maps"
	"net/url"
	"time"
)

// filters are the filters of a list that the address of its page sets.
type filters struct {
	path  string
	names []string // the filters that the list has
	set   url.Values
	zone  *time.Location
}

// setFilter is a filter that is set, and the address without it.
type setFilter struct{ Name, Value, Without string }

// onlyView is a value in a list, and the address of the rows that have it.
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

// Filters returns the filters that are set.
func (f filters) Filters() (all []setFilter) {
	for _, name := range f.names {
		if f.set.Has(name) {
			all = append(all, setFilter{name, f.set.Get(name), f.address(func(q url.Values) { q.Del(name) })})
		}
	}
	return all
}

// address returns the address of the list after a change of its filters.
func (f filters) address(change func(url.Values)) string {
	q := maps.Clone(f.set)
	if change(q); len(q) == 0 {
		return f.path
	}
	return f.path + "?" + q.Encode()
}

// More returns the address with one more filter.
func (f filters) More(name, value string) string {
	return f.address(func(q url.Values) { q.Set(name, value) })
}

// Only returns a value with the address of the rows that have it.
func (f filters) Only(name, value string) onlyView { return onlyView{value, f.More(name, value)} }

// Minute formats a moment to the minute.
func (f filters) Minute(t time.Time) string { return t.In(f.zone).Format("02 Jan 15:04 MST") }

// Clock formats a moment to the second.
func (f filters) Clock(t time.Time) string { return t.In(f.zone).Format("02 Jan 15:04:05 MST") }
