package gateway

import (
	"context"
	"fmt"
	"math"
	"strconv"
	"time"

	"frontdesk/auth"
	"frontdesk/mapping"
)

// limits holds the client to the bounds of its api_key. A login does not count against them:
// auth.Throttle slows it.
func (g *Gateway) limits(ctx context.Context, x *Exchange) error {
	if x.Key == nil || x.Key.Bounds == (auth.Bounds{}) {
		return nil
	}
	var err error
	if x.standing, err = g.o.Limits.Take(ctx, x.Key, x.user().Client.ID, x.started); err != nil {
		return fmt.Errorf("count the request: %w", err)
	}
	x.counted = true
	if x.standing.Refused == auth.NoBound {
		return nil
	}
	x.cause = x.standing.Refused.String()
	return mapping.Fail(mapping.TooManyRequests).After(x.standing.Wait)
}

// charge counts the further cost of a request with several records, which is known only
// after its body was read.
func (g *Gateway) charge(ctx context.Context, x *Exchange, further int) error {
	if !x.counted || further == 0 {
		return nil
	}
	if err := g.o.Limits.Charge(ctx, x.Key, x.user().Client.ID, further, x.started, &x.standing); err != nil {
		return fmt.Errorf("count the records: %w", err)
	}
	return nil
}

// giveBack ends the request's concurrency slot.
func (g *Gateway) giveBack(ctx context.Context, x *Exchange) {
	if x.standing.Slot != 0 {
		g.o.Limits.Done(ctx, x.Key.Name, x.user().Client.ID, x.standing.Slot)
	}
}

// The headers of draft-ietf-httpapi-ratelimit-headers-11, as it spells them.
var (
	policyHeader    = []byte("RateLimit-Policy")
	rateLimitHeader = []byte("RateLimit")
)

// setRateLimits adds the rate-limit headers, if the request was counted.
func (x *Exchange) setRateLimits() {
	if !x.counted {
		return
	}
	x.scratch = appendPolicy(x.scratch[:0], &x.Key.Bounds)
	x.response.Header.SetCanonical(policyHeader, x.scratch)
	x.scratch = appendStanding(x.scratch[:0], &x.Key.Bounds, &x.standing)
	x.response.Header.SetCanonical(rateLimitHeader, x.scratch)
}

// secondsPerDay is the window of a day's quota. On two days a year it is an hour off;
// t is exact.
const secondsPerDay = 24 * 60 * 60

// appendPolicy appends the bounds. The window of a rate is the time in which an empty
// bucket fills up.
func appendPolicy(dst []byte, b *auth.Bounds) []byte {
	if r := b.Rate; r != (auth.Rate{}) {
		dst = appendItem(dst, auth.RateBound, ";q=", int64(r.Burst))
		dst = appendNumber(dst, ";w=", wholeSeconds(float64(r.Burst)/r.PerSecond))
	}
	if b.PerDay > 0 {
		dst = appendItem(dst, auth.DayBound, ";q=", b.PerDay)
		dst = appendNumber(dst, ";w=", secondsPerDay)
	}
	if b.Concurrent > 0 {
		dst = appendItem(dst, auth.ConcurrentBound, ";q=", int64(b.Concurrent))
		dst = append(dst, `;qu="concurrent-requests"`...)
	}
	return dst
}

// appendStanding appends how much of each bound is left, and when more is available.
func appendStanding(dst []byte, b *auth.Bounds, s *auth.Standing) []byte {
	room := func(bound auth.Bound, bounded bool) {
		if !bounded {
			return
		}
		r := s.Rooms[bound]
		dst = appendItem(dst, bound, ";r=", r.Left)
		if r.More > 0 {
			dst = appendNumber(dst, ";t=", wholeSeconds(r.More.Seconds()))
		}
	}
	room(auth.RateBound, b.Rate != (auth.Rate{}))
	room(auth.DayBound, b.PerDay > 0)
	room(auth.ConcurrentBound, b.Concurrent > 0)
	return dst
}

// appendItem appends an item to the list of a header.
func appendItem(list []byte, bound auth.Bound, name string, value int64) []byte {
	if len(list) > 0 {
		list = append(list, ", "...)
	}
	list = append(append(append(list, '"'), bound.String()...), '"')
	return appendNumber(list, name, value)
}

// mostInField is the largest integer of a structured field (RFC 9651).
const mostInField = 999_999_999_999_999

func appendNumber(dst []byte, name string, value int64) []byte {
	return strconv.AppendInt(append(dst, name...), min(value, mostInField), 10)
}

// wholeSeconds rounds up, to one at least.
func wholeSeconds(seconds float64) int64 {
	return int64(min(max(math.Ceil(seconds), 1), mostInField))
}

// retryAfter returns a duration as the value of the header Retry-After.
func retryAfter(wait time.Duration) string {
	return strconv.FormatInt(wholeSeconds(wait.Seconds()), 10)
}
