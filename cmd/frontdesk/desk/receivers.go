package desk

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"frontdesk/gateway/webhook"
)

// What of callbacks somebody should look at. By then a receiver has failed at the first three
// tries; what is due is called within a second, where there is room. Neither is so and not so by
// turns: it ends when the receiver takes the callback, or when there is no try left.
const (
	failingLong = 10 * time.Minute
	dueLong     = 5 * time.Minute
)

// overdue tells what of callbacks somebody should look at; nothing where they cannot be
// counted, which is told already.
func (h *Desk) overdue(ctx context.Context) (reasons []string) {
	p, err := h.pending.now(ctx)
	if err != nil {
		return nil
	}
	now := h.now()
	failing := slices.DeleteFunc(slices.Clone(p.Failing), func(f webhook.Failing) bool { return now.Sub(f.Since) < failingLong })
	if len(failing) > 0 { // who has most comes first
		since := slices.MinFunc(failing, func(a, b webhook.Failing) int { return a.Since.Compare(b.Since) }).Since
		reasons = append(reasons, fmt.Sprintf("callbacks of %d job(s) were tried in vain, since %s, most of them those of client %s: frontdesk callbacks list --failing",
			jobsOf(failing), since.Format(time.RFC3339), h.clientOf(ctx, failing[0].Job)))
	}
	if !p.Oldest.IsZero() && now.Sub(p.Oldest) >= dueLong {
		reasons = append(reasons, fmt.Sprintf("callbacks are due faster than they are made: %d are, the oldest since %s", p.Due, p.Oldest.Format(time.RFC3339)))
	}
	return reasons
}

// jobsOf counts jobs of all clients.
func jobsOf(failing []webhook.Failing) (n int) {
	for _, f := range failing {
		n += f.Jobs
	}
	return n
}

// clientOf names whose job it is, as far as anybody knows.
func (h *Desk) clientOf(ctx context.Context, id string) string {
	j, err := h.jobs.Get(ctx, id)
	if err != nil {
		return "unknown"
	}
	return j.Owner.User.Client.Name
}

// calledBack counts the calls of receivers.
func (m *metrics) calledBack() func(word string) {
	calls := prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: "frontdesk_callback_calls_total",
		Help: fmt.Sprintf("Calls of receivers of callbacks by how they ended: %s; not made were those that are cancelled, circuit open or busy.", webhook.Words()),
	}, []string{"outcome"})
	for _, word := range webhook.Words() {
		calls.WithLabelValues(word) // from 0, so that a rate sees the first one
	}
	m.registry.MustRegister(calls)
	return func(word string) { calls.WithLabelValues(word).Inc() }
}

// callbackStates exports the callback jobs by state, and their callbacks that are to be made.
type callbackStates struct {
	states  *cached[map[webhook.State]int]
	pending *cached[webhook.Pending]
}

func callbackDescs() (states, due, failing *prometheus.Desc) {
	return prometheus.NewDesc("frontdesk_callbacks", "Callback jobs that are kept, by state.", []string{"state"}, nil),
		prometheus.NewDesc("frontdesk_callbacks_due", "Callbacks that are due now.", nil, nil),
		prometheus.NewDesc("frontdesk_callbacks_failing", "Callbacks that were tried in vain, and will be tried again.", nil, nil)
}

func (c callbackStates) Describe(out chan<- *prometheus.Desc) {
	states, due, failing := callbackDescs()
	for _, d := range []*prometheus.Desc{states, due, failing} {
		out <- d
	}
}

// Collect leaves the numbers out where the database does not tell them: a 0 would
// be a lie, and the rest of the scrape is needed most then.
func (c callbackStates) Collect(out chan<- prometheus.Metric) {
	ctx, cancel := context.WithTimeout(context.Background(), scrapeTimeout)
	defer cancel()
	states, due, failing := callbackDescs()
	if counted, err := c.states.now(ctx); err == nil {
		for state, n := range counted {
			out <- prometheus.MustNewConstMetric(states, prometheus.GaugeValue, float64(n), string(state))
		}
	}
	if p, err := c.pending.now(ctx); err == nil {
		out <- prometheus.MustNewConstMetric(due, prometheus.GaugeValue, float64(p.Due))
		out <- prometheus.MustNewConstMetric(failing, prometheus.GaugeValue, float64(jobsOf(p.Failing)))
	}
}
