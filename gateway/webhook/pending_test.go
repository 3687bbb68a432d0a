package webhook_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"frontdesk/gateway/webhook"
)

// TestPendingIsWhatIsCalled: what is told to be due is what is called next, by client.
func TestPendingIsWhatIsCalled(t *testing.T) {
	onEngines(t, func(t *testing.T, e engine) {
		store, now := e.open(t), newClock().Now()
		add := func(id string, client int64, state webhook.State, next, lease, failing time.Duration) {
			t.Helper()
			j := webhook.Job{
				ID: id, Owner: owner(client), Callback: "https://" + id + ".example/", State: state,
				Created: now, Finished: now, NextTry: now.Add(next),
			}
			if lease != 0 {
				j.Lease = now.Add(lease)
			}
			if failing != 0 {
				j.Failing = now.Add(failing)
			}
			require.NoError(t, store.Add(t.Context(), j))
		}
		add("a", 1, webhook.Done, -time.Hour, 0, 0)
		add("b", 2, webhook.Done, -2*time.Hour, 0, -3*time.Hour)
		add("c", 2, webhook.Failed, -time.Minute, -time.Second, 0) // whoever called it died
		add("d", 3, webhook.Done, -4*time.Hour, time.Second, 0)    // is being called
		add("e", 3, webhook.Done, time.Second, 0, -time.Minute)
		add("f", 4, webhook.Collected, -5*time.Hour, 0, 0) // nobody calls it

		due, err := store.DueCalls(t.Context(), now, 100, nil)
		require.NoError(t, err)
		called := map[int64]int{}
		for _, j := range due {
			called[j.Owner.User.Client.ID]++
		}
		p, err := store.Pending(t.Context(), now)
		require.NoError(t, err)
		told := map[int64]int{}
		for _, c := range p.Due {
			told[c.Client] = c.Jobs
		}
		require.Equal(t, called, told)
		require.Equal(t, []webhook.OfClient{{Client: 2, Jobs: 2, Since: now.Add(-2 * time.Hour), Job: "b"}, {Client: 1, Jobs: 1, Since: now.Add(-time.Hour), Job: "a"}}, p.Due)
		require.Equal(t, []webhook.OfClient{{Client: 2, Jobs: 1, Since: now.Add(-3 * time.Hour), Job: "b"}, {Client: 3, Jobs: 1, Since: now.Add(-time.Minute), Job: "e"}}, p.Failing)
	})
}
