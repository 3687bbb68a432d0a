package remote

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"github.com/valyala/fasthttp/fasthttputil"

	"frontdesk/auth"
	"frontdesk/backend"
	"frontdesk/backend/remote/remotetest"
	"frontdesk/cmd/frontdesk/rig/must"
	"frontdesk/mapping"
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

// watched is a driver before a rack, in memory, that tells of every request before it answers.
func watched(t *testing.T, k IDStore, told func(write bool)) *Driver {
	t.Helper()
	s := remotetest.NewRack()
	file := t.TempDir() + "/keyed.yaml"
	require.NoError(t, os.WriteFile(file, []byte(keyedSheet), 0o600))
	return open(t, Options{Sheet: loadSheetFile(t, file, "http://127.0.0.1:1"), IDStore: k, Dial: inMemory(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
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
	}))})
}

// inMemory connects to what serves without a network.
func inMemory(t *testing.T, serve http.Handler) func(ctx context.Context, network, address string) (net.Conn, error) {
	l := fasthttputil.NewInmemoryListener()
	server := &http.Server{Handler: serve}
	served := make(chan error, 1)
	go func() { served <- server.Serve(l) }()
	t.Cleanup(func() {
		_ = server.Close()
		require.ErrorIs(t, <-served, http.ErrServerClosed)
	})
	return func(context.Context, string, string) (net.Conn, error) { return l.Dial() }
}

// hanging is an id store that does not answer some of what it is asked, as while somebody's maintenance
// has its tables locked.
type hanging struct {
	IDStore
	what atomic.Value // "" for nothing
}

func (k *hanging) hangs(ctx context.Context, what string) error {
	if k.what.Load() != what {
		return nil
	}
	<-ctx.Done()
	return fmt.Errorf("%w: %w", backend.ErrOwnStore, ctx.Err())
}

func (k *hanging) Recall(ctx context.Context, client auth.Client, key string) (*backend.StoredAnswer, error) {
	err := k.hangs(ctx, "recall")
	memo, of := k.IDStore.Recall(ctx, client, key)
	return memo, cmp.Or(err, of)
}

func (k *hanging) Finish(ctx context.Context, client auth.Client, key string, mark int64, m backend.StoredAnswer) error {
	return cmp.Or(k.hangs(ctx, "end"), k.IDStore.Finish(ctx, client, key, mark, m))
}

func (k *hanging) Abandon(ctx context.Context, client auth.Client, key string, mark int64) error {
	return cmp.Or(k.hangs(ctx, "end"), k.IDStore.Abandon(ctx, client, key, mark))
}

func (k *hanging) Take(ctx context.Context, resource string, client int64, id int32) (func(context.Context), error) {
	if err := k.hangs(ctx, "turn"); err != nil {
		return nil, err
	}
	return k.IDStore.Take(ctx, resource, client, id)
}

// strict is a client whose circuit opens with the first failure.
func strict(t *testing.T, d *Driver, timeout time.Duration) *backend.Client {
	t.Helper()
	return must.Have(backend.NewClient(d, d.Sheet.Model, backend.Options{Timeout: timeout, CircuitFailures: 1}))(t)
}

