package desk

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"frontdesk/gateway/webhook"
)

// After which time callbacks are reported. After failingLong a receiver has failed at the first
// three tries; a callback that is due is usually made within a second. The reports do not flicker: they
// end when the receiver takes the callback, or when no try is left.
const (
	failingLong = 10 * time.Minute
	dueLong     = 5 * time.Minute
)

// pending counts the callbacks that are still to be made, with what /readyz reports about them.
type pending struct {
	webhook.Pending
	reasons []string // for Health.Reasons
	lookAt  []string // for Health.LookAt
}

// pending returns a function that counts and judges the callbacks that are still to be made.
func (s *ownStore) pending(clock func() time.Time) func(context.Context) (pending, error) {
	return func(ctx context.Context) (p pending, err error) {
		now := clock()
		if p.Pending, err = s.jobs.Pending(ctx, now); err != nil {
			return p, err
		}
		p.reasons, p.lookAt = overdue(p.Pending, now, func(id string) string {
			j, err := s.jobs.Get(ctx, id)
			if err != nil {
				return "unknown"
			}
			return j.Owner.User.Client.Name
		})
		return p, nil
	}
}

// overdue reports the callbacks that have waited for long. A failing receiver of one client does not make
// the gateway degraded: it may last for days, any client can cause it, and a rolling upgrade waits for each
// gateway to be ok. clientOf returns the client of a job.
func overdue(p webhook.Pending, now time.Time, clientOf func(job string) string) (reasons, lookAt []string) {
	if failing := longSince(p.Failing, now.Add(-failingLong)); len(failing) > 0 {
		lookAt = append(lookAt, fmt.Sprintf("callbacks of %d job(s) were tried in vain, the first since %s, most of them those of client %s: frontdesk callbacks list --failing",
			jobsOf(failing), oldest(failing), clientOf(failing[0].Job)))
	}
	switch due := longSince(p.Due, now.Add(-dueLong)); len(due) {
	case 0:
	case 1:
		lookAt = append(lookAt, fmt.Sprintf("callbacks of client %s alone are due faster than they are made: %d are, the oldest since %s", clientOf(due[0].Job), due[0].Jobs, oldest(due)))
	default:
		reasons = append(reasons, fmt.Sprintf("callbacks of %d clients are due faster than they are made: %d are, the oldest since %s", len(due), jobsOf(due), oldest(due)))
	}
	return reasons, lookAt
}

// longSince returns the clients whose oldest callback has waited since then or longer, in the order of all:
// the client with most comes first.
func longSince(all []webhook.OfClient, then time.Time) []webhook.OfClient {
	return slices.DeleteFunc(slices.Clone(all), func(c webhook.OfClient) bool { return c.Since.After(then) })
}

func oldest(all []webhook.OfClient) string {
	return slices.MinFunc(all, func(a, b webhook.OfClient) int { return a.Since.Compare(b.Since) }).Since.Format(time.RFC3339)
}

// jobsOf counts the jobs of all these clients.
func jobsOf(all []webhook.OfClient) (n int) {
	for _, c := range all {
		n += c.Jobs
	}
	return n
}

// calledBack counts the calls of receivers.
func calledBack(registry *prometheus.Registry) func(word string) {
	calls := prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: "frontdesk_callback_calls_total",
		Help: fmt.Sprintf("Calls of receivers of callbacks by how they ended: %s; not made were those that are cancelled, circuit open or busy.", webhook.Words()),
	}, []string{"outcome"})
	for _, word := range webhook.Words() {
		calls.WithLabelValues(word) // from 0, so that a rate sees the first one
	}
	registry.MustRegister(calls)
	return func(word string) { calls.WithLabelValues(word).Inc() }
}

// callbackStates exports the callback jobs by state, and their callbacks that are to be made.
func callbackStates(count *cached[map[webhook.State]int], waiting *cached[pending]) prometheus.Collector {
	states := newMetric("frontdesk_callbacks", "Callback jobs that are kept, by state.", "state")
	due := newMetric("frontdesk_callbacks_due", "Callbacks that are due now, and that nobody is calling.")
	failing := newMetric("frontdesk_callbacks_failing", "Callbacks that were tried in vain, and will be tried again.")
	return newScraped(func(ctx context.Context, v values) {
		if counted, err := count.now(ctx); err == nil {
			for state, n := range counted {
				v.set(states, float64(n), string(state))
			}
		}
		if p, err := waiting.now(ctx); err == nil {
			v.set(due, float64(jobsOf(p.Due)))
			v.set(failing, float64(jobsOf(p.Failing)))
		}
	}, states, due, failing)
}
