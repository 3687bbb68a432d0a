package legacy

import (
	"context"
	"io"
	"net"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"frontdesk/backend"
	"frontdesk/mapping"
	"frontdesk/mapping/sheet"
)

// wire stands between the driver and its server, and can be cut.
type wire struct {
	listener net.Listener
	server   string
	mu       sync.Mutex
	cut      bool
	open     map[net.Conn]bool
	done     sync.WaitGroup
}

func newWire(t *testing.T, server string) *wire {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	w := &wire{listener: l, server: server, open: map[net.Conn]bool{}}
	w.done.Go(w.accept)
	t.Cleanup(func() {
		_ = l.Close()
		w.set(true)
		w.done.Wait()
	})
	return w
}

func (w *wire) accept() {
	for {
		c, err := w.listener.Accept()
		if err != nil {
			return
		}
		up, err := net.Dial("tcp", w.server)
		w.mu.Lock()
		if err != nil || w.cut {
			_ = c.Close()
			if up != nil {
				_ = up.Close()
			}
			w.mu.Unlock()
			continue
		}
		w.open[c], w.open[up] = true, true
		w.mu.Unlock()
		w.done.Go(func() { w.pass(c, up) })
		w.done.Go(func() { w.pass(up, c) })
	}
}

func (w *wire) pass(to, from net.Conn) {
	_, _ = io.Copy(to, from)
	_ = to.Close()
	_ = from.Close()
}

// set cuts the wire, as when the server is killed, or mends it.
func (w *wire) set(cut bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.cut = cut
	for c := range w.open {
		_ = c.Close()
	}
	clear(w.open)
}

// through is a DSN whose server is reached by a wire.
func through(t *testing.T, engine, dsn string) (string, *wire) {
	t.Helper()
	if engine == "mariadb" {
		at := regexp.MustCompile(`tcp\(([^)]+)\)`).FindStringSubmatch(dsn)
		require.NotNil(t, at)
		w := newWire(t, at[1])
		return strings.Replace(dsn, at[1], w.listener.Addr().String(), 1), w
	}
	at := regexp.MustCompile(`@([^/]+)/`).FindStringSubmatch(dsn)
	require.NotNil(t, at)
	w := newWire(t, at[1])
	return strings.Replace(dsn, at[1], w.listener.Addr().String(), 1), w
}

func TestAServerThatGoesAwayAndComesBack(t *testing.T) {
	for _, engine := range []string{"mariadb", "postgres"} {
		t.Run(engine, func(t *testing.T) {
			dsn, w := through(t, engine, engines[engine](t))
			x := openOn(t, engine, dsn)
			defer x.Close()
			records := newRecords(x)
			before := len(x.all(one, "contact"))

			// In the middle of a transaction: nothing of it remains.
			err := x.Write(t.Context(), func(tx backend.Tx) error {
				_, err := tx.Create(t.Context(), one, records["contact"][0])
				require.NoError(t, err)
				w.set(true)
				_, err = tx.Create(t.Context(), one, records["contact"][0])
				return err
			})
			require.Error(t, err)
			require.NotErrorIs(t, err, backend.ErrUnexpected)
			_, worded := mapping.AsViolations(err)
			require.False(t, worded)

			_, err = x.List(t.Context(), x.model.Resource("contact"), backend.Query{Client: one})
			require.Error(t, err)
			require.Error(t, x.Ping(t.Context()))

			w.set(false)
			require.NoError(t, x.Ping(t.Context()))
			require.Len(t, x.all(one, "contact"), before)
			x.create(one, records["contact"][0])

			// Between calls: nobody notices, whatever is left in the pool.
			pool := func() {
				for _, err := range together(func(int) error {
					_, err := x.tryGet(one, "contact", 1001)
					return err
				}) {
					require.NoError(t, err)
				}
			}
			pool()
			w.set(true)
			w.set(false)
			pool()
			pool()
			w.set(true)
			w.set(false)
			x.create(one, records["contact"][0])

			// At the commit: nobody knows, and nobody tries again.
			tries := 0
			err = x.Write(t.Context(), func(tx backend.Tx) error {
				tries++
				_, err := tx.Create(t.Context(), one, records["employee"][0])
				w.set(true)
				return err
			})
			require.Error(t, err)
			require.Equal(t, 1, tries)
			w.set(false)
			x.create(one, records["contact"][0])
		})
	}
}

// TestKeyOfAnotherForm: an ID from before the sheet's key got another part is no failure of
// the database. Before, it was tried once for every connection, and opened the circuit.
func TestKeyOfAnotherForm(t *testing.T) {
	x := open(t, "sqlite")
	ref := sheet.KeyRef{Resource: "turnovergroup", Client: one.ID, Key: sheet.JoinKey([]sheet.Raw{textRaw("A"), textRaw("B"), textRaw("C"), textRaw("D")})}
	ids, err := x.idStore.IDs(t.Context(), []sheet.KeyRef{ref})
	require.NoError(t, err)
	var calls []backend.Outcome
	x.front, err = backend.NewClient(x.Store, x.model, backend.Options{Timeout: 30 * time.Second, Observe: func(_ context.Context, call backend.Call) { calls = append(calls, call.Outcome) }})
	require.NoError(t, err)
	_, err = x.tryGet(one, "turnovergroup", ids[ref])
	require.ErrorIs(t, err, errKeyForm)
	require.Equal(t, []backend.Outcome{backend.Unexpected}, calls)
}
