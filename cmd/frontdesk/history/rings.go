package history

import (
	"encoding/binary"
	"time"
)

// A ring is the same figures of everything together, for other gateways: bytes in which each step
// has a place of its own, by its number modulo how many there are. It is written a few places at
// a time; a place has the number of its step, so that one that is left from before is known.

// placeSize is the bytes of a place: the step's number, a Point and its Levels.
const placeSize = 4 + 4*4 + 2*len(Times{}) + 4*int(gaugeKinds)

// Places are neighbouring ones of a ring.
type Places struct {
	At    int // offset of the first, in bytes
	Bytes []byte
}

// Places returns what the steps of a span's ring have from a moment on, and nothing of those in
// which nothing happened.
func (h *History) Places(span Span, from time.Time) (all []Places) {
	series, levels := h.Window(span)
	size := int64(span.Step / time.Second)
	first, count := series.At.Unix()/size, len(series.Points)
	next := -1
	for i, p := range series.Points {
		number := first + int64(i)
		if number < from.Unix()/size || p == (Point{}) && levels[i] == (Levels{}) {
			continue
		}
		at := int(number % int64(count))
		if at != next || at == 0 {
			all = append(all, Places{At: at * placeSize})
		}
		next = at + 1
		last := &all[len(all)-1]
		last.Bytes = appendPlace(last.Bytes, number, p, levels[i])
	}
	return all
}

func appendPlace(b []byte, number int64, p Point, l Levels) []byte {
	for _, n := range [...]uint32{uint32(number), p.Requests, p.Refused, p.Failed, p.Sent} { // #nosec G115 -- a step's number since 1970
		b = binary.LittleEndian.AppendUint32(b, n)
	}
	b = append(append(b, p.Took[:]...), p.Backend[:]...)
	for _, n := range l {
		b = binary.LittleEndian.AppendUint32(b, n)
	}
	return b
}

// Join adds the ring of another gateway to a series and its levels, which are of the whole span.
// It returns what that adds. A percentile is that of the slowest gateway.
func (s *Series) Join(levels []Levels, ring []byte) (added Point) {
	size := int64(s.Step / time.Second)
	first := s.At.Unix() / size
	for ; len(ring) >= placeSize; ring = ring[placeSize:] {
		word := func(i int) uint32 { return binary.LittleEndian.Uint32(ring[i:]) }
		at := int64(word(0)) - first
		if at < 0 || at >= int64(len(s.Points)) {
			continue
		}
		p := Point{Requests: word(4), Refused: word(8), Failed: word(12), Sent: word(16)}
		added.plus(p)
		into := &s.Points[at]
		into.plus(p)
		for i := range into.Took {
			into.Took[i], into.Backend[i] = max(into.Took[i], ring[20+i]), max(into.Backend[i], ring[20+len(into.Took)+i])
		}
		for g := range Gauge(gaugeKinds) {
			n := word(placeSize - 4*int(gaugeKinds-g))
			if g == Due || g == Failing { // of a table that all gateways share
				levels[at][g] = max(levels[at][g], n)
			} else {
				levels[at][g] += n
			}
		}
	}
	return added
}

// RingOf is the span whose ring has the steps of another: all that are kept of that length.
func RingOf(span Span) Span {
	if span.Step == Short {
		return Span{Short, shortSteps}
	}
	return Span{Long, longSteps}
}
