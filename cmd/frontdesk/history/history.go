package history

import (
	"cmp"
	"crypto/rand"
	"slices"
	"sync"
	"time"

	"frontdesk/gateway"
)

// Steps of the two windows that are kept.
const (
	Short      = 10 * time.Second
	Long       = time.Minute
	shortSteps = int(2 * time.Hour / Short)
	longSteps  = int(24 * time.Hour / Long)
)

// Kind is what a series is of.
type Kind int

// The kinds of series. Of All there is one, without a name.
const (
	All Kind = iota
	Endpoint
	Key
	Client
	Reason
	Calls // of the backend, by what their circuit guards
	kinds
)

// Name is the name of a series: of an endpoint its method and template, else one word.
type Name struct{ Method, Word string }

func (n Name) String() string {
	if n.Method == "" {
		return n.Word
	}
	return n.Method + " " + n.Word
}

// mostKept is how many series there are of each kind; the rest is summed.
const mostKept = 25

// nearby is how many series of each kind are found without a look into a map.
const nearby = 64

// mostNamed bounds how many names that have no series of their own are counted in a minute.
const mostNamed = 1024

// History is safe for concurrent use.
type History struct {
	mu       sync.Mutex
	all      *series
	rest     [kinds]*series // of names without a series; of All there is none
	known    [kinds]map[Name]*series
	near     [kinds][nearby]*series // some of known, so that few requests need look them up
	others   [kinds]map[Name]uint32 // their requests in this minute
	step     int64                  // of ten seconds since 1970, that is under way
	behind   int64                  // the step that the clock was set back to; 0 where it was not
	tied     tied
	refusals refusals
	gauges   gauges
	marks    []Mark
	clock    func() time.Time
	id       string
}

// New returns a history that begins now.
func New(clock func() time.Time) *History {
	h := &History{all: new(series), clock: clock, id: rand.Text()[:idLength]}
	for k := Endpoint; k < kinds; k++ {
		h.rest[k], h.known[k], h.others[k] = new(series), map[Name]*series{}, map[Name]uint32{}
	}
	began := clock()
	h.step = stepOf(began)
	h.tied = tied{keys: map[string]*ties{}, since: began.Unix()}
	return h
}

func stepOf(t time.Time) int64 { return t.Unix() / int64(Short/time.Second) }

// Note implements gateway.Historian.
func (h *History) Note(r gateway.Answer) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.advance(stepOf(r.At))
	h.all.note(&r)
	var endpoint, client *series
	if r.Endpoint != "" {
		endpoint = h.of(Endpoint, Name{r.Method, r.Endpoint})
		endpoint.note(&r)
	}
	if r.Key != "" {
		h.of(Key, Name{Word: r.Key}).note(&r)
	}
	if r.Client != "" {
		client = h.of(Client, Name{Word: r.Client})
		client.note(&r)
	}
	h.noteTies(&r, client, endpoint)
	if r.Reason != "" {
		h.of(Reason, Name{Word: cmp.Or(r.Cause, r.Reason)}).note(&r)
		h.refusals.add(&r)
	}
}

// NoteCall notes a call of the backend by the name of what its circuit guards. It is of the step
// under way, so that it need not look at the clock; whoever made it is answered soon.
func (h *History) NoteCall(name string, took time.Duration, fate Fate) {
	h.mu.Lock()
	defer h.mu.Unlock()
	w := &h.of(Calls, Name{Word: name}).now
	w.count(fate)
	w.took.add(took)
}

// Fate is how a request, or a call, ended.
type Fate int

// The fates: refused are requests with 4xx, and calls that were not made since there was no room
// or the circuit was open.
const (
	Good Fate = iota
	Refused
	Failed
)

func (w *window) count(f Fate) {
	w.point.Requests++
	switch f {
	case Refused:
		w.point.Refused++
	case Failed:
		w.point.Failed++
	}
}

func fateOf(status int) Fate {
	switch {
	case status >= 500:
		return Failed
	case status >= 400:
		return Refused
	default:
		return Good
	}
}

func (s *series) note(r *gateway.Answer) {
	w := &s.now
	w.count(fateOf(r.Status))
	w.sent += uint64(max(r.Sent, 0))
	w.took.add(r.Took)
	if r.Backend > 0 {
		w.backend.add(r.Backend)
	}
}

// nearby is the place in near.
func (n Name) nearby() int {
	last := byte(0)
	if n.Word != "" {
		last = n.Word[len(n.Word)-1]
	}
	return (len(n.Method) + 5*len(n.Word) + int(last)) % nearby
}

// of is the series that a name counts in: its own, or that of the rest.
func (h *History) of(k Kind, n Name) *series {
	near := &h.near[k][n.nearby()]
	if s := *near; s != nil && s.name == n {
		return s
	}
	s := h.known[k][n]
	switch {
	case s != nil:
		*near = s
		return s
	case len(h.known[k]) < mostKept:
		s = &series{name: n, ties: ties{since: h.clock().Unix()}}
		h.known[k][n] = s
		return s
	}
	if counted, there := h.others[k][n]; there || len(h.others[k]) < mostNamed {
		h.others[k][n] = counted + 1
	}
	return h.rest[k]
}

const perMinute = int64(Long / Short)

