package desk

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"frontdesk/gateway/webhook"
)

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
