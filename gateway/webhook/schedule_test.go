package webhook_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"frontdesk/gateway/webhook"
)

func fixed(r float64) webhook.Schedule {
	return webhook.NewSchedule(func() float64 { return r })
}

func TestScheduleDelays(t *testing.T) {
	failed := webhook.Outcome{Tried: true, Status: 500, Err: webhook.ErrStatus}
	want := []time.Duration{
		0, 5 * time.Second, 5 * time.Minute, 30 * time.Minute, 2 * time.Hour,
		5 * time.Hour, 10 * time.Hour, 14 * time.Hour, 20 * time.Hour, 24 * time.Hour,
	}
	require.Equal(t, len(want), webhook.Tries())
	for tries, d := range want {
		last := failed
		if tries == 0 {
			last = webhook.Outcome{}
		}
		for r, factor := range map[float64]float64{0: 0.8, 0.5: 1, 0.999999: 1.2} {
			delay, end, why := fixed(r).Next(tries, last)
			require.False(t, end)
			require.Equal(t, webhook.WhyScheduled, why)
			require.InEpsilon(t, 1+factor*float64(d), 1+float64(delay), 1e-5)
		}
	}
	_, end, why := fixed(0.5).Next(len(want), failed)
	require.True(t, end)
	require.Equal(t, webhook.WhyExhausted, why)
}

func TestScheduleHeedsTheOutcome(t *testing.T) {
	for name, c := range map[string]struct {
		tries int
		last  webhook.Outcome
		delay time.Duration
		end   bool
		why   string
	}{
		"200":                    {1, webhook.Outcome{Tried: true, Status: 200}, 0, true, webhook.WhyDelivered},
		"204 on the last try":    {10, webhook.Outcome{Tried: true, Status: 204}, 0, true, webhook.WhyDelivered},
		"410":                    {1, webhook.Outcome{Tried: true, Status: 410, RetryAfter: time.Hour}, 0, true, webhook.WhyGone},
		"302":                    {1, webhook.Outcome{Tried: true, Status: 302}, 5 * time.Second, false, webhook.WhyScheduled},
		"longer Retry-After":     {1, webhook.Outcome{Tried: true, Status: 503, RetryAfter: time.Hour}, time.Hour, false, webhook.WhyRetryAfter},
		"shorter Retry-After":    {3, webhook.Outcome{Tried: true, Status: 503, RetryAfter: time.Minute}, 30 * time.Minute, false, webhook.WhyScheduled},
		"endless Retry-After":    {1, webhook.Outcome{Tried: true, Status: 503, RetryAfter: 1000 * time.Hour}, 24 * time.Hour, false, webhook.WhyRetryAfter},
		"Retry-After at the end": {10, webhook.Outcome{Tried: true, Status: 503, RetryAfter: time.Hour}, 0, true, webhook.WhyExhausted},
		"open circuit":           {2, webhook.Outcome{Err: webhook.ErrOpen, RetryAfter: 30 * time.Second}, 33 * time.Second, false, webhook.WhyNotTried},
		"cancelled":              {9, webhook.Outcome{Err: webhook.ErrCancelled}, 0, false, webhook.WhyNotTried},
	} {
		delay, end, why := fixed(0.5).Next(c.tries, c.last)
		require.Equal(t, c.delay, delay, name)
		require.Equal(t, c.end, end, name)
		require.Equal(t, c.why, why, name)
	}
}