// TestKeyLeavesWithItsWrite looks at the store whenever the service is asked for
// something: what a gateway leaves behind that is killed there. Before, the key stood
// there from the log-on on, and was in use for a day though nothing had been sent.
func TestKeyLeavesWithItsWrite(t *testing.T) {
	k := openIDStore(t)
	var key atomic.Value
	var free, used atomic.Int32
	d := watched(t, k, func(write bool) {
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
	c, contacts := strict(t, d, ample), d.Sheet.Model.Resource("contact")
	key.Store("create")
	rec := must.Have(c.Create(bg(), noord, body(t, contacts, `{"kind":"person","name":"Once"}`), keyedBy("create")))(t)
	require.Equal(t, []int32{1, 1}, []int32{free.Load(), used.Load()}, "the log-on, and the write")
	key.Store("update")
	must.Have(c.Update(bg(), noord, rec.ID(), patch(t, contacts, `{"name":"Changed"}`), keyedBy("update")))(t)
	require.Equal(t, []int32{2, 2}, []int32{free.Load(), used.Load()}, "the look at the record, and the write")
	key.Store("unchanged")
	must.Have(c.Update(bg(), noord, rec.ID(), patch(t, contacts, `{"name":"Changed"}`), keyedBy("unchanged")))(t)
	require.EqualValues(t, 2, used.Load())
	for _, key := range []string{"create", "update", "unchanged"} {
		require.Equal(t, "done", string(must.Have(k.Recall(bg(), noord, key))(t).Answer))
	}
}

// TestIDStoreThatHangs: before, a write whose key could not be finished or given back
// waited for that without end, and held its place at the backend.
func TestIDStoreThatHangs(t *testing.T) {
	for end, name := range map[string]string{"finish": "Once", "give back": ""} {
		t.Run(end, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				k := &hanging{IDStore: openIDStore(t)}
				d := watched(t, k, func(write bool) {
					if write {
						k.what.Store("end")
					}
				})
				c, begun := strict(t, d, time.Hour), time.Now()
				rec := mapping.NewRecord(d.Sheet.Model.Resource("contact"))
				rec.Set("kind", mapping.TextValue("person"))
				rec.Set("name", mapping.TextValue(name))
				rec.FillDefaults()
				_, err := c.Create(bg(), noord, mapping.BodyOf(rec), keyedBy("k"))
				require.Equal(t, name != "", err == nil, "%v", err)
				_, refused := mapping.AsViolations(err)
				require.Equal(t, err != nil, refused)
				require.Equal(t, settleTimeout, time.Since(begun).Truncate(time.Second))
				require.Equal(t, "closed", c.State())
			})
		})
	}
}

// TestOwnWaitsCloseNoCircuit: to wait for one's own turn, and for one's own store, is no
// failure of the service. Before, a handful of changes to one record closed the resource
// to everybody.
func TestOwnWaitsCloseNoCircuit(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		k := &hanging{IDStore: openIDStore(t)}
		var writes atomic.Int32
		d := watched(t, k, func(write bool) {
			if write {
				writes.Add(1)
			}
		})
		c, contacts := strict(t, d, 3*time.Second), d.Sheet.Model.Resource("contact")
		rec := create(t, c, noord, "contact", `{"kind":"person","name":"Held"}`)
		later := func(name string, w backend.Write) error {
			_, err := c.Update(bg(), noord, rec.ID(), patch(t, contacts, fmt.Sprintf(`{"name":%q}`, name)), w)
			return err
		}
		require.NoError(t, d.Write(bg(), func(tx backend.Tx) error {
			_, err := tx.Get(bg(), contacts, backend.Query{Client: noord, ID: rec.ID(), ForUpdate: true})
			require.NoError(t, err)
			err = later("Later", backend.Write{})
			require.ErrorIs(t, err, backend.ErrCollision)
			found, _ := mapping.AsViolations(err)
			require.Positive(t, found[0].RetryAfter)
			return nil
		}))
		for _, what := range []string{"recall", "turn"} {
			k.what.Store(what)
			err := later("Later", keyedBy("k"))
			require.ErrorIs(t, err, backend.ErrOwnStore, what)
			require.ErrorIs(t, err, context.DeadlineExceeded)
			require.Equal(t, "closed", c.State())
		}
		k.what.Store("")
		require.EqualValues(t, 1, writes.Load())
		require.NoError(t, later("Now", keyedBy("k")))
	})
}

