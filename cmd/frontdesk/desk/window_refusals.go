package desk

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"frontdesk/cmd/frontdesk/history"
)

// refusalsView is the page of refusals and failures.
type refusalsView struct {
	filters
	All  []history.Refusal `json:"refusals"`
	Last int               `json:"-"` // how many the list has at most
}

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

func (p *past) refusalsOf(query map[string]string) refusalsView {
	var names []string
	for _, m := range refusalMembers {
		names = append(names, m.name)
	}
	v := refusalsView{filters: p.filtersOf("/refusals", query, names...), Last: history.MostRefusals, All: []history.Refusal{}}
	v.All = append(v.All, p.History.Refusals(func(r *history.Refusal) bool {
		return !slices.ContainsFunc(refusalMembers, func(m refusalFacet) bool { return v.set.Has(m.name) && m.of(r) != v.set.Get(m.name) })
	})...)
	return v
}
