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

	"github.com/stretchr/testify/require"

	"frontdesk/backend"
	"frontdesk/backend/idstore"
	"frontdesk/backend/sqlrecord"
	"frontdesk/backend/sqlrecord/sqltest"
	"frontdesk/mapping"
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
	other, err := one.Take(t.Context(), "order", 2, 7)
	require.NoError(t, err)
	var at, most atomic.Int32
	var all sync.WaitGroup
	for n := range 24 {
		s := []*idstore.Store{one, two}[n%2]
		all.Go(func() {
			release, err := s.Take(t.Context(), "order", 1, 7)
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

	short, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	_, err = s.Take(short, "order", 1, 7)
	require.ErrorIs(t, err, context.DeadlineExceeded)

	var left int64
	require.NoError(t, db.Read(t.Context(), func(c sqlrecord.Conn) error {
		const sql = "SELECT extract(epoch FROM until - clock_timestamp())::bigint FROM kept_turn"
		return c.Query(t.Context(), sql, []sqlrecord.Column{{Type: mapping.Int4}}, nil, func(row []mapping.Value) error {
			left = row[0].Int()
			return nil
		})
	}))
	require.LessOrEqual(t, left, int64(victimsTime/time.Second))
	require.Greater(t, left, int64(0))

	waiting := make(chan error, 1)
	go func() {
		release, err := s.Take(t.Context(), "order", 1, 7)
		if err == nil {
			release(t.Context())
		}
		waiting <- err
	}()
	require.NoError(t, db.Write(t.Context(), func(c sqlrecord.Conn) error { // as if its time had passed
		_, err := c.Exec(t.Context(), "UPDATE kept_turn SET until = clock_timestamp()")
		return err
	}))
	require.NoError(t, <-waiting)
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
	require.NoError(t, sqltest.Execute(dsn, `CREATE SEQUENCE looks`, // of which the second lasts
		`CREATE FUNCTION look() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN IF nextval('looks') > 1 THEN PERFORM pg_sleep(60); END IF; RETURN NEW; END $$`,
		`CREATE TRIGGER look BEFORE INSERT ON kept_turn FOR EACH ROW EXECUTE FUNCTION look()`))

	ctx, waiting := ending{t.Context(), make(chan struct{})}, make(chan error, 1)
	go func() {
		_, err := two.Take(ctx, "order", 1, 7)
		waiting <- err
	}()
	for looks := int64(0); looks < 2; {
		require.NoError(t, db.Read(t.Context(), func(c sqlrecord.Conn) error {
			return c.Query(t.Context(), "SELECT last_value FROM looks", []sqlrecord.Column{{Type: mapping.Int4}}, nil, func(row []mapping.Value) error {
				looks = row[0].Int()
				return nil
			})
		}))
	}
	close(ctx.done)
	err = <-waiting
	require.ErrorIs(t, err, backend.ErrCollision)
	require.ErrorIs(t, err, context.DeadlineExceeded)
	require.NotErrorIs(t, err, backend.ErrOwnStore)
}

// victimsTime is the deadline of who is killed.
const victimsTime = 10 * time.Minute

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
