package gateway

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"net/http"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"frontdesk/backend"
	"frontdesk/gateway/webhook"
	"frontdesk/gateway/webhook/jobstore"
	"frontdesk/gateway/webhook/webhooktest"
	"frontdesk/mapping"
)

// longFixture is a fixture with callbacks, in which some operations are long-running.
type longFixture struct {
	*fixture
	receiver string      // whose address a request names
	called   chan string // the ids of its calls
}

func newLongFixture(t *testing.T, long ...Grant) *longFixture {
	h := &longFixture{called: make(chan string, 1)}
	authority := webhooktest.NewAuthority(t)
	server := authority.Serve(t, "127.0.0.1", http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { h.called <- r.URL.Query().Get("id") }))
	h.receiver = server.URL + "/ready?shop=1"
	var callbacks *Callbacks
	var jobs *jobstore.Store
	h.fixture = newFixture(t, func(f *fixture, o *Options) {
		var err error
		jobs, err = jobstore.Open(t.Context(), f.store.Database())
		require.NoError(t, err)
		files, err := webhook.OpenFiles(filepath.Join(t.TempDir(), "results"))
		require.NoError(t, err)
		callbacks = &Callbacks{
			Links: webhook.NewLinks(jobs, f.clock.Now, o.Log), Results: files, Timeout: time.Minute, Long: func(g Grant) bool { return slices.Contains(long, g) },
			Rules: webhook.Rules{AllowHosts: []string{"127.0.0.1"}, Ports: []uint16{443, webhooktest.Port(t, server)}},
		}
		o.Callbacks = callbacks
	})
	callbacks.Orchestrator = webhook.Start(webhook.Config{
		Store: jobs, Results: callbacks.Results, Space: 1 << 20, Runners: h.Runners(),
		Caller:  webhook.NewCaller(webhook.CallerConfig{Rules: callbacks.Rules, Roots: authority.Roots()}),
		Secrets: func(string) []string { return nil }, Model: h.o.Offer.Model.Steps(), Workers: 1, Calls: 1, WorkLease: time.Hour, CallLease: time.Hour,
		Schedule: webhook.NewSchedule(func() float64 { return 0.5 }), Clock: h.clock.Now, Random: rand.Reader, Log: h.o.Log,
	})
	t.Cleanup(func() { require.NoError(t, callbacks.Orchestrator.Close()) })
	return h
}

// crowded has pages of changes that are all of others, before what is told.
type crowded struct {
	backend.Driver
	backend.ChangeTeller
	pages map[string]backend.ChangesPage // by the cursor before them
}

func (c crowded) Changes(_ context.Context, q backend.ChangesQuery) (backend.ChangesPage, error) {
	page, there := c.pages[q.After]
	if !there {
		return page, mapping.Fail(mapping.CursorGone)
	}
	return page, nil
}

// waiting has waits for changes that a backend tells in pages, by the cursor before them.
func waiting(t *testing.T, pages map[string]backend.ChangesPage) (h *longFixture, job func(after string, until time.Time) webhook.Job, run func(webhook.Job) (string, error)) {
	t.Helper()
	h = newLongFixture(t)
	onDriver(func(f *fixture) backend.Driver { return crowded{f.store, f.store, pages} })(h.fixture, &h.o)
	h.o.Callbacks.FindUser = h.store.FindUser
	user, err := h.store.FindUser(t.Context(), "demo")
	require.NoError(t, err)
	job = func(after string, until time.Time) webhook.Job {
		data, err := json.Marshal(storedWait{After: after, Until: until})
		require.NoError(t, err)
		return webhook.Job{ID: "j", Owner: webhook.Owner{Key: "all", User: user}, Work: webhook.Work{Kind: changesWork, Data: data}}
	}
	return h, job, func(j webhook.Job) (string, error) {
		var out bytes.Buffer
		_, err := h.runChanges(t.Context(), j, &out)
		return out.String(), err
	}
}

// deleted is a change.
func (f *longFixture) deleted(id int32) []backend.RecordChange {
	return []backend.RecordChange{{Resource: f.o.Offer.Model.Resource("order"), ID: id, Kind: backend.RecordDeleted, At: f.clock.Now()}}
}

// TestWaitBehindOthers: whoever waits is not called with an empty page because many changes
// of others lie before his own.
func TestWaitBehindOthers(t *testing.T) {
	t.Parallel()
	pages := map[string]backend.ChangesPage{"begin": {Cursor: "between", More: true}, "end": {Cursor: "end"}}
	h, job, run := waiting(t, pages)
	pages["between"] = backend.ChangesPage{Cursor: "end", Changes: h.deleted(7)}
	later := h.clock.Now().Add(time.Hour)
	answer, err := run(job("begin", later))
	require.NoError(t, err)
	require.Contains(t, answer, `"id":7`)
	_, err = run(job("end", later))
	require.True(t, errors.As(err, new(webhook.Asleep)), "%v", err)
	answer, err = run(job("end", h.clock.Now()))
	require.NoError(t, err)
	require.Contains(t, answer, `{"data":[],"cursor":"end","more":false`)
	answer, err = run(job("gone", later))
	require.NoError(t, err)
	require.Contains(t, answer, `"reason":"cursor_gone"`)
}

// TestWaitLongerThanACursorIsGood: a wait goes on from what was looked at last, so it is answered
// also when the cursor that it began with is gone.
func TestWaitLongerThanACursorIsGood(t *testing.T) {
	t.Parallel()
	pages := map[string]backend.ChangesPage{"old": {Cursor: "fresh"}, "fresh": {Cursor: "fresh"}}
	h, job, run := waiting(t, pages)
	j, over := job("old", h.clock.Now().Add(time.Hour)), job("old", h.clock.Now())
	require.Empty(t, h.Ready(t.Context(), []webhook.Job{j}))
	delete(pages, "old")
	answer, err := run(over)
	require.NoError(t, err)
	require.Contains(t, answer, `{"data":[],"cursor":"fresh","more":false`)
	pages["fresh"] = backend.ChangesPage{Cursor: "end", Changes: h.deleted(7)}
	require.Len(t, h.Ready(t.Context(), []webhook.Job{j}), 1)
	answer, err = run(j)
	require.NoError(t, err)
	require.Contains(t, answer, `"id":7`)
}
