package copies

import (
	"fmt"
	"maps"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"frontdesk/backend/sqlrecord/sqltest"
	"frontdesk/cmd/frontdesk/rig"
	"frontdesk/cmd/frontdesk/rig/await"
)

// TestCopy has 16 writers of a client, and one of another, create, change, delete and change
// back through several gateways, which are killed, as the copier is that keeps a copy
// meanwhile: after each round it equals the source. The clock of one gateway jumps.
func TestCopy(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		engine   int
		gateways int
	}{{0, 1}, {1, 3}} {
		t.Run(rig.Engines[row.engine].Name, func(t *testing.T) {
			t.Parallel()
			rounds, writes := size(80)
			s := startService(t, builtIn(t, rig.Engines[row.engine].DSN(t)), row.gateways)
			jump := func() {}
			if row.gateways > 1 {
				g := s.jumping()
				jump = func() { s.jump(g) }
			}
			c := newCopy(s)
			c.follow(s.any())
			for range rounds {
				c.round(writes,
					func() { c.kill(); c.follow(s.any()); jump() },
					func() { s.restart(s.process()); jump() },
					func() { c.kill(); c.follow(s.any()) })
			}
			c.kill()
			c.mendsWhatIsPlanted()
			c.beginsAgain()
		})
	}
}

// round lets the writers write, and then brings the copy up to date and compares it.
func (c *copying) round(writes int64, disturb ...func()) {
	c.t.Helper()
	before := c.before
	c.service.round(writes, disturb...)
	c.kill()
	c.becomesWhole()
	c.before = c.records()
	if before != nil {
		requireDeleted(c.t, before, c.before)
	}
	c.t.Logf("equal after %d writes", c.answered.Load())
	c.follow(c.any())
}

// TestCopyFailsOver is TestCopy on a PostgreSQL whose primary crashes in every second round,
// so that its standby takes its place. To make a standby takes seconds.
func TestCopyFailsOver(t *testing.T) {
	t.Parallel()
	rounds, writes := size(30)
	primary := sqltest.Primary(t)
	require.NoError(t, rig.SeedDatabase(primary.DSN("postgres"), rig.SampleOrders))
	standby := func(round int) *sqltest.Node {
		n := primary.Standby(t, fmt.Sprint("standby", round))
		primary.Configure(t, "synchronous_standby_names=*")
		await.True(t, func() bool {
			return primary.Ask(t, "SELECT count(*) FROM pg_stat_replication WHERE sync_state = 'sync'") == "1"
		})
		return n
	}
	next := standby(0)
	dsn := func() string {
		return fmt.Sprintf("postgres://frontdesk@%s,%s/postgres?sslmode=disable&target_session_attrs=read-write", primary.Address(), next.Address())
	}
	a := builtIn(t, dsn())
	s := startService(t, a, 2)
	c := newCopy(s)
	c.follow(s.any())
	for round := range rounds {
		if round%2 == 0 {
			c.round(writes)
			continue
		}
		c.round(writes,
			func() {
				primary.Stop()
				next.Ask(t, "SELECT pg_promote()")
				next.Configure(t, "synchronous_standby_names=")
			},
			func() { c.kill(); c.follow(s.any()) })
		if round == rounds-1 {
			break
		}
		primary = next
		next = standby(round)
		for _, g := range s.gateways {
			g.options.DSN = dsn()
			s.restart(g)
		}
	}
	c.kill()
	code, said := c.run("--verify")
	require.Zero(t, code, said)
}

// TestForeignCopyOfOthers is TestCopy behind mapping sheets: the gateways look for what others
// write, one of them for all, which is killed and stays away until another has taken over.
// That is 15 seconds after its death: so long it takes. The clock of the database in which the
// gateways note what they saw is set back and forth.
func TestForeignCopyOfOthers(t *testing.T) {
	t.Parallel()
	for name, administration := range map[string]func(*testing.T) *administration{"mariadb": onMariaDB, "pocketbase": onPocketBase} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if name == "mariadb" && !sqltest.Soak() {
				t.Skip("the same gateways before another driver, whose changes TestCopyBehindASheet copies: set FRONTDESK_SOAK=1")
			}
			rounds, writes := size(24)
			s := startService(t, administration(t), 2)
			c, from := newCopy(s), s.gateways[0]
			c.follow(from)
			for round := range rounds {
				if round%2 == 0 {
					s.round(writes)
					c.catchesUp(from)
					s.setBack(time.Hour)
					s.behind(2 * round)
					c.catchesUp(from)
					continue
				}
				s.round(writes,
					func() { c.kill(); s.restart(s.any()) },
					func() { s.setBack(-time.Hour); s.behind(2*round + 1) })
				var looks *gateway
				looks, from = s.looks()
				s.away(looks, func() {
					s.behind(2*round + 2)
					c.follow(from)
					c.catchesUp(from)
				})
			}
			c.kill()
			code, said := c.run("--verify")
			require.Zero(t, code, said)
		})
	}
}

// requireDeleted holds a round to what makes it worth its while: records that the copy had
// before are no longer there.
func requireDeleted(t *testing.T, before, after records) {
	t.Helper()
	deleted := 0
	for name, of := range before {
		for id := range of {
			if after[name][id] == nil {
				deleted++
			}
		}
	}
	require.Positive(t, deleted)
}

// mendsWhatIsPlanted plants records that were left out, changed and too many into each resource.
func (c *copying) mendsWhatIsPlanted() {
	c.t.Helper()
	code, said := c.run("--verify")
	require.Zero(c.t, code, said)
	want, all := c.records(), 0
	c.rigged(func(k *kept) {
		for _, of := range k.Records {
			all += len(of)
			ids := slices.Sorted(maps.Keys(of))
			of[2000000000] = of[ids[0]]
			delete(of, ids[len(ids)-1])
			of[ids[0]] = maps.Clone(of[ids[0]])
			of[ids[0]]["modified_at"] = "2020-01-01T00:00:00.000Z"
		}
	})
	require.False(c.t, equal(want, c.records()))
	counted := c.counting()
	code, said = c.runAt(counted.base, "--verify")
	require.Equal(c.t, 3, code, said)
	require.Contains(c.t, said, fmt.Sprintf("the copy differed in %d record(s), which were mended\n", 3*len(c.copied)))
	require.Equal(c.t, want, c.records())
	require.EqualValues(c.t, 2*len(c.copied), counted.records.Load(), "of %d records", all)
	code, said = c.run("--verify")
	require.Zero(c.t, code, said)
}

// beginsAgain lets the cursor be gone: everything is read again.
func (c *copying) beginsAgain() {
	c.t.Helper()
	want := c.records()
	c.rigged(func(k *kept) {
		k.Cursor = "c1_gone"
		maps.DeleteFunc(k.Records["contact"], func(id int, _ map[string]any) bool { return id%3 == 0 })
		k.Records["contactaddress"][1000000] = map[string]any{"id": 1000000}
	})
	code, said := c.run()
	require.Zero(c.t, code, said)
	require.Equal(c.t, want, c.records())
}
