package remote

import (
	"net/http"
	"net/http/httptest"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"frontdesk/backend"
	"frontdesk/backend/remote/remotetest"
	"frontdesk/mapping"
)

// TestLostWrites: a write under a key that is done and not answered leaves the key
// in use, whatever the write is, and is told from one that was not done.
func TestLostWrites(t *testing.T) {
	g := &garage{JSON: remotetest.NewJSON(remotetest.Options{})}
	sent := map[string]*atomic.Int32{"POST": {}, "PATCH": {}, "DELETE": {}}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		lost := r.Method != http.MethodGet && r.URL.Path != "/oauth/token"
		if lost {
			sent[r.Method].Add(1)
			w = httptest.NewRecorder()
		}
		g.ServeHTTP(w, r)
		if lost {
			panic(http.ErrAbortHandler)
		}
	}))
	t.Cleanup(server.Close)
	g.store = open(t, Options{Sheet: loadSheet(t, "garagecloud.yaml", server.URL), IDStore: openIDStore(t)})
	var err error
	g.model = g.store.Sheet.Model
	g.client, err = backend.NewClient(g.store, g.model, backend.Options{Timeout: ample, CircuitFailures: 1000})
	require.NoError(t, err)
	contacts := g.model.Resource("contact")
	unused := func() int32 { // that no rule keeps from being deleted
		page, err := g.client.List(bg(), contacts, backend.Query{Client: noord, Limit: 1000})
		require.NoError(t, err)
		return page.Records[len(page.Records)-1].ID()
	}

	for method, write := range map[string]func(w backend.Write) error{
		"POST": func(w backend.Write) error {
			_, err := g.client.Create(bg(), noord, body(t, contacts, `{"kind":"person","name":"Lost"}`), w)
			return err
		},
		"PATCH": func(w backend.Write) error {
			_, err := g.client.Update(bg(), noord, g.first(t, "contact").ID(), patch(t, contacts, `{"name":"Lost"}`), w)
			return err
		},
		"DELETE": func(w backend.Write) error {
			return g.client.Delete(bg(), noord, contacts, unused(), w)
		},
	} {
		w := backend.Write{Idempotency: &backend.Idempotency{Key: method, Answer: func(mapping.Record) []byte { return []byte("x") }}}
		require.ErrorIs(t, write(w), backend.ErrUnsettled, method)
		require.True(t, mapping.Is(write(w), mapping.IdempotencyInUse), method)
		require.EqualValues(t, 1, sent[method].Load())

		// Begun before, as somebody knows though no key does: it is not sent.
		w = backend.Write{Idempotency: &backend.Idempotency{Key: method + " begun", Answer: w.Idempotency.Answer, Begun: true}}
		for range 2 {
			require.ErrorIs(t, write(w), backend.ErrUnsettled, method)
		}
		require.EqualValues(t, 1, sent[method].Load())
	}
	server.Close()
	_, err = g.client.Create(bg(), noord, body(t, contacts, `{"kind":"person","name":"Unsent"}`), backend.Write{})
	require.True(t, mapping.Is(err, mapping.BackendUnavailable), "%v", err)
	require.NotErrorIs(t, err, backend.ErrUnsettled, "it was never sent")
}
