package history

import (
	"math"
	"math/bits"
	"time"
)

// Point is what happened in one step.
type Point struct {
	Requests uint32 // that were answered
	Refused  uint32 // as Refused, the Fate
	Failed   uint32
	Sent     uint32 // KiB of answers
	Took     Times  // of whole requests
	Backend  Times  // of those that asked the backend
}

// Times are the median, the 95th and the 99th percentile of durations, each as the bucket
// that it fell into.
type Times [3]uint8

// Percentiles are those that Times has, in its order.
var Percentiles = [...]int{50, 95, 99}

// Of returns one of Times, rounded up by at most an eighth; 0 where nothing was timed.
func (t Times) Of(percentile int) time.Duration {
	for i, p := range Percentiles {
		if p == percentile {
			return bucketEnd(t[i])
		}
	}
	return 0
}

// Durations are counted in buckets, eight to each doubling from 8 µs on.
const (
	buckets   = 200 // up to two minutes
	perDouble = 8
)

// bucketOf is the bucket of a duration. Bucket 0 is for none.
func bucketOf(d time.Duration) uint8 {
	micros := uint64(max(d, 0) / time.Microsecond)
	if micros < perDouble {
		return uint8(micros) + 1
	}
	doubles := bits.Len64(micros) - bits.Len64(perDouble)
	at := uint64(doubles)*perDouble + micros>>doubles + 1
	return uint8(min(at, buckets-1))
}

// bucketEnd is the first duration behind a bucket.
func bucketEnd(b uint8) time.Duration {
	if b == 0 {
		return 0
	}
	n := uint64(b) // the number of the bucket behind it, counted from 0
	if n < 2*perDouble {
		return time.Duration(n) * time.Microsecond
	}
	doubles := n/perDouble - 1
	return time.Duration((n%perDouble+perDouble)<<doubles) * time.Microsecond
}

// counts are how many durations each bucket has.
type counts struct {
	n  uint32
	of [buckets]uint32
}

func (c *counts) add(d time.Duration) {
	c.n++
	c.of[bucketOf(d)]++
}

func (c *counts) merge(other *counts) {
	if other.n == 0 {
		return
	}
	c.n += other.n
	for i, n := range other.of {
		c.of[i] += n
	}
}

// times are the percentiles by nearest rank.
func (c *counts) times() (t Times) {
	if c.n == 0 {
		return t
	}
	place, below := 0, uint32(0)
	for b, n := range c.of {
		below += n
		for place < len(Percentiles) && below >= uint32(math.Ceil(float64(c.n)*float64(Percentiles[place])/100)) {
			t[place] = uint8(b)
			place++
		}
	}
	return t
}

// window is what a series counts in the step that is under way.
type window struct {
	point         Point
	sent          uint64 // bytes
	took, backend counts
}

func (w *window) merge(other *window) {
	w.point.Requests += other.point.Requests
	w.point.Refused += other.point.Refused
	w.point.Failed += other.point.Failed
	w.sent += other.sent
	w.took.merge(&other.took)
	w.backend.merge(&other.backend)
}

// close returns the point of a window and empties it.
func (w *window) close() Point {
	if w.point.Requests == 0 {
		return Point{}
	}
	p := w.point
	p.Sent = uint32(min(w.sent>>10, math.MaxUint32))
	p.Took, p.Backend = w.took.times(), w.backend.times()
	*w = window{}
	return p
}

// series are the points of one endpoint, key, client, reason or part of the backend, or of everything. A point is
// kept at the number of its step since 1970, modulo how many there are.
type series struct {
	name   Name
	ties   ties
	now    window // this step of ten seconds
	minute window // of this minute the steps before
	recent float64
	short  [shortSteps]Point
	long   [longSteps]Point
}

// add adds another series' points, whose percentiles are lost.
func (s *series) add(other *series) {
	s.now.merge(&other.now)
	s.minute.merge(&other.minute)
	for i := range other.short {
		s.short[i].plus(other.short[i])
	}
	for i := range other.long {
		s.long[i].plus(other.long[i])
	}
}

// with adds what the same step had before: it was under way when the process ended, and its
// durations are known one by one no more.
func (p Point) with(before Point) Point {
	p.plus(before)
	if p.Took == (Times{}) {
		p.Took, p.Backend = before.Took, before.Backend
	}
	return p
}

func (p *Point) plus(other Point) {
	p.Requests += other.Requests
	p.Refused += other.Refused
	p.Failed += other.Failed
	p.Sent += other.Sent
}
