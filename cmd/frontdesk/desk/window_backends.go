package desk

import (
	"cmp"
	"context"
	"html/template"
	"net/url"
	"slices"
	"strings"
	"time"

	"frontdesk/backend"
	"frontdesk/backend/follow"
	"frontdesk/cmd/frontdesk/instrument"
)

// backendsView is the page about the backend.
type backendsView struct {
	Driver    string                `json:"driver"`
	Store     string                `json:"store"`
	Version   string                `json:"version"`
	State     string                `json:"state"` // as in /readyz
	Span      string                `json:"span"`
	Parts     []backendPart         `json:"parts"` // parts with calls, or whose circuit is or was open
	Quiet     int                   `json:"without_calls"`
	Load      StatusLoad            `json:"load"`
	Queue     int                   `json:"queue"` // how many calls may wait
	Followed  []follow.Scan         `json:"followed,omitempty"`
	Copies    []backend.CopyState   `json:"copies,omitempty"`
	Looks     *bool                 `json:"looks,omitempty"` // whether it is this gateway that looks for changes
	Resource  string                `json:"resource,omitempty"`
	Slowest   []instrument.SlowCall `json:"slowest"`
	Resources []string              `json:"-"` // resources with slow calls
	Now       time.Time             `json:"-"`
}

// backendPart is what a circuit guards: the reads, or the writes, of a resource.
type backendPart struct {
	Name    string              `json:"name"`             // writes of order
	Circuit string              `json:"circuit"`          // "" where there is none
	Opened  *instrument.Opening `json:"opened,omitempty"` // the last opening
	Calls   uint32              `json:"calls"`
	Refused uint32              `json:"refused"` // not made: there was no room, or the circuit was open
	Failed  uint32              `json:"failed"`
	P50     time.Duration       `json:"p50_ns"` // the highest of the steps
	P95     time.Duration       `json:"p95_ns"`
	P99     time.Duration       `json:"p99_ns"`
	row     busyRow
}

func (p *backendPart) isOpen() bool { return p.Circuit != "" && p.Circuit != backend.CircuitClosed }

// Spark draws its calls as a small chart.
func (p backendPart) Spark() template.HTML { return p.row.Spark() }

// slowestShown is how many slow calls the page lists.
const slowestShown = 50

func (h *Desk) backendsOf(ctx context.Context, query map[string]string) backendsView {
	ctx, cancel := context.WithTimeout(ctx, healthTimeout)
	defer cancel()
	is := h.client.Capabilities()
	name, span := spanOf(query)
	v := backendsView{
		Driver: is.Name, Store: is.Store, Version: is.Version, State: HealthOK, Span: name, Parts: []backendPart{}, Load: h.load(), Queue: h.client.Queue(),
		Resource: query["resource"], Slowest: []instrument.SlowCall{}, Now: time.Now().In(h.config.Server.TimeZone.Location),
	}
	if h.client.Ready(ctx) != nil {
		v.State = healthUnavailable
	}
	v.parts(h, h.past.inSpan(ctx, span, false).View)
	if f := h.system.follower; f != nil {
		looks := f.Looks()
		v.Looks = &looks
		v.Followed, _ = f.Scans(ctx) // the page is the same without them
	}
	if copier, ok := h.system.driver.(backend.Copier); ok {
		v.Copies, _ = copier.Copies(ctx) // the page is the same without them
	}
	seen := map[string]bool{}
	for _, c := range h.metrics.SlowestCalls() {
		seen[c.Resource] = true
		if len(v.Slowest) < slowestShown && (v.Resource == "" || c.Resource == v.Resource) {
			v.Slowest = append(v.Slowest, c)
		}
	}
	delete(seen, "")
	for resource := range seen {
		v.Resources = append(v.Resources, resource)
	}
	slices.Sort(v.Resources)
	return v
}

// parts fills in Parts: first those whose circuit is not closed, then the busiest.
func (v *backendsView) parts(h *Desk, did *instrument.View) {
	parts := []backendPart{{Name: backend.AccountsLane}}
	for _, c := range h.client.Circuits() {
		parts = append(parts, backendPart{Name: c.String(), Circuit: c.State})
	}
	for _, p := range parts {
		s, _ := did.Of(instrument.Calls, p.Name)
		p.Calls, p.Refused, p.Failed, p.row, p.Opened = s.Sum.Requests, s.Sum.Refused, s.Sum.Failed, rowOfSeries(s), h.metrics.Opened(p.Name)
		if p.Calls == 0 && p.Opened == nil && !p.isOpen() {
			v.Quiet++
			continue
		}
		p.P50, p.P95, p.P99 = seconds(s.Sum.Percentiles[0]), seconds(s.Sum.Percentiles[1]), seconds(s.Sum.Percentiles[2])
		v.Parts = append(v.Parts, p)
	}
	slices.SortFunc(v.Parts, func(a, b backendPart) int {
		return cmp.Or(cmp.Compare(oneIf(b.isOpen()), oneIf(a.isOpen())), cmp.Compare(b.Calls, a.Calls), strings.Compare(a.Name, b.Name))
	})
}

// Link returns the address of the history of a part.
func (v backendsView) Link(p backendPart) string {
	return new(windowView).Link(backendKind, p.Name, v.Span)
}

// Only returns the address of the slowest calls of one resource, or of all if it is "".
func (v backendsView) Only(resource string) string { return v.link(v.Span, resource) + "#slowest" }

// In returns the address for another span.
func (v backendsView) In(span string) string { return v.link(span, v.Resource) }

func (v backendsView) link(span, resource string) string {
	q := url.Values{}
	if span != usualSpan {
		q.Set("span", span)
	}
	if resource != "" {
		q.Set("resource", resource)
	}
	if len(q) == 0 {
		return "/backends"
	}
	return "/backends?" + q.Encode()
}

// Clock formats a moment for the list.
func (v backendsView) Clock(t time.Time) string {
	return t.In(v.Now.Location()).Format("02 Jan 15:04:05 MST")
}

// firstOf returns the beginning of a statement or request, for a list.
func firstOf(request string) string {
	const most = 60
	if from := strings.Index(request, " FROM "); strings.HasPrefix(request, "SELECT ") && from > most/2 {
		request = "SELECT …" + request[from:]
	}
	switch {
	case request == "":
		return "the wait for a connection"
	case len(request) <= most:
		return request
	default:
		return strings.ToValidUTF8(request[:most], "") + " …"
	}
}
