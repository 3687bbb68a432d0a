package sqlrecord

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"frontdesk/backend"
	"frontdesk/backend/sqlrecord/sqltest"
	"frontdesk/mapping"
)

// patience is how long a test waits for what has to happen.
const patience = time.Minute

// pair is a primary with a standby that answers lists.
type pair struct {
	*fixture
	primary, standby *sqltest.Node
	replica          *Replica
	faults           chan error
}

func newPair(t *testing.T, wait time.Duration) *pair {
	t.Helper()
	primary := sqltest.Primary(t)
	db, err := OpenPostgres(t.Context(), primary.DSN("postgres"), Options{})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, db.Close()) })
	p := &pair{fixture: newFixture(t, db), primary: primary, standby: primary.Standby(t, "standby"), faults: make(chan error, 16)}
	p.replica = p.open(t, p.standby.DSN("postgres"), wait)
	return p
}

func (p *pair) open(t *testing.T, dsn string, wait time.Duration) *Replica {
	t.Helper()
	r, err := OpenReplica(t.Context(), p.db, ReplicaOptions{
		DSN: dsn, Model: p.model, Now: p.clock.now, Wait: wait, Pause: 20 * time.Millisecond, OnState: func(err error) { p.faults <- err },
		bound: patience,
	})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, r.Close()) })
	return r
}

func (p *pair) ask(t *testing.T, q backend.Query) (backend.Page, bool) {
	t.Helper()
	q.Client = alice
	return p.replica.List(t.Context(), p.model.Resource("contact"), q)
}

// TestReplicaAnswersAsThePrimary: whatever is asked, as soon as it was written.
func TestReplicaAnswersAsThePrimary(t *testing.T) {
	t.Parallel()
	p := newPair(t, patience)
	require.NoError(t, p.replica.Fault())
	p.counts, p.replica.records.counts = newCounts(p.db.Dialect(), p.tables, 2), newCounts(p.db.Dialect(), p.replica.records.tables, 2)
	for n := range 20 {
		if n%5 == 3 {
			require.NoError(t, p.Count(t.Context()))
		}
		latest := p.create(t, alice, "contact", "name", "Jansen")
		p.create(t, bob, "contact", "name", "Jansen")
		for _, q := range []backend.Query{
			{Limit: 1000}, {Limit: 10, Total: true}, {Limit: 1000, ModifiedSince: latest.Get("modified_at")}, {Limit: 3, Offset: 2}, {Limit: 3, Offset: 12},
		} {
			page, ok := p.ask(t, q)
			require.True(t, ok)
			require.Equal(t, p.list(t, "contact", q), page)
		}
	}
	require.Equal(t, map[ReplicaOutcome]int64{ReplicaAnswered: 100, ReplicaBehind: 0, ReplicaBusy: 0, ReplicaAway: 0}, p.replica.Lists())
}

// TestReplicaShowsOneMoment: a list with elements shows them as they were when it shows the
// records, although the standby replays a change of both meanwhile.
func TestReplicaShowsOneMoment(t *testing.T) {
	t.Parallel()
	p := newPair(t, patience)
	order := p.newOrder(t, alice, 1)
	r := order.Resource
	lines := r.Field("orderlines").Index
	changed := false
	page, ok := p.replica.List(t.Context(), r, backend.Query{
		Client: alice, Limit: 10, Fields: []int{r.ID, lines}, Room: func(int, int) error {
			if changed {
				return nil
			}
			changed = true
			_, err := p.Update(t.Context(), alice, order.Children[lines][0], p.record("orderline", "description", "changed meanwhile"))
			require.NoError(t, err)
			written := p.primary.Ask(t, "SELECT pg_current_wal_flush_lsn()")
			require.Eventually(t, func() bool {
				return p.standby.Ask(t, "SELECT pg_last_wal_replay_lsn() >= '"+written+"'") == "t"
			}, patience, time.Millisecond)
			return nil
		},
	})
	require.True(t, ok)
	require.True(t, changed)
	require.Equal(t, int64(1), page.Records[0].Version)
	require.Equal(t, mapping.TextValue("line 0"), page.Records[0].Children[lines][0].Get("description"))
}

