package legacy

import (
	"context"
	"errors"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"frontdesk/auth"
	"frontdesk/backend"
	"frontdesk/mapping"
)

// tables for answers, as a vendor would make them.
var answerTables = map[string]string{
	"mariadb":  "CREATE TABLE FDANTW (client_id INT NOT NULL, idem_key VARCHAR(255) CHARACTER SET ascii COLLATE ascii_bin NOT NULL, request_sum CHAR(64) NOT NULL, answer LONGTEXT NOT NULL, created_at BIGINT NOT NULL, PRIMARY KEY (client_id, idem_key)) CHARACTER SET utf8mb4",
	"postgres": `CREATE TABLE "FDANTW" (client_id int NOT NULL, idem_key varchar(255) NOT NULL, request_sum char(64) NOT NULL, answer text NOT NULL, created_at bigint NOT NULL, PRIMARY KEY (client_id, idem_key))`,
	"sqlite":   "CREATE TABLE FDANTW (client_id INT NOT NULL, idem_key VARCHAR(255) NOT NULL, request_sum CHAR(64) NOT NULL, answer TEXT NOT NULL, created_at BIGINT NOT NULL, PRIMARY KEY (client_id, idem_key))",
}

// onBothMemories runs f with answers kept in the id store, and in a table.
func onBothMemories(t *testing.T, f func(t *testing.T, x *fixture)) {
	onEngines(t, func(t *testing.T, x *fixture) {
		t.Run("keep", func(t *testing.T) { f(t, x.in(t)) })
		t.Run("table", func(t *testing.T) {
			_, err := x.db.ExecContext(t.Context(), answerTables[x.engine])
			require.NoError(t, err)
			x.answers = x.quoted("FDANTW")
			f(t, x.in(t))
		})
	})
}

// in is the fixture within a part of its test.
func (x *fixture) in(t *testing.T) *fixture {
	y := *x
	y.t = t
	return &y
}

func TestIdempotencyKeys(t *testing.T) {
	onBothMemories(t, func(t *testing.T, x *fixture) {
		line := newRecords(x)["orderline"][0]
		once := &backend.Idempotency{Key: "k1", Sum: [32]byte{1}, Answer: func(rec mapping.Record) []byte { return []byte(shown(rec) + "é") }}
		create := func() error {
			_, err := x.front.Create(t.Context(), one, mapping.BodyOf(line), backend.Write{Idempotency: once})
			return err
		}
		before := len(x.all(one, "orderline"))
		require.NoError(t, create())
		var replay *backend.Replay
		require.ErrorAs(t, create(), &replay)
		require.Contains(t, string(replay.Answer), `"quantity":1.5`)
		require.Contains(t, string(replay.Answer), `é`)
		require.Len(t, x.all(one, "orderline"), before+1)

		once.Sum = [32]byte{2}
		require.True(t, mapping.Is(create(), mapping.IdempotencyReused))
		_, err := x.front.Create(t.Context(), two, mapping.BodyOf(x.record("employee", "username", "nieuw"+x.answers, "last_name", "Nieuw")), backend.Write{Idempotency: once})
		require.NoError(t, err, "another client's key is another key")

		// What did not happen leaves the key free.
		once.Key = "k2"
		refused := line.Clone()
		refused.Set("order_id", mapping.IntValue(1))
		_, err = x.front.Create(t.Context(), one, mapping.BodyOf(refused), backend.Write{Idempotency: once})
		require.True(t, mapping.Is(err, mapping.RelatedIDNotFound), "%v", err)
		require.NoError(t, create())

		x.clock.advance(backend.StoredAnswerLife + 1)
		once.Key, once.Sum = "k1", [32]byte{1}
		require.NoError(t, create(), "forgotten after a day")
	})
}

// The answer of a job outlives the weekend on which nobody started frontdesk.
func TestAnAnswerMayBeKeptForLonger(t *testing.T) {
	onBothMemories(t, func(t *testing.T, x *fixture) {
		const life = 90 * 24 * time.Hour
		once := &backend.Idempotency{Key: "job", Life: life, Answer: func(mapping.Record) []byte { return []byte("done") }}
		create := func() error {
			_, err := x.front.Create(t.Context(), one, mapping.BodyOf(newRecords(x)["orderline"][0]), backend.Write{Idempotency: once})
			return err
		}
		require.NoError(t, create())
		x.clock.advance(life - time.Millisecond)
		var replay *backend.Replay
		require.ErrorAs(t, create(), &replay)
		x.clock.advance(time.Millisecond)
		require.NoError(t, create())
	})
}

