package remote

import (
	"bytes"
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"frontdesk/auth"
	"frontdesk/backend"
	"frontdesk/backend/idstore"
	"frontdesk/backend/remote/remotetest"
	"frontdesk/backend/sqlrecord"
	"frontdesk/backend/sqlrecord/sqltest"
	"frontdesk/mapping"
	"frontdesk/mapping/sheet"
)

// keyedBy is a write under a key.
func keyedBy(key string) backend.Write {
	return backend.Write{Idempotency: &backend.Idempotency{Key: key, Answer: func(mapping.Record) []byte { return []byte("done") }}}
}

// keyedSheet is that of a rack behind a log-on, which nobody walks.
const keyedSheet = `format: 2
source: {http: {url: "${SERVICE_URL}", log_on: {request: {path: /token}, token: token, headers: {Authorization: "{token}"}}}}
keep: keep.db
rules: backend
client: org
accounts: {users: []}
errors: [{when: {status: "422"}, reason: varchar_invalid, field: name}]
resources:
  contact:
    path: /contacts
    key: {path: id, id: kept}
    operations: {only: [get, create, update]}
    fields: {kind: kind, name: name}
`

// watched is a rack that tells of every request before it answers.
func watched(t *testing.T, k IDStore, timeout time.Duration, told func(write bool)) (*backend.Client, *Driver) {
	t.Helper()
	return watchedAt(t, keyedSheetAt(t, remotetest.NewRack(), told), k, timeout)
}

func keyedSheetAt(t *testing.T, s *remotetest.Rack, told func(write bool)) *sheet.Sheet {
	t.Helper()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		told(r.Method != http.MethodGet && r.URL.Path != "/token")
		sent, _ := io.ReadAll(r.Body)
		r.Body = io.NopCloser(bytes.NewReader(sent))
		switch {
		case r.URL.Path == "/token":
			_, _ = w.Write([]byte(`{"token":"t"}`))
		case bytes.Contains(sent, []byte(`"name":""`)):
			w.WriteHeader(http.StatusUnprocessableEntity)
		default:
			s.ServeHTTP(w, r)
		}
	}))
	t.Cleanup(server.Close)
	file := t.TempDir() + "/keyed.yaml"
	require.NoError(t, os.WriteFile(file, []byte(keyedSheet), 0o600))
	return loadSheetFile(t, file, server.URL)
}

func watchedAt(t *testing.T, sh *sheet.Sheet, k IDStore, timeout time.Duration) (*backend.Client, *Driver) {
	t.Helper()
	d := open(t, Options{Sheet: sh, IDStore: k})
	c, err := backend.NewClient(d, sh.Model, backend.Options{Timeout: timeout, CircuitFailures: 1})
	require.NoError(t, err)
	return c, d
}

// sharedIDStore opens a store in a PostgreSQL database, and how its table is locked until
// free is called, as by somebody's maintenance.
func sharedIDStore(t *testing.T) (k IDStore, lock func(table string) (free func())) {
	t.Helper()
	dsn := sqltest.Postgres(t)
	db, err := sqlrecord.OpenPostgres(bg(), dsn, sqlrecord.Options{})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, db.Close()) })
	k, err = idstore.Open(bg(), db, idstore.Options{Now: time.Now})
	require.NoError(t, err)
	return k, func(table string) func() {
		c, err := pgx.Connect(bg(), dsn)
		assert.NoError(t, err)
		_, err = c.Exec(bg(), "BEGIN; LOCK TABLE "+table+" IN ACCESS EXCLUSIVE MODE")
		assert.NoError(t, err)
		free := sync.OnceFunc(func() { assert.NoError(t, c.Close(bg())) })
		t.Cleanup(free)
		return free
	}
}

// TestKeyLeavesWithItsWrite looks at the store whenever the service is asked for
// something: what a gateway leaves behind that is killed there. Before, the key stood
// there from the log-on on, and was in use for a day though nothing had been sent.
func TestKeyLeavesWithItsWrite(t *testing.T) {
	k := openIDStore(t)
	var key atomic.Value
	var free, used atomic.Int32
	c, s := watched(t, k, ample, func(write bool) {
		memo, err := k.Recall(bg(), noord, key.Load().(string))
		if write {
			used.Add(1)
			assert.True(t, mapping.Is(err, mapping.IdempotencyInUse), "%v", err)
			return
		}
		free.Add(1)
		assert.NoError(t, err)
		assert.Nil(t, memo)
	})
	contacts := s.Sheet.Model.Resource("contact")
	key.Store("create")
	rec, err := c.Create(bg(), noord, body(t, contacts, `{"kind":"person","name":"Once"}`), keyedBy("create"))
	require.NoError(t, err)
	require.Equal(t, []int32{1, 1}, []int32{free.Load(), used.Load()}, "the log-on, and the write")
	key.Store("update")
	_, err = c.Update(bg(), noord, rec.ID(), patch(t, contacts, `{"name":"Changed"}`), keyedBy("update"))
	require.NoError(t, err)
	require.Equal(t, []int32{2, 2}, []int32{free.Load(), used.Load()}, "the look at the record, and the write")
	key.Store("unchanged")
	_, err = c.Update(bg(), noord, rec.ID(), patch(t, contacts, `{"name":"Changed"}`), keyedBy("unchanged"))
	require.NoError(t, err)
	require.EqualValues(t, 2, used.Load())
	for _, key := range []string{"create", "update", "unchanged"} {
		memo, err := k.Recall(bg(), noord, key)
		require.NoError(t, err)
		require.Equal(t, "done", string(memo.Answer))
	}
}

