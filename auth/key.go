package auth

import (
	"time"

	"golang.org/x/time/rate"
)

// Key is an api_key: what one integration may call, and how often. A Key that a
// Keyring returned is shared and must not be changed.
type Key struct {
	Name    string
	Hashes  []KeyHash // several while the key is rotated
	Expires time.Time // zero = never
	Allowed []bool    // by the gateway's operation number; what is not in it is denied
	Shadow  time.Time // until then what Allowed denies is only noted; zero = it is denied
	Limit   Limit
	Secrets []string // signs callbacks; two during rotation

	bucket *rate.Limiter // nil without a limit
}

// KeyHash is the SHA-256 of one api_key text, valid until Expires (zero = as
// long as the key).
type KeyHash struct {
	Hash    [32]byte
	Expires time.Time
}

// Limit bounds how often a key may call. The zero Limit bounds nothing.
type Limit struct {
	PerSecond float64
	Burst     int
}

// May tells whether the key may call an operation. It denies by default.
func (k *Key) May(operation int) bool {
	return operation >= 0 && operation < len(k.Allowed) && k.Allowed[operation]
}

// InShadow tells whether the allowlist is on trial at now: what it denies is served
// all the same, and noted.
func (k *Key) InShadow(now time.Time) bool { return now.Before(k.Shadow) }

// Take takes one call from the key's token bucket. When there is none it takes
// nothing and says how long to wait, always more than zero.
func (k *Key) Take(now time.Time) (wait time.Duration, ok bool) {
	if k.bucket == nil || k.bucket.AllowN(now, 1) {
		return 0, true
	}
	// Not by way of a reservation: under contention a cancelled one gives back
	// less than it took.
	missing := 1 - k.bucket.TokensAt(now)
	wait = time.Duration(missing / k.Limit.PerSecond * float64(time.Second))
	return max(wait, time.Nanosecond), false
}

func (l Limit) bucket() *rate.Limiter {
	if l == (Limit{}) {
		return nil
	}
	return rate.NewLimiter(rate.Limit(l.PerSecond), l.Burst)
}
