package sqlrecord

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"frontdesk/backend"
)

// TestReplicaGoesWithAnotherPrimary: what it follows is promoted, and it goes on with
// that, on the connections that it has. What the primary is told from then on, it
// never hears of.
func TestReplicaGoesWithAnotherPrimary(t *testing.T) {
	t.Parallel()
	for role, grant := range map[string]string{"told": "GRANT pg_read_all_stats TO told", "untold": "SELECT 1"} {
		t.Run(role, func(t *testing.T) {
			p := newPair(t, patience)
			p.primary.Ask(t, "CREATE ROLE "+role+" LOGIN")
			p.primary.Ask(t, "GRANT SELECT ON ALL TABLES IN SCHEMA public TO "+role)
			p.primary.Ask(t, grant)
			between := p.standby
			far := between.Standby(t, "far")
			dsn := strings.Replace(far.DSN("postgres"), "frontdesk@", role+"@", 1)
			p.replica = p.open(t, dsn, patience)
			find := p.replica.positions.find
			p.replica.positions.find = func(ctx context.Context) (position, error) {
				if p.replica.fault.Load() != nil && p.replica.seen.Load() == 0 {
					t.Error("a list under way would find nothing wrong now")
				}
				return find(ctx)
			}
			p.create(t, alice, "contact", "name", "first")
			page, ok := p.ask(t, backend.Query{Limit: 10})
			require.True(t, ok)
			require.Len(t, page.Records, 1)

			between.Ask(t, "SELECT pg_promote()")
			between.Ask(t, "CREATE TABLE more AS SELECT repeat('x', 100) FROM generate_series(1, 50000)")
			require.Eventually(t, func() bool { return far.Ask(t, "SELECT to_regclass('more') IS NOT NULL") == "t" }, patience, time.Millisecond)
			if role == "untold" { // it is seen by what comes after the first
				p.ask(t, backend.Query{Limit: 10})
			}
			p.create(t, alice, "contact", "name", "second")
			_, ok = p.ask(t, backend.Query{Limit: 10})
			require.False(t, ok)
			require.ErrorContains(t, <-p.faults, "it does not follow the primary")
			for range 3 {
				p.replica.look(t.Context())
				require.Error(t, p.replica.Fault())
			}
			require.Empty(t, p.faults)
		})
	}
}

func TestLSNNumber(t *testing.T) {
	t.Parallel()
	for text, number := range map[string]uint64{"0/0": 0, "0/16B3748": 0x16B3748, "16/B374D848": 0x16_B374D848, "FFFFFFFF/FFFFFFFF": 1<<64 - 1, "": 0, "first": 0} {
		require.Equal(t, number, lsnNumber(text), text)
	}
}