// TestWhatIsLateIsNotSent: a request whose time is up, or whose client has gone, once its
// key is taken is not begun, and leaves the key free.
func TestWhatIsLateIsNotSent(t *testing.T) {
	for _, unchanged := range []bool{false, true} {
		own := openIDStore(t)
		ctx, leave := context.WithCancel(bg())
		var writes atomic.Int32
		d := watched(t, goneIDStore{own, leave}, func(write bool) {
			if write {
				writes.Add(1)
			}
		})
		c := strict(t, d, ample)
		rec := create(t, c, noord, "contact", `{"kind":"person","name":"Here"}`)
		change := `{"name":"Gone"}`
		if unchanged {
			change = `{"name":"Here"}`
		}
		_, err := c.Update(ctx, noord, rec.ID(), patch(t, rec.Resource, change), keyedBy("k"))
		require.ErrorIs(t, err, context.Canceled)
		require.NotErrorIs(t, err, backend.ErrUnsettled)
		require.EqualValues(t, 1, writes.Load(), "the create")
		require.Nil(t, must.Have(own.Recall(bg(), noord, "k"))(t))
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

// TestWhatIsNotWrittenIsNotSent: a write of which no byte went out leaves its key free.
func TestWhatIsNotWrittenIsNotSent(t *testing.T) {
	k := openIDStore(t)
	d := watched(t, k, func(bool) {})
	var deaf atomic.Bool
	connect := d.conn.wire.pool.connect
	d.conn.wire.pool.connect = func(ctx context.Context, network, address string) (net.Conn, error) {
		c, err := connect(ctx, network, address)
		return deafConn{c, &deaf}, err
	}
	c, contacts := patient(t, d), d.Sheet.Model.Resource("contact")
	create(t, c, noord, "contact", `{"kind":"person","name":"Logs on"}`)
	deaf.Store(true)
	_, err := c.Create(bg(), noord, body(t, contacts, `{"kind":"person","name":"Unwritten"}`), keyedBy("k"))
	require.ErrorIs(t, err, net.ErrClosed)
	require.NotErrorIs(t, err, backend.ErrUnsettled)
	require.Nil(t, must.Have(k.Recall(bg(), noord, "k"))(t))
}

// deafConn is a connection that takes nothing once it is deaf.
type deafConn struct {
	net.Conn
	deaf *atomic.Bool
}

func (c deafConn) Write(b []byte) (int, error) {
	if c.deaf.Load() {
		return 0, net.ErrClosed
	}
	return c.Conn.Write(b)
}

// elsewhereSheet is that of a rack with the lines of its orders in a list of their own.
const elsewhereSheet = `format: 2
source: {http: {url: "${SERVICE_URL}", walk: {query: {page: "{page.number}", limit: "{page.limit}"}, result: items, paging: {style: page, size: 10}}}}
keep: keep.db
rules: backend
client: org
accounts: {users: []}
resources:
  contact: {path: /contacts, key: {path: id, id: kept}, fields: {kind: {path: kind, codes: {P: person}}, name: name}}
  order:
    path: /orders
    key: {path: nr, id: kept}
    fields: {contact_id: contact, kind: {constant: sales}, order_status: {constant: open}, order_date: {constant: "2026-01-01T00:00:00Z"}, description: note, orderlines: {readonly: true}}
  orderline: {path: /lines, key: {path: id, id: kept}, client: {through: order_id}, fields: {order_id: ord, description: text, quantity: qty, price: price, turnover_group_id: {absent: true}}}
`

// TestAnswerToAWriteWaits: before, what the answer to a write needed beside the record had two seconds, of
// whatever a request may take, and then the write was answered as failed, though it was done.
func TestAnswerToAWriteWaits(t *testing.T) {
	for lines, answered := range map[time.Duration]bool{5 * time.Second: true, 50 * time.Second: false} {
		t.Run(lines.String(), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := remotetest.NewRack()
				file := t.TempDir() + "/elsewhere.yaml"
				require.NoError(t, os.WriteFile(file, []byte(elsewhereSheet), 0o600))
				d := open(t, Options{Sheet: loadSheetFile(t, file, "http://127.0.0.1:1"), IDStore: openIDStore(t), Dial: inMemory(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
					if r.URL.Path == "/lines" {
						time.Sleep(lines)
					}
					s.ServeHTTP(w, r)
				}))})
				c, orders := strict(t, d, time.Minute), d.Sheet.Model.Resource("order")
				page, err := c.List(bg(), orders, backend.Query{Client: north, Limit: 1})
				require.NoError(t, err)
				require.Len(t, page.Records, 1)
				begun := time.Now()
				rec, err := c.Update(bg(), north, page.Records[0].ID(), patch(t, orders, `{"description":"Changed"}`), backend.Write{})
				if !answered {
					require.ErrorContains(t, err, "the copy of orderline is not whole yet")
					require.Less(t, time.Since(begun), time.Minute)
					time.Sleep(time.Minute) // the walk goes on
					return
				}
				require.NoError(t, err)
				require.Equal(t, "Changed", rec.Get("description").Text())
			})
		})
	}
}
