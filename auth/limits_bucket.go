package auth

import (
	"math"
	"time"
)

// bucket is a token bucket, told by what was taken from it and not by what is
// left: so it means the same under another rate. The zero bucket is full.
type bucket struct {
	perSecond float64   // it was last asked under
	used      float64   // tokens that have not come back
	at        time.Time // used is of then
	widest    int       // burst that it was asked under within differ
	widestAt  time.Time
}

// differ is how long a bucket is taken to be asked under several rates at once: by
// gateways of which not all have read a new configuration. The slowest gives back,
// and a small burst forgives nothing of what a larger one let through.
const differ = time.Minute

// rounding is how far from a whole token sums of parts of it may end up.
const rounding = 1e-6

// under brings the bucket up to now for who asks under rate.
func (b *bucket) under(rate Rate, now time.Time) {
	// A request that began earlier can come later: time does not go back for it.
	if gone := now.Sub(b.at); gone > 0 {
		perSecond := b.perSecond
		if gone <= differ {
			perSecond = min(perSecond, rate.PerSecond)
		}
		b.used, b.at = max(0, b.used-gone.Seconds()*perSecond), now
	}
	b.perSecond = rate.PerSecond
	if rate.Burst >= b.widest || now.Sub(b.widestAt) > differ {
		b.widest, b.widestAt = rate.Burst, now
		b.used = min(b.used, float64(rate.Burst)) // nobody waits for longer than for one
	}
}

// room is what is left for who asks under rate, as of the last under.
func (b *bucket) room(rate Rate) Room {
	if b.used < rounding {
		return Room{Left: int64(rate.Burst)}
	}
	tokens := float64(rate.Burst) - b.used
	left := max(0, math.Floor(tokens+rounding))
	more := math.Ceil((left + 1 - tokens) / rate.PerSecond * float64(time.Second))
	return Room{Left: int64(left), More: time.Duration(min(max(more, 1), float64(longest)))}
}

// longest is far beyond any wait that makes sense, and far from what overflows.
const longest = 100 * 365 * 24 * time.Hour

// full tells whether the bucket is like a new one at now.
func (b *bucket) full(now time.Time) bool {
	return b.used-now.Sub(b.at).Seconds()*b.perSecond < rounding
}