// advance closes the steps before one. A clock that was set back goes on in the step that it
// was in for a minute, and is then believed.
func (h *History) advance(step int64) {
	switch {
	case step < h.step && (h.behind == 0 || step < h.behind):
		h.behind = step
		return
	case step < h.step && step-h.behind >= perMinute:
		h.goBack(step)
		return
	case step < h.step:
		return
	}
	h.behind = 0
	if step == h.step {
		return
	}
	h.each(func(s *series) {
		minute := h.step / perMinute
		s.minute.merge(&s.now)
		open := &s.short[h.step%int64(shortSteps)]
		*open = s.now.close().with(*open)
		for at := max(h.step+1, step-int64(shortSteps)); at < step; at++ {
			s.short[at%int64(shortSteps)] = Point{}
		}
		s.short[step%int64(shortSteps)] = Point{}
		if next := step / perMinute; next > minute {
			requests := s.minute.point.Requests
			s.recent = s.recent*fading + float64(requests)
			open := &s.long[minute%int64(longSteps)]
			*open = s.minute.close().with(*open)
			for at := max(minute+1, next-int64(longSteps)); at <= next; at++ {
				s.long[at%int64(longSteps)] = Point{}
			}
		}
	})
	h.gauges.advance(h.step, step)
	changed := step/perMinute > h.step/perMinute
	h.step = step
	if changed {
		h.promote()
	}
}

// goBack goes on in a step before, since the clock was ahead. What is counted in the steps between
// is dropped, but for what is under way.
func (h *History) goBack(step int64) {
	h.each(func(s *series) {
		drop(s.short[:], step, h.step)
		drop(s.long[:], step/perMinute, h.step/perMinute)
	})
	drop(h.gauges.short[:], step, h.step)
	drop(h.gauges.long[:], step/perMinute, h.step/perMinute)
	h.step, h.behind = step, 0
}

// drop empties the places of the steps after one, up to another.
func drop[T any](ring []T, after, to int64) {
	n := int64(len(ring))
	for at := after + 1; at <= min(to, after+n); at++ {
		ring[at%n] = *new(T)
	}
}

// fading is what a request counts less for being busy with each minute: half in a quarter of
// an hour.
const fading = 0.955

func (h *History) each(f func(*series)) {
	f(h.all)
	for k := Endpoint; k < kinds; k++ {
		f(h.rest[k])
		for _, s := range h.known[k] {
			f(s)
		}
	}
}

// promote gives the busiest name without a series the place of the least busy one that has
// one, whose points go to the rest: one a minute of each kind, and only if it is clearly
// busier, so that two do not take turns.
func (h *History) promote() {
	for k := Endpoint; k < kinds; k++ {
		busiest, most := Name{}, uint32(0)
		for n, requests := range h.others[k] {
			if requests > most {
				busiest, most = n, requests
			}
		}
		clear(h.others[k])
		var least *series
		for _, s := range h.known[k] {
			if least == nil || s.recent < least.recent {
				least = s
			}
		}
		if least == nil || float64(most) <= 2*least.recent {
			continue
		}
		h.rest[k].add(least)
		delete(h.known[k], least.name)
		h.near[k] = [nearby]*series{}
		h.known[k][busiest] = &series{name: busiest, recent: float64(most), ties: ties{since: h.clock().Unix()}}
	}
}

// Span is a part of the history.
type Span struct {
	Step   time.Duration // of one point
	Points int
}

// Spans are the windows that pages offer, by the name in their address.
var Spans = map[string]Span{
	"10m": {Short, 60}, "30m": {Short, 180}, "2h": {Short, shortSteps}, "6h": {Long, 360}, "24h": {Long, longSteps},
}

// Series are the points of a span, oldest first, the last one still under way. At is when the
// first began.
type Series struct {
	Name   Name
	At     time.Time
	Step   time.Duration
	Points []Point
}

// Sum is how many requests the points have, and how many of them were refused and failed.
func (s Series) Sum() (sum Point) {
	for _, p := range s.Points {
		sum.plus(p)
	}
	return sum
}

// Of returns one series; false where there is none of that name.
func (h *History) Of(k Kind, n Name, span Span) (Series, bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.advance(stepOf(h.clock()))
	s := h.all
	if k != All {
		if s = h.known[k][n]; s == nil {
			return Series{}, false
		}
	}
	return h.read(s, span), true
}

// Busiest returns the series of a kind that had requests in a span, most first, and what the
// names without one had together.
func (h *History) Busiest(k Kind, span Span) (all []Series, rest Series) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.advance(stepOf(h.clock()))
	requests := map[Name]uint32{}
	for n, s := range h.known[k] {
		read := h.read(s, span)
		if requests[n] = read.Sum().Requests; requests[n] > 0 {
			all = append(all, read)
		}
	}
	slices.SortFunc(all, func(a, b Series) int {
		return cmp.Or(cmp.Compare(requests[b.Name], requests[a.Name]), cmp.Compare(a.Name.String(), b.Name.String()))
	})
	return all, h.read(h.rest[k], span)
}

// read copies the points of a span.
func (h *History) read(s *series, span Span) Series {
	now, points := h.step, s.short[:]
	open := s.now
	if span.Step == Long {
		now, points = h.step/int64(Long/Short), s.long[:]
		open.merge(&s.minute)
	}
	n := min(span.Points, len(points))
	first := now - int64(n) + 1
	r := Series{Name: s.name, At: time.Unix(first*int64(span.Step/time.Second), 0), Step: span.Step, Points: make([]Point, n)}
	for i := range r.Points {
		r.Points[i] = points[(first+int64(i))%int64(len(points))]
	}
	r.Points[n-1] = open.close().with(r.Points[n-1])
	return r
}

const idLength = 6

// ID tells this history from any other: it is drawn when it begins, and kept over a restart
// with it.
func (h *History) ID() string { return h.id }