func TestAnIdempotencyKeyInUse(t *testing.T) {
	onBothMemories(t, func(t *testing.T, x *fixture) {
		if x.engine == "sqlite" {
			return // whoever is second waits until the first has ended
		}
		undone := errors.New("undone")
		err := x.Write(t.Context(), func(tx backend.Tx) error {
			_, err := tx.Recall(t.Context(), one, "busy")
			require.NoError(t, err)
			if x.answers == "" { // two that are under way at once: the first to commit has it
				_, err = x.Recall(t.Context(), one, "busy")
				require.NoError(t, err)
				require.NoError(t, x.idStore.Begin(t.Context(), one, "busy"))
				return nil
			}
			_, err = x.Recall(t.Context(), one, "busy")
			require.True(t, mapping.Is(err, mapping.IdempotencyInUse), "%v", err)
			return undone
		})
		if x.answers == "" {
			require.ErrorIs(t, err, backend.ErrStale)
			_, err = x.Recall(t.Context(), one, "busy")
			require.True(t, mapping.Is(err, mapping.IdempotencyInUse), "%v", err)
			require.NoError(t, x.idStore.Abandon(t.Context(), one, "busy"))
		} else {
			require.ErrorIs(t, err, undone)
		}
		memo, err := x.Recall(t.Context(), one, "busy")
		require.NoError(t, err)
		require.Nil(t, memo)
	})
}

// TestAnIdempotencyKeyInAnotherDatabase: before, MariaDB took the key of the same client's
// number in another database of its server for the same.
func TestAnIdempotencyKeyInAnotherDatabase(t *testing.T) {
	for _, engine := range []string{"mariadb", "postgres"} {
		t.Run(engine, func(t *testing.T) {
			var both []*fixture
			for range 2 {
				x := open(t, engine)
				_, err := x.db.ExecContext(t.Context(), answerTables[engine])
				require.NoError(t, err)
				x.answers = x.quoted("FDANTW")
				both = append(both, x)
			}
			require.NoError(t, both[0].Write(t.Context(), func(tx backend.Tx) error {
				_, err := tx.Recall(t.Context(), one, "busy")
				require.NoError(t, err)
				_, err = both[1].Recall(t.Context(), one, "busy")
				require.NoError(t, err)
				return nil
			}))
		})
	}
}

// TestIdempotencyKeysOfOthersDoNotWait: before, MariaDB let nobody keep an answer while
// somebody's request under another key was under way.
func TestIdempotencyKeysOfOthersDoNotWait(t *testing.T) {
	onServers(t, func(t *testing.T, x *fixture) {
		_, err := x.db.ExecContext(t.Context(), answerTables[x.engine])
		require.NoError(t, err)
		x.answers = x.quoted("FDANTW")
		under := func(client auth.Client, key string, meanwhile func()) {
			var once sync.Once // PostgreSQL may run it again
			require.NoError(t, x.Write(t.Context(), func(tx backend.Tx) error {
				if _, err := tx.Recall(t.Context(), client, key); err != nil {
					return err
				}
				once.Do(meanwhile)
				return tx.Remember(t.Context(), client, key, backend.StoredAnswer{Sum: [32]byte{1}, Answer: []byte(key)})
			}))
		}
		under(one, "first", func() { under(two, "second", func() { under(one, "third", func() {}) }) })
		for key, client := range map[string]auth.Client{"first": one, "second": two, "third": one} {
			memo, err := x.Recall(t.Context(), client, key)
			require.NoError(t, err)
			require.Equal(t, key, string(memo.Answer))
		}
	})
}

