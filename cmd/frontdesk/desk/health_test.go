package desk

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"frontdesk/gateway/webhook"
)

// TestUnavailableStays: what is wrong besides does not have requests sent to who cannot serve
// them. Before, /readyz said 200 where the administration was away and the store of sessions took
// no writes.
func TestUnavailableStays(t *testing.T) {
	now := Health{Status: HealthOK}
	now.refuses(healthUnavailable, "the administration does not answer")
	now.degraded("the store of sessions takes no writes: %s", "it is full")
	require.Equal(t, healthUnavailable, now.Status)
	require.Equal(t, []string{"the administration does not answer", "the store of sessions takes no writes: it is full"}, now.Reasons)
}

// TestQueuesThatFill: a queue is told of once it was full for half a minute, and until it was
// not for a minute, so that /readyz does not change with each burst.
func TestQueuesThatFill(t *testing.T) {
	used := 0
	one := &queue{full: halfFull, load: func() (int, int) { return used, 10 }, words: func(worst, most, now int) string { return fmt.Sprint(worst, " of ", most, ", now ", now) }}
	all := &queues{all: []*queue{one}}
	after := func(is, looks int) []string {
		used = is
		for range looks {
			all.look()
		}
		now := Health{Status: HealthOK}
		all.judge(&now)
		require.Equal(t, now.Status != HealthOK, len(now.Reasons) > 0)
		return now.Reasons
	}
	require.Empty(t, after(4, 20), "less than half")
	require.Empty(t, after(10, 4), "a burst")
	require.Empty(t, after(0, 1))
	require.Empty(t, after(5, 4), "another: they do not add up")
	require.Equal(t, []string{"5 of 10, now 5"}, after(5, 1))
	require.Equal(t, []string{"5 of 10, now 4"}, after(4, 9), "what it was, and is now")
	require.Equal(t, []string{"9 of 10, now 9"}, after(9, 1))
	require.Equal(t, []string{"9 of 10, now 0"}, after(0, 9))
	require.Empty(t, after(0, 1))
	require.Empty(t, after(10, 4))
	require.Empty(t, after(0, 1))
	require.Equal(t, []string{"6 of 10, now 6"}, after(6, 5), "what was before is over")

	require.True(t, allTaken(4, 4))
	require.False(t, allTaken(3, 4), "half of a pool is taken by day")
	require.False(t, allTaken(0, 0), "a pool that tells no limit")
	require.False(t, halfFull(0, 0), "nobody may wait")
}

// TestReceiversOfOneClient: what one client's receivers do is told, and is no reason to call the
// gateway degraded, for as long as other clients' callbacks are made.
func TestReceiversOfOneClient(t *testing.T) {
	now := time.Date(2026, 11, 2, 12, 0, 0, 0, time.UTC)
	of := func(client int64, jobs int, ago time.Duration) webhook.OfClient {
		return webhook.OfClient{Client: client, Jobs: jobs, Since: now.Add(-ago), Job: string(rune('A' + client))}
	}
	name := func(job string) string { return "of " + job }
	for _, row := range []struct {
		name            string
		pending         webhook.Pending
		reasons, lookAt []string
	}{
		{name: "nothing"},
		{name: "for a while", pending: webhook.Pending{Due: []webhook.OfClient{of(1, 9, 5*time.Minute-1), of(2, 9, time.Second)}, Failing: []webhook.OfClient{of(1, 9, 10*time.Minute-1)}}},
		{
			name:    "receivers that fail",
			pending: webhook.Pending{Failing: []webhook.OfClient{of(3, 9, time.Minute), of(2, 8, 10*time.Minute), of(1, 1, time.Hour)}},
			lookAt:  []string{"callbacks of 9 job(s) were tried in vain, the first since 2026-11-02T11:00:00Z, most of them those of client of C: frontdesk callbacks list --failing"},
		},
		{
			name:    "one client's pile up, and others' are called at once",
			pending: webhook.Pending{Due: []webhook.OfClient{of(1, 500, time.Hour), of(2, 3, 2*time.Second)}},
			lookAt:  []string{"callbacks of client of B alone are due faster than they are made: 500 are, the oldest since 2026-11-02T11:00:00Z"},
		},
		{
			name:    "those of several do",
			pending: webhook.Pending{Due: []webhook.OfClient{of(1, 500, time.Hour), of(2, 3, 5*time.Minute)}},
			reasons: []string{"callbacks of 2 clients are due faster than they are made: 503 are, the oldest since 2026-11-02T11:00:00Z"},
		},
	} {
		t.Run(row.name, func(t *testing.T) {
			reasons, lookAt := overdue(row.pending, now, name)
			require.Equal(t, row.reasons, reasons)
			require.Equal(t, row.lookAt, lookAt)
		})
	}
}
