package idstore_test

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"frontdesk/backend"
	"frontdesk/backend/idstore"
	"frontdesk/backend/sqlrecord"
	"frontdesk/backend/sqlrecord/sqltest"
	"frontdesk/cmd/frontdesk/rig/await"
)

// turnVictim is the variable that makes this test binary a process to be killed while
// it has a turn: the DSN of its store.
const turnVictim = "FRONTDESK_TURN_VICTIM"

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
	other, err := one.Take(ctx, "order", 2, 7)
	require.NoError(t, err)
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
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), turnVictim+"="+dsn)
	out, err := cmd.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, cmd.Start())
	var told string
	_, err = fmt.Fscanln(out, &told)
	require.NoError(t, err)
	require.NoError(t, cmd.Process.Kill())
	_ = cmd.Wait()

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
	_, err = sqlrecord.Change(t.Context(), db, "UPDATE kept_turn SET until = clock_timestamp()") // as if its time had passed
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
	_, err := s.Take(t.Context(), "order", 1, 7)
	require.ErrorIs(t, err, backend.ErrOwnStore)
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
	fmt.Println("taken")
	<-ctx.Done()
}
