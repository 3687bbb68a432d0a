package instrument

import (
	"cmp"
	"slices"
	"time"
)

// Span is a part of the history.
type Span struct {
	Step   time.Duration // the time between two points
	Points int
}

// Spans are the spans that pages offer, by the name in their address.
var Spans = map[string]Span{
	"10m": {Short, 60}, "30m": {Short, shortSteps}, "2h": {Long, 120}, "6h": {Long, 360}, "24h": {Long, longSteps},
}

// Since returns when a span begins that ends with the step under way.
func (s Span) Since(now time.Time) time.Time {
	step := int64(s.Step / time.Second)
	return time.Unix((now.Unix()/step-int64(s.Points)+1)*step, 0)
}

// View is the history of a span, of one gateway or of several together.
type View struct {
	At     time.Time // when the first point began; the last one is still under way
	Step   time.Duration
	Levels []Levels
	series map[name]*Series
	points int
}

// Series are the points of one name, oldest first.
type Series struct {
	Name   string
	Points []Entry
	Sum    Entry
}

// NewView returns a view of nothing yet.
func NewView(span Span, now time.Time) *View {
	return &View{At: span.Since(now), Step: span.Step, Levels: make([]Levels, span.Points), series: map[name]*Series{}, points: span.Points}
}

// Add adds the steps of a gateway, and returns their sum. Levels of gateways are added up, except those of
// callbacks, which gateways share.
func (v *View) Add(steps []Step) (sum Entry) {
	levels := make([]Levels, v.points)
	for _, s := range steps {
		at := int((time.Unix(s.At, 0).Sub(v.At)) / v.Step)
		if s.At < v.At.Unix() || at >= v.points {
			continue
		}
		levels[at].most(s.Levels)
		for k := range s.Entries {
			e := &s.Entries[k]
			of := v.of(e.Kind, e.Name)
			of.Points[at].add(e)
			of.Sum.add(e)
			if e.Kind == All {
				sum.add(e)
			}
		}
	}
	for at, own := range levels {
		shared := Levels{Due: own[Due], Failing: own[Failing]}
		for l, n := range own {
			if shared[l] == 0 {
				v.Levels[at][l] += n
			}
		}
		v.Levels[at].most(shared)
	}
	return sum
}

func (v *View) of(kind Kind, word string) *Series {
	n := name{kind, word}
	if v.series[n] == nil {
		v.series[n] = &Series{Name: word, Points: make([]Entry, v.points)}
	}
	return v.series[n]
}

// Of returns the series of a name; false if nothing of it was counted.
func (v *View) Of(kind Kind, word string) (s *Series, ok bool) {
	s, ok = v.series[name{kind, word}]
	if !ok {
		s = &Series{Name: word, Points: make([]Entry, v.points)}
	}
	return s, ok
}

// Busiest returns the series of a kind, most requests first, and the sum of those without a name.
func (v *View) Busiest(kind Kind) (all []*Series, rest Entry) {
	for n, s := range v.series {
		switch {
		case n.kind != kind:
		case n.word == "":
			rest = s.Sum
		default:
			all = append(all, s)
		}
	}
	slices.SortFunc(all, func(a, b *Series) int {
		return cmp.Or(cmp.Compare(b.Sum.Requests, a.Sum.Requests), cmp.Compare(a.Name, b.Name))
	})
	return all, rest
}
