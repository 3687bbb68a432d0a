package idstore_test

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.uber.org/zap"
	"go.uber.org/zap/zaptest/observer"

	"frontdesk/backend"
	"frontdesk/backend/idstore"
	"frontdesk/backend/sqlrecord"
	"frontdesk/backend/sqlrecord/sqltest"
	"frontdesk/cmd/frontdesk/rig/await"
	"frontdesk/cmd/frontdesk/rig/must"
	"frontdesk/mapping/sheet"
)

// shared opens a PostgreSQL store as one gateway of several.
func shared(ctx context.Context, dsn string) (*idstore.Store, sqlrecord.DB, error) {
	db, err := sqlrecord.OpenPostgres(ctx, dsn, sqlrecord.Options{})
	if err != nil {
		return nil, nil, err
	}
	s, err := idstore.Open(ctx, db, idstore.Options{Now: clock})
	return s, db, err
}

func openShared(t *testing.T, dsn string) (*idstore.Store, sqlrecord.DB) {
	s, db, err := shared(t.Context(), dsn)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, db.Close()) })
	return s, db
}

// TestOneTurnAtATime: over two gateways nobody has the turn of a record while another
// one has it; other records are not waited for.
func TestOneTurnAtATime(t *testing.T) {
	dsn := sqltest.Postgres(t)
	one, db := openShared(t, dsn)
	two, _ := openShared(t, dsn)
	ctx, cancel := context.WithTimeout(t.Context(), victimsTime) // which a turn is taken for, and nobody waits for
	defer cancel()
	other := must.Have(one.Take(ctx, "order", 2, 7))(t)
	var at, most atomic.Int32
	var all sync.WaitGroup
	for n := range 24 {
		s := []*idstore.Store{one, two}[n%2]
		all.Go(func() {
			release, err := s.Take(ctx, "order", 1, 7)
			if err != nil {
				t.Error(err)
				return
			}
			now := at.Add(1)
			for was := most.Load(); now > was && !most.CompareAndSwap(was, now); was = most.Load() {
			}
			if err := db.Ping(t.Context()); err != nil { // long enough for others to come in
				t.Error(err)
			}
			at.Add(-1)
			release(t.Context())
		})
	}
	all.Wait()
	require.EqualValues(t, 1, most.Load())
	other(t.Context())
}

// TestTurnOfAKilledGateway ends with the deadline of the request that it was taken for.
func TestTurnOfAKilledGateway(t *testing.T) {
	dsn := sqltest.Postgres(t)
	s, db := openShared(t, dsn)
	killed(t, "turn", dsn, 1)
	left := numberOf(t, db, "SELECT extract(epoch FROM until - clock_timestamp())::bigint FROM kept_turn")
	require.LessOrEqual(t, left, int64(victimsTime/time.Second))
	require.Greater(t, left, int64(0))

	taken := make(chan struct{})
	looks := countLooks(t, dsn, db, "")
	go func() {
		defer close(taken)
		release, err := s.Take(t.Context(), "order", 1, 7)
		if assert.NoError(t, err) {
			release(t.Context())
		}
	}()
	looks(2)
	select {
	case <-taken:
		t.Fatal("it is the turn of who was killed")
	default:
	}
	_, err := sqlrecord.Change(t.Context(), db, "UPDATE kept_turn SET until = clock_timestamp()") // as if its time had passed
	require.NoError(t, err)
	<-taken
}

// countLooks has each look for a turn counted, and do something then; looks waits for so many.
func countLooks(t *testing.T, dsn string, db sqlrecord.DB, then string) (looks func(n int64)) {
	t.Helper()
	require.NoError(t, sqltest.Execute(dsn, `CREATE SEQUENCE looks`,
		`CREATE FUNCTION look() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN PERFORM nextval('looks'); `+then+` RETURN NEW; END $$`,
		`CREATE TRIGGER look BEFORE INSERT ON kept_turn FOR EACH ROW EXECUTE FUNCTION look()`))
	return func(n int64) {
		await.True(t, func() bool { return numberOf(t, db, "SELECT last_value FROM looks") >= n })
	}
}