// TestKeyOfWhatWasNotCommitted: whatever becomes of frontdesk while a write is under way,
// its key is free where the database undoes the write. Before, a kill locked it for a day.
func TestKeyOfWhatWasNotCommitted(t *testing.T) {
	onEngines(t, func(t *testing.T, x *fixture) {
		once := &backend.Idempotency{Key: "killed", Answer: func(mapping.Record) []byte { return []byte("done") }}
		line := mapping.BodyOf(newRecords(x)["orderline"][0])
		looks := 0
		watched := watchedDriver{Store: x.Store, written: func() { // a gateway that is killed now leaves what the store has now
			looks++
			memo, err := x.idStore.Recall(t.Context(), one, once.Key)
			require.NoError(t, err)
			require.Nil(t, memo)
		}}
		front, err := backend.NewClient(watched, x.model, backend.Options{Timeout: 30 * time.Second, Now: x.clock.Now})
		require.NoError(t, err)
		_, err = front.Create(t.Context(), one, line, backend.Write{Idempotency: once})
		require.NoError(t, err)
		require.Equal(t, 2, looks, "before the row is written and after")
		_, err = front.Create(t.Context(), one, line, backend.Write{Idempotency: once})
		require.ErrorAs(t, err, new(*backend.Replay))
	})
}

// TestWhatIsLateIsNotCommitted: a request whose client has gone once its key is taken
// leaves the key free.
func TestWhatIsLateIsNotCommitted(t *testing.T) {
	onEngines(t, func(t *testing.T, x *fixture) {
		ctx, leave := context.WithCancel(t.Context())
		own := x.idStore
		x.idStore = goneIDStore{own, leave}
		before := len(x.all(one, "orderline"))
		once := &backend.Idempotency{Key: "late", Answer: func(mapping.Record) []byte { return []byte("done") }}
		_, err := x.front.Create(ctx, one, mapping.BodyOf(newRecords(x)["orderline"][0]), backend.Write{Idempotency: once})
		require.ErrorIs(t, err, context.Canceled)
		require.NotErrorIs(t, err, backend.ErrUnsettled)
		memo, err := own.Recall(t.Context(), one, once.Key)
		require.NoError(t, err)
		require.Nil(t, memo)
		require.Len(t, x.all(one, "orderline"), before)
	})
}

// goneIDStore is a store by which the client has gone once a key is taken.
type goneIDStore struct {
	IDStore
	leave func()
}

func (k goneIDStore) Begin(ctx context.Context, client auth.Client, key string) error {
	err := k.IDStore.Begin(ctx, client, key)
	k.leave()
	return err
}

// TestRefusedByWhatItsOwnKeyDid: two requests with one key are judged at once, and the
// second finds its own record there: it has the answer of the first.
func TestRefusedByWhatItsOwnKeyDid(t *testing.T) {
	onServers(t, func(t *testing.T, x *fixture) {
		once := &backend.Idempotency{Key: "twice", Answer: func(mapping.Record) []byte { return []byte("done") }}
		vehicle := mapping.BodyOf(newRecords(x)["vehicle"][0])
		first := sync.OnceFunc(func() {
			_, err := x.front.Create(t.Context(), one, vehicle, backend.Write{Idempotency: once})
			require.NoError(t, err)
		})
		second, err := backend.NewClient(watchedDriver{Store: x.Store, recalled: first}, x.model, backend.Options{Timeout: 30 * time.Second, Now: x.clock.Now})
		require.NoError(t, err)
		_, err = second.Create(t.Context(), one, vehicle, backend.Write{Idempotency: once})
		require.ErrorAs(t, err, new(*backend.Replay))
	})
}

// watchedDriver calls functions within its transactions: once a key has been looked for,
// and before and after a row is written.
type watchedDriver struct {
	*Store
	recalled, written func()
}

func (w watchedDriver) Write(ctx context.Context, f func(backend.Tx) error) error {
	return w.Store.Write(ctx, func(tx backend.Tx) error { return f(watchedTx{tx, w}) })
}

type watchedTx struct {
	backend.Tx
	by watchedDriver
}

func (w watchedTx) Recall(ctx context.Context, client auth.Client, key string) (*backend.StoredAnswer, error) {
	memo, err := w.Tx.Recall(ctx, client, key)
	if w.by.recalled != nil {
		w.by.recalled()
	}
	return memo, err
}

func (w watchedTx) Create(ctx context.Context, client auth.Client, rec mapping.Record) (mapping.Record, error) {
	if w.by.written != nil {
		w.by.written()
		defer w.by.written()
	}
	return w.Tx.Create(ctx, client, rec)
}