// TestIDStoreThatHangs: before, a write whose key could not be finished or given back
// waited for that without end, and held its place at the backend.
func TestIDStoreThatHangs(t *testing.T) {
	for end, name := range map[string]string{"finish": "Once", "give back": ""} {
		t.Run(end, func(t *testing.T) {
			k, lock := sharedIDStore(t)
			var locked atomic.Bool
			c, s := watched(t, k, 10*ample, func(write bool) {
				if write {
					lock("kept_answer")
					locked.Store(true)
				}
			})
			rec := mapping.NewRecord(s.Sheet.Model.Resource("contact"))
			rec.Set("kind", mapping.TextValue("person"))
			rec.Set("name", mapping.TextValue(name))
			rec.FillDefaults()
			ended := make(chan error, 1)
			go func() {
				_, err := c.Create(bg(), noord, mapping.BodyOf(rec), keyedBy("k"))
				ended <- err
			}()
			select {
			case err := <-ended:
				require.Equal(t, name != "", err == nil, "%v", err)
				_, refused := mapping.AsViolations(err)
				require.Equal(t, err != nil, refused)
			case <-time.After(ample):
				t.Fatal("it waits for the id store")
			}
			require.True(t, locked.Load())
			require.Equal(t, "closed", c.State())
		})
	}
}

// TestOwnWaitsCloseNoCircuit: to wait for one's own turn, and for one's own store, is no
// failure of the service. Before, a handful of changes to one record closed the resource
// to everybody.
func TestOwnWaitsCloseNoCircuit(t *testing.T) {
	k, lock := sharedIDStore(t)
	var writes atomic.Int32
	c, s := watched(t, k, ample, func(write bool) {
		if write {
			writes.Add(1)
		}
	})
	brief, err := backend.NewClient(s, s.Sheet.Model, backend.Options{Timeout: 3 * time.Second, CircuitFailures: 1})
	require.NoError(t, err)
	contacts := s.Sheet.Model.Resource("contact")
	rec, err := c.Create(bg(), noord, body(t, contacts, `{"kind":"person","name":"Held"}`), backend.Write{})
	require.NoError(t, err)
	require.NoError(t, s.Write(bg(), func(tx backend.Tx) error {
		_, err := tx.Get(bg(), contacts, backend.Query{Client: noord, ID: rec.ID(), ForUpdate: true})
		require.NoError(t, err)
		_, err = brief.Update(bg(), noord, rec.ID(), patch(t, contacts, `{"name":"Later"}`), backend.Write{})
		require.ErrorIs(t, err, backend.ErrCollision)
		found, _ := mapping.AsViolations(err)
		require.Positive(t, found[0].RetryAfter)
		return nil
	}))
	require.Equal(t, "closed", brief.State())

	for _, table := range []string{"kept_answer", "kept_turn"} {
		free := lock(table)
		_, err = brief.Update(bg(), noord, rec.ID(), patch(t, contacts, `{"name":"Later"}`), keyedBy("k"))
		require.ErrorIs(t, err, backend.ErrOwnStore, table)
		require.ErrorIs(t, err, context.DeadlineExceeded)
		require.Equal(t, "closed", brief.State())
		free()
	}
	require.EqualValues(t, 1, writes.Load())
	_, err = c.Update(bg(), noord, rec.ID(), patch(t, contacts, `{"name":"Now"}`), keyedBy("k"))
	require.NoError(t, err)
}

// TestWhatIsLateIsNotSent: a request whose time is up, or whose client has gone, once its
// key is taken is not begun, and leaves the key free.
func TestWhatIsLateIsNotSent(t *testing.T) {
	for _, unchanged := range []bool{false, true} {
		own := openIDStore(t)
		ctx, leave := context.WithCancel(bg())
		var writes atomic.Int32
		c, s := watched(t, goneIDStore{own, leave}, ample, func(write bool) {
			if write {
				writes.Add(1)
			}
		})
		rec, err := c.Create(bg(), noord, body(t, s.Sheet.Model.Resource("contact"), `{"kind":"person","name":"Here"}`), backend.Write{})
		require.NoError(t, err)
		change := `{"name":"Gone"}`
		if unchanged {
			change = `{"name":"Here"}`
		}
		_, err = c.Update(ctx, noord, rec.ID(), patch(t, rec.Resource, change), keyedBy("k"))
		require.ErrorIs(t, err, context.Canceled)
		require.NotErrorIs(t, err, backend.ErrUnsettled)
		require.EqualValues(t, 1, writes.Load(), "the create")
		memo, err := own.Recall(bg(), noord, "k")
		require.NoError(t, err)
		require.Nil(t, memo)
	}
}

// goneIDStore is a store by which the client has gone once a key is taken.
type goneIDStore struct {
	IDStore
	leave func()
}

func (k goneIDStore) Begin(ctx context.Context, client auth.Client, key string) (int64, error) {
	defer k.leave()
	return k.IDStore.Begin(ctx, client, key)
}
