package auth

import (
	"math"
	"time"
)

// bucket is a token bucket, told by what was taken from it and not by what is
// left: so it means the same under another rate. The zero bucket is full.
type bucket struct {
	rate Rate      // it was last asked under
	used float64   // tokens that have not come back
	at   time.Time // used is of then
}

// rounding is how far from a whole token sums of parts of it may end up.
const rounding = 1e-6

// under brings the bucket up to now, and has it hold as many tokens as rate says
// from then on.
func (b *bucket) under(rate Rate, now time.Time) {
	// A request that began earlier can come later: time does not go back for it.
	if gone := now.Sub(b.at); gone > 0 {
		b.used, b.at = max(0, b.used-gone.Seconds()*b.rate.PerSecond), now
	}
	if b.rate != rate {
		b.rate, b.used = rate, min(b.used, float64(rate.Burst))
	}
}

// room is what is left, as of the last under.
func (b *bucket) room() Room {
	tokens := float64(b.rate.Burst) - b.used
	left := math.Floor(tokens + rounding)
	if b.used < rounding {
		return Room{Left: int64(b.rate.Burst)}
	}
	more := math.Ceil((left + 1 - tokens) / b.rate.PerSecond * float64(time.Second))
	return Room{Left: int64(left), More: time.Duration(min(max(more, 1), float64(longest)))}
}

// longest is far beyond any wait that makes sense, and far from what overflows.
const longest = 100 * 365 * 24 * time.Hour

// full tells whether the bucket is like a new one at now.
func (b *bucket) full(now time.Time) bool {
	return b.used-now.Sub(b.at).Seconds()*b.rate.PerSecond < rounding
}
