package desk

import (
	"cmp"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"frontdesk/cmd/frontdesk/history"
)

// refusalsView is the page of refusals and failures.
type refusalsView struct {
	Filters []refusalFilter   `json:"-"`
	All     []history.Refusal `json:"refusals"`
	Last    int               `json:"-"` // how many the list has at most
	zone    *time.Location
}

// refusalFilter is one that is set, and the address without it.
type refusalFilter struct{ Name, Value, Without string }

type refusalFacet struct {
	name string
	of   func(*history.Refusal) string
}

// refusalMembers are what refusals can be filtered by.
var refusalMembers = []refusalFacet{
	{"key", func(r *history.Refusal) string { return r.Key }}, {"client", func(r *history.Refusal) string { return r.Client }},
	{"endpoint", func(r *history.Refusal) string { return strings.TrimSpace(r.Method + " " + r.Endpoint) }},
	{"reason", func(r *history.Refusal) string { return cmp.Or(r.Cause, r.Reason) }}, {"status", func(r *history.Refusal) string { return strconv.Itoa(r.Status) }},
}

func refusalMember(name string, r *history.Refusal) string {
	return refusalMembers[slices.IndexFunc(refusalMembers, func(m refusalFacet) bool { return m.name == name })].of(r)
}

func (p *past) refusalsOf(query url.Values) refusalsView {
	v := refusalsView{Last: 1000, All: []history.Refusal{}, zone: p.of.config.Server.TimeZone.Location}
	for _, m := range refusalMembers {
		if query.Has(m.name) {
			without := url.Values{}
			for _, other := range refusalMembers {
				if other.name != m.name && query.Has(other.name) {
					without.Set(other.name, query.Get(other.name))
				}
			}
			v.Filters = append(v.Filters, refusalFilter{m.name, query.Get(m.name), "/refusals?" + without.Encode()})
		}
	}
	v.All = append(v.All, p.History.Refusals(func(r *history.Refusal) bool {
		return !slices.ContainsFunc(refusalMembers, func(m refusalFacet) bool { return query.Has(m.name) && m.of(r) != query.Get(m.name) })
	})...)
	return v
}

// More is the address with one filter more.
func (v refusalsView) More(name, value string) string {
	q := url.Values{name: {value}}
	for _, f := range v.Filters {
		if f.Name != name {
			q.Set(f.Name, f.Value)
		}
	}
	return "/refusals?" + q.Encode()
}

// Clock is a moment as the list shows it.
func (v refusalsView) Clock(t time.Time) string { return t.In(v.zone).Format("02 Jan 15:04:05") }
