package auth

import (
	"math"
	"time"
)

// bucket is a token bucket that stores how many tokens were taken, not how many are left:
// so its content keeps its meaning when the rate changes, and more than the burst can be
// taken, as a debt. The zero bucket is full.
type bucket struct {
	perSecond float64   // rate of the last request
	taken     float64   // tokens that have not come back
	takenAt   time.Time // when taken was last brought up to date
	burst     int       // the largest of the requests within reloadGrace
	burstAt   time.Time // when a request last had that burst
}

// reloadGrace is how long a bucket is assumed to be used under several rates at once, by
// gateways of which not all have reloaded yet. Meanwhile the slowest rate gives tokens
// back, and a small burst does not cut off what a larger one has allowed.
const reloadGrace = time.Minute

// rounding is the error that sums of fractions of a token may have.
const rounding = 1e-6

// advance updates the bucket to now, for a caller with this rate.
func (b *bucket) advance(rate Rate, now time.Time) {
	// A request that began earlier can come later: time does not go back for it.
	if gone := now.Sub(b.takenAt); gone > 0 {
		perSecond := b.perSecond
		if gone <= reloadGrace {
			perSecond = min(perSecond, rate.PerSecond)
		}
		b.taken, b.takenAt = max(0, b.taken-gone.Seconds()*perSecond), now
	}
	b.perSecond = rate.PerSecond
	if rate.Burst >= b.burst || now.Sub(b.burstAt) > reloadGrace {
		if rate.Burst < b.burst { // what the larger burst allowed is no debt: the wait is for one token at most
			b.taken = min(b.taken, float64(rate.Burst))
		}
		b.burst, b.burstAt = rate.Burst, now
	}
}

// room returns how many tokens a caller with this rate has, as of the last call of advance.
func (b *bucket) room(rate Rate) Room {
	if b.taken < rounding {
		return Room{Left: int64(rate.Burst)}
	}
	tokens := float64(rate.Burst) - b.taken
	left := max(0, math.Floor(tokens+rounding))
	more := math.Ceil((left + 1 - tokens) / rate.PerSecond * float64(time.Second))
	return Room{Left: int64(left), More: time.Duration(min(max(more, 1), float64(longest)))}
}

// longest is a wait far longer than any sensible one, but far from an overflow.
const longest = 100 * 365 * 24 * time.Hour

// full reports whether the bucket equals a new one at now.
func (b *bucket) full(now time.Time) bool {
	return b.taken-now.Sub(b.takenAt).Seconds()*b.perSecond < rounding
}