func numberOf(t *testing.T, db sqlrecord.DB, query string) (n int64) {
	t.Helper()
	require.NoError(t, db.Read(t.Context(), func(c sqlrecord.Conn) error {
		row, err := sqlrecord.One(t.Context(), c, query, []sqlrecord.Column{sqlrecord.Number})
		if err == nil {
			n = row[0].Int()
		}
		return err
	}))
	return n
}

// TestTurnThatIsNotCommitted: a turn whose row is lost with its transaction is none.
func TestTurnThatIsNotCommitted(t *testing.T) {
	dsn := sqltest.Postgres(t)
	s, _ := openShared(t, dsn)
	require.NoError(t, sqltest.Execute(dsn,
		`CREATE FUNCTION lose() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE EXCEPTION 'lost'; END $$`,
		`CREATE CONSTRAINT TRIGGER lose AFTER INSERT ON kept_turn DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION lose()`))
	require.ErrorIs(t, must.Fail(s.Take(t.Context(), "order", 1, 7)), backend.ErrOwnStore)
}

// ending is a context whose deadline passes when the test says so.
type ending struct {
	context.Context
	done chan struct{}
}

func (e ending) Done() <-chan struct{} { return e.done }

func (e ending) Err() error {
	select {
	case <-e.done:
		return context.DeadlineExceeded
	default:
		return nil
	}
}

// TestDeadlineWithinALook: a turn that another gateway has is one, too, where the deadline passes while the store
// is asked once more. That is answered with Retry-After, and a store that fails is not.
func TestDeadlineWithinALook(t *testing.T) {
	dsn := sqltest.Postgres(t)
	one, db := openShared(t, dsn)
	two, _ := openShared(t, dsn)
	release, err := one.Take(t.Context(), "order", 1, 7)
	require.NoError(t, err)
	defer release(t.Context())
	looks := countLooks(t, dsn, db, "IF currval('looks') > 1 THEN PERFORM pg_sleep(600); END IF;") // the second lasts

	ctx, waiting := ending{t.Context(), make(chan struct{})}, make(chan error, 1)
	go func() {
		_, err := two.Take(ctx, "order", 1, 7)
		waiting <- err
	}()
	looks(2)
	close(ctx.done)
	err = <-waiting
	require.ErrorIs(t, err, backend.ErrCollision)
	require.ErrorIs(t, err, context.DeadlineExceeded)
	require.NotErrorIs(t, err, backend.ErrOwnStore)
}

// victimsTime is the deadline of who is killed.
const victimsTime = time.Hour

// beTurnVictim takes a turn, tells of it, and waits to be killed.
func beTurnVictim(dsn string) {
	ctx, cancel := context.WithTimeout(context.Background(), victimsTime)
	defer cancel()
	s, _, err := shared(ctx, dsn)
	if err != nil {
		panic(err)
	}
	if _, err := s.Take(ctx, "order", 1, 7); err != nil {
		panic(err)
	}
	fmt.Println(1)
	<-ctx.Done()
}