// TestReplicaIsBehind: then it answers nothing, and waits in vain only once.
func TestReplicaIsBehind(t *testing.T) {
	t.Parallel()
	p := newPair(t, 20*time.Millisecond)
	p.standby.Ask(t, "SELECT pg_wal_replay_pause()")
	p.create(t, alice, "contact", "name", "Jansen")
	for range 2 {
		_, ok := p.ask(t, backend.Query{Limit: 10})
		require.False(t, ok)
		require.True(t, p.replica.behind.Load())
	}
	require.NoError(t, p.replica.Fault())
	p.standby.Ask(t, "SELECT pg_wal_replay_resume()")
	require.Eventually(t, func() bool {
		page, ok := p.ask(t, backend.Query{Limit: 10})
		return ok && len(page.Records) == 1
	}, patience, time.Millisecond)
	require.False(t, p.replica.behind.Load())
	require.Zero(t, p.replica.Lists()[ReplicaAway])
}

// TestReplicaOfAPrimaryThatDoesNotFlush: what is seen on the primary before it is on
// its disk is not missed either.
func TestReplicaOfAPrimaryThatDoesNotFlush(t *testing.T) {
	t.Parallel()
	p := newPair(t, 0)
	p.primary.Configure(t, "synchronous_commit=off", "wal_writer_delay=1s")
	all := backend.Query{Limit: 1000}
	for range 20 {
		p.create(t, alice, "contact", "name", "Jansen")
		if page, ok := p.ask(t, all); ok {
			require.Equal(t, ids(p.list(t, "contact", all)), ids(page))
		}
	}
	require.Eventually(t, func() bool {
		page, ok := p.ask(t, all)
		return ok && len(page.Records) == 20
	}, patience, time.Millisecond)
}

// TestReplicaBreaksAListOff: what is in the way of replay ends, and the replica
// stays in use.
func TestReplicaBreaksAListOff(t *testing.T) {
	t.Parallel()
	p := newPair(t, patience)
	p.standby.Configure(t, "max_standby_streaming_delay=500ms") // which the list below outlives
	conn, err := p.replica.standby.acquire(t.Context())
	require.NoError(t, err)
	defer conn.Release()
	tx, err := conn.Begin(t.Context())
	require.NoError(t, err)
	_, err = tx.Exec(t.Context(), "SELECT count(*) FROM contact")
	require.NoError(t, err)
	p.primary.Ask(t, "ALTER TABLE contact ADD COLUMN more integer")
	_, err = tx.Exec(t.Context(), "SELECT pg_sleep(20)")
	require.Error(t, err)
	require.True(t, brokenOff(err), "%v", err)
}

// TestReplicaIsAway: it is not asked again before it is back.
func TestReplicaIsAway(t *testing.T) {
	t.Parallel()
	p := newPair(t, patience)
	p.standby.Stop()
	_, ok := p.ask(t, backend.Query{Limit: 10})
	require.False(t, ok)
	require.Error(t, <-p.faults)
	require.Error(t, p.replica.Fault())
	_, ok = p.ask(t, backend.Query{Limit: 10})
	require.False(t, ok)
	p.standby.Restart(t)
	require.NoError(t, <-p.faults, "it is back without anybody having asked")
	require.NoError(t, p.replica.Fault())
	_, ok = p.ask(t, backend.Query{Limit: 10})
	require.True(t, ok)
	require.Equal(t, map[ReplicaOutcome]int64{ReplicaAnswered: 1, ReplicaBehind: 0, ReplicaBusy: 0, ReplicaAway: 2}, p.replica.Lists())

	p.standby.Ask(t, "SELECT pg_promote()")
	_, ok = p.ask(t, backend.Query{Limit: 10})
	require.False(t, ok)
	require.ErrorContains(t, <-p.faults, "it is no standby")
}

// TestReplicaOfSomethingElse: positions of different histories say nothing of each
// other.
func TestReplicaOfSomethingElse(t *testing.T) {
	t.Parallel()
	p := newPair(t, patience)
	p.primary.Ask(t, "CREATE DATABASE other")
	for dsn, fault := range map[string]string{
		p.primary.DSN("postgres"):                            "it is no standby",
		p.standby.DSN("other"):                               "it is of another database: other of system",
		sqltest.Unrelated(t).Standby(t, "x").DSN("postgres"): "it is of another database: postgres of system",
		"postgres://nobody@127.0.0.1:1/none":                 "connection refused",
	} {
		r := p.open(t, dsn, 0)
		require.ErrorContains(t, r.Fault(), fault)
		require.ErrorContains(t, <-p.faults, fault)
	}
	sqlite := openSQLite(t)
	_, err := OpenReplica(t.Context(), sqlite, ReplicaOptions{DSN: p.standby.DSN("postgres"), Model: p.model})
	require.ErrorContains(t, err, "only a PostgreSQL database has a replica")
}

