package webhook

import "time"

// Schedule says when a callback is tried again.
type Schedule struct {
	random func() float64
}

// NewSchedule takes the source of randomness: numbers from 0 up to, not
// including, 1. It must be safe for concurrent use if the schedule's is.
func NewSchedule(random func() float64) Schedule { return Schedule{random: random} }

// Why the next try is made when it is, or why there is none.
const (
	WhyScheduled  = "scheduled"   // the schedule's own delay
	WhyRetryAfter = "retry after" // the receiver asked for more time
	WhyNotTried   = "not tried"   // the last call was no try, and is repeated
	WhyDelivered  = "delivered"   // end: the receiver answered 2xx
	WhyGone       = "gone"        // end: the receiver answered 410
	WhyExhausted  = "exhausted"   // end: there are no tries left
)

const (
	spread          = 0.2 // of each delay, either way
	retryAfterLimit = 24 * time.Hour
)

// delays returns the delay before each try.
func delays() []time.Duration {
	return []time.Duration{
		0, 5 * time.Second, 5 * time.Minute, 30 * time.Minute, 2 * time.Hour,
		5 * time.Hour, 10 * time.Hour, 14 * time.Hour, 20 * time.Hour, 24 * time.Hour,
	}
}

// Tries returns how often a callback is tried before it is exhausted.
func Tries() int { return len(delays()) }

// Ahead returns when the callback of a job will be tried, as long as all calls fail: the time of the
// next one is exact, those after it may differ by a fifth of their delays. It is empty where no call
// is due any more.
func (j Job) Ahead(now time.Time) (all []time.Time) {
	if j.NextTry.IsZero() {
		return nil
	}
	next := j.NextTry
	if next.Before(now) {
		next = now
	}
	for n := j.Tries; n < Tries(); n++ {
		if n > j.Tries {
			next = next.Add(delays()[n])
		}
		if !next.Before(j.Finished.Add(Retention)) {
			break
		}
		all = append(all, next)
	}
	return all
}

// Next says what follows the outcome of a call: how long to wait for the next one, or
// that there is none. Tries counts those made so far, including the outcome's if it was
// Tried. A Retry-After counts if it is longer than the schedule, up to 24 hours; the
// random spread never shortens it.
func (s Schedule) Next(tries int, o Outcome) (delay time.Duration, end bool, why string) {
	switch {
	case o.Delivered():
		return 0, true, WhyDelivered
	case o.Gone():
		return 0, true, WhyGone
	case tries >= Tries():
		return 0, true, WhyExhausted
	}
	requested := min(o.RetryAfter, retryAfterLimit)
	if !o.Tried && o.Err != "" {
		return requested + time.Duration(s.random()*spread*float64(requested)), false, WhyNotTried
	}
	delay = time.Duration((1 + spread*(2*s.random()-1)) * float64(delays()[tries]))
	if requested > delay {
		return requested, false, WhyRetryAfter
	}
	return delay, false, WhyScheduled
}
