package gateway

import (
	"crypto/rand"
	"net/http"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"frontdesk/gateway/webhook"
	"frontdesk/gateway/webhook/jobstore"
	"frontdesk/gateway/webhook/webhooktest"
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