// TestReplicaOfAnEarlierPrimary: a standby that has not followed another one's
// promotion may be further on than the primary, and lack what that has.
func TestReplicaOfAnEarlierPrimary(t *testing.T) {
	t.Parallel()
	p := newPair(t, patience)
	next := p.primary.Standby(t, "next")
	written := p.primary.Ask(t, "SELECT pg_current_wal_flush_lsn()")
	require.Eventually(t, func() bool {
		return next.Ask(t, "SELECT pg_last_wal_replay_lsn() >= '"+written+"'") == "t"
	}, patience, time.Millisecond)
	next.Ask(t, "SELECT pg_promote()")
	db, err := OpenPostgres(t.Context(), next.DSN("postgres"), Options{})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, db.Close()) })
	p.create(t, alice, "contact", "name", "only the old primary has it")
	p.db = db.(engine)
	r := p.open(t, p.standby.DSN("postgres"), 0)
	require.ErrorContains(t, r.Fault(), "it does not follow the primary: it is on timeline 00000001, and the primary on 00000002")

	// It follows: its primary is the new one.
	p.standby.Stop()
	p.primary.Stop()
	p.standby = next.Standby(t, "standby")
	require.NoError(t, p.open(t, p.standby.DSN("postgres"), patience).Fault())
}

// TestPositionsAreShared: a list is told of no position that was found before it
// was asked for; those that come while one is looked for share the next one.
func TestPositionsAreShared(t *testing.T) {
	t.Parallel()
	asked, answers := make(chan struct{}), make(chan string)
	p := positions{find: func(context.Context) (position, error) {
		asked <- struct{}{}
		return position{lsn: <-answers}, nil
	}}
	got := make(chan string, 3)
	ask := func() {
		at, err := p.ask(t.Context())
		require.NoError(t, err)
		got <- at.lsn
	}
	go ask()
	<-asked
	go ask()
	go ask()
	require.Eventually(t, func() bool {
		p.mu.Lock()
		defer p.mu.Unlock()
		return p.next != nil
	}, patience, time.Millisecond)
	answers <- "first"
	require.Equal(t, "first", <-got)
	<-asked
	answers <- "second"
	require.Equal(t, "second", <-got)
	select {
	case <-asked: // the third came too late to share the second
		answers <- "second"
	case again := <-got:
		got <- again
	}
	require.Equal(t, "second", <-got)
}

// TestReadOnlyServer: the connections to a server that takes no writes any more
// end, and the next ones are made to the one that does.
func TestReadOnlyServer(t *testing.T) {
	t.Parallel()
	primary := sqltest.Primary(t)
	standby := primary.Standby(t, "next")
	dsn := "postgres://frontdesk@" + primary.Address() + "," + standby.Address() + "/postgres?sslmode=disable&target_session_attrs=read-write"
	db, err := OpenPostgres(t.Context(), dsn, Options{})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, db.Close()) })
	s := newFixture(t, db)
	s.create(t, alice, "contact", "name", "before")
	require.Eventually(t, func() bool {
		return standby.Ask(t, "SELECT pg_last_wal_replay_lsn() >= '"+primary.Ask(t, "SELECT pg_current_wal_flush_lsn()")+"'") == "t"
	}, patience, time.Millisecond)
	standby.Ask(t, "SELECT pg_promote()")
	primary.Configure(t, "default_transaction_read_only=on")
	require.Eventually(t, func() bool { // until the connections of the pool have heard of it as well
		s.create(t, alice, "contact", "name", "after")
		return standby.Ask(t, "SELECT count(*) > 1 FROM contact") == "t"
	}, patience, time.Millisecond)
	require.Equal(t, mapping.TextValue("before"), s.list(t, "contact", backend.Query{Limit: 1}).Records[0].Get("name"))
}

// TestReplicaNeedsNoRights: a role that may do nothing but read and write can ask
// all that has to be asked.
func TestReplicaNeedsNoRights(t *testing.T) {
	t.Parallel()
	p := newPair(t, patience)
	p.primary.Ask(t, "CREATE ROLE plain LOGIN")
	p.primary.Ask(t, "GRANT SELECT ON ALL TABLES IN SCHEMA public TO plain")
	plain := func(n *sqltest.Node) string { return strings.Replace(n.DSN("postgres"), "frontdesk@", "plain@", 1) }
	db, err := OpenPostgres(t.Context(), plain(p.primary), Options{})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, db.Close()) })
	_, ok := p.ask(t, backend.Query{Limit: 1}) // the standby has the role, too
	require.True(t, ok)
	p.db = db.(engine)
	p.replica = p.open(t, plain(p.standby), patience)
	require.NoError(t, p.replica.Fault())
	_, ok = p.ask(t, backend.Query{Limit: 1})
	require.True(t, ok)
}
