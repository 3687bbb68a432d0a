package desk

import (
	"cmp"
	"context"
	"slices"
	"strconv"
	"strings"

	"frontdesk/cmd/frontdesk/instrument"
)

// refusalsView is the page of refusals and failures, of all gateways.
type refusalsView struct {
	filters
	All   []instrument.Refusal `json:"refusals"`
	Fault string               `json:"fault,omitempty"`
	Last  int                  `json:"-"` // how many refusals the list holds at most
	OfAll bool                 `json:"-"` // of all gateways
}

type refusalFacet struct {
	name string
	of   func(*instrument.Refusal) string
}

// refusalFacets are what refusals can be filtered by.
var refusalFacets = []refusalFacet{
	{"key", func(r *instrument.Refusal) string { return r.Key }}, {"client", func(r *instrument.Refusal) string { return r.Client }},
	{"endpoint", func(r *instrument.Refusal) string { return strings.TrimSpace(r.Method + " " + r.Endpoint) }},
	{"reason", causeOf}, {"status", func(r *instrument.Refusal) string { return strconv.Itoa(r.Status) }},
}

func causeOf(r *instrument.Refusal) string { return cmp.Or(r.Cause, r.Reason) }

// searched is the filter by a part of a refusal's request_id, key, client, user, address, reason,
// or path with the ID.
const searched = "search"

func isFound(r *instrument.Refusal, text string) bool {
	all := strings.Join([]string{r.ID, r.Key, r.Client, r.User, r.Method + " " + r.Path(), r.Endpoint, r.Reason, r.Cause, r.Address}, "\n")
	return strings.Contains(strings.ToLower(all), strings.ToLower(strings.TrimSpace(text)))
}

func (p *past) refusalsOf(ctx context.Context, query map[string]string) refusalsView {
	names := []string{searched}
	for _, f := range refusalFacets {
		names = append(names, f.name)
	}
	v := refusalsView{filters: p.filtersOf("/refusals", query, names...), Last: instrument.MostRefusals, All: []instrument.Refusal{}}
	did := p.inSpan(ctx, instrument.Spans[noticeSpan], p.others != nil)
	v.Fault, v.OfAll = did.Fault, len(did.Gateways) > 1
	for _, r := range did.Refusals {
		is := !slices.ContainsFunc(refusalFacets, func(f refusalFacet) bool { return v.set.Has(f.name) && f.of(&r) != v.set.Get(f.name) })
		if is && isFound(&r, v.set.Get(searched)) && len(v.All) < v.Last {
			v.All = append(v.All, r)
		}
	}
	return v
}