// TestKeysWithoutCase: keys that differ in case alone have one ID, and the spelling
// that was met first; also those that had one each before the sheet said so.
func TestKeysWithoutCase(t *testing.T) {
	onDatabases(t, func(t *testing.T, open func() sqlrecord.DB) {
		db := open()
		defer db.Close()
		core, told := observer.New(zap.InfoLevel)
		start := func(ignoreCase ...string) *idstore.Store {
			return must.Have(idstore.Open(t.Context(), db, idstore.Options{Now: clock, IgnoreCase: ignoreCase, Log: zap.New(core)}))(t)
		}
		allOf := give
		give := func(s *idstore.Store, resource string, client int64, key string) int32 {
			return give(t, s, resource, client, key)[0]
		}
		keyOf := func(s *idstore.Store, n int32) string { return keysOf(t, s, 1, "group", n)[0] }
		before := start()
		upper, lower := give(before, "group", 1, "AB01"), give(before, "group", 1, "ab01")
		alone, theirs := give(before, "group", 1, "Éé|7"), give(before, "group", 2, "AB01")
		require.NotEqual(t, upper, lower)
		many := func(k string) (keys []string) { // folded in several steps
			for i := range 2100 {
				keys = append(keys, k+string(rune(0x4e00+i)))
			}
			return keys
		}
		big := allOf(t, before, "big", 1, many("K")...)

		s := start("group", "big")
		for _, spelling := range []string{"ab01", "Ab01", "AB01", "aB01"} {
			require.Equal(t, upper, give(s, "group", 1, spelling), spelling)
		}
		require.Equal(t, "AB01", keyOf(s, upper))
		require.Equal(t, "none", keyOf(s, lower), "it would be the same record under another ID")
		require.Equal(t, alone, give(s, "group", 1, "éÉ|7"))
		require.Equal(t, theirs, give(s, "group", 2, "ab01"), "of another client")
		require.Equal(t, big, allOf(t, s, "big", 1, many("k")...))
		warned := told.TakeAll()
		require.Len(t, warned, 1)
		require.Equal(t, map[string]any{"resource": "group", "count": int64(1), "ids": []any{int64(lower)}}, warned[0].ContextMap())

		fresh := give(s, "group", 1, "Xy")
		require.Equal(t, fresh, give(s, "group", 1, "xY"))
		require.Equal(t, "Xy", keyOf(s, fresh))
		require.Equal(t, "Xy", keyOf(start("group"), fresh))
		other := give(before, "group", 1, "QQ") // by a gateway that does not know yet
		require.Equal(t, other, give(s, "group", 1, "QQ"))
		require.Equal(t, other, give(s, "group", 1, "qq"))
		require.NotEqual(t, give(s, "group", 1, "e"), give(s, "group", 1, "é"))
		require.NotEqual(t, give(s, "order", 1, "A"), give(s, "order", 1, "a"), "where case counts")

		require.Equal(t, lower, give(start(), "group", 1, "ab01"), "nothing is lost where the sheet takes it back")
	})
}

// TestKeysFoldedAtOnce: another gateway gives out or folds a key while this one does.
func TestKeysFoldedAtOnce(t *testing.T) {
	dsn := sqltest.Postgres(t)
	before, db := openShared(t, dsn)
	start := func(ignoreCase ...string) (*idstore.Store, error) {
		return idstore.Open(t.Context(), db, idstore.Options{Now: clock, IgnoreCase: ignoreCase})
	}
	folding := must.Have(start("group", "area"))(t)
	group, area := give(t, before, "group", 1, "AB01")[0], give(t, before, "area", 1, "AB01")[0] // as of a sheet by which case counts
	other := must.Have(pgx.Connect(t.Context(), dsn))(t)
	defer other.Close(t.Context())
	// meanwhile runs f while the other gateway is in a transaction, which ends once f waits for it.
	meanwhile := func(statement string, args []any, f func() error) {
		t.Helper()
		tx := must.Have(other.Begin(t.Context()))(t)
		must.Have(tx.Exec(t.Context(), statement, args...))(t)
		done := make(chan error, 1)
		go func() { done <- f() }()
		await.True(t, func() bool {
			return numberOf(t, db, "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'") > 0
		})
		require.NoError(t, tx.Commit(t.Context()))
		require.NoError(t, <-done)
	}

	meanwhile("UPDATE kept_id SET folded = $1 WHERE resource = 'area'", []any{sheet.FoldKey("AB01")}, func() error {
		ids, err := folding.IDs(t.Context(), []sheet.KeyRef{ref("area", 1, "ab01")})
		assert.Equal(t, sheet.IDs{ref("area", 1, "ab01"): area}, ids)
		return err
	})

	meanwhile("INSERT INTO kept_id (resource, client_id, key, id, folded) VALUES ('group', 1, 'ab01', 7, $1)", []any{sheet.FoldKey("ab01")}, func() error {
		_, err := start("group")
		return err
	})
	require.Equal(t, []string{"ab01", "none"}, keysOf(t, folding, 1, "group", 7, group), "the first stays, the other is found no more")
}
