package simulation

import (
	"crypto/tls"
	"io"
	"log"
	"net/http"
	"sync"
	"sync/atomic"
	"time"

	"github.com/stretchr/testify/require"

	"frontdesk/gateway/webhook/webhooktest"
)

// What receivers do at times, beside taking the call.
var hookDoes = []string{"refuse", "hang", "redirect", "break off"}

// hooks are the receivers of all callbacks.
type hooks struct {
	does   atomic.Value // string
	server http.Server
	over   sync.WaitGroup

	mu    sync.Mutex
	taken map[string]int       // calls that were answered 200, by id
	first map[string]time.Time // call, by id
}

func (w *world) listen(a *webhooktest.Authority) *hooks {
	h := &hooks{taken: map[string]int{}, first: map[string]time.Time{}}
	h.does.Store("")
	at, err := w.net.Listen("receivers", receivers)
	require.NoError(w.t, err)
	h.server = http.Server{Handler: h, ErrorLog: log.New(io.Discard, "", 0)}
	config := &tls.Config{Certificates: []tls.Certificate{a.Issue(w.t, "hooks.example.com", time.Now().AddDate(1, 0, 0))}}
	h.over.Go(func() { _ = h.server.Serve(tls.NewListener(at, config)) })
	return h
}

func (h *hooks) close() {
	_ = h.server.Close()
	h.over.Wait()
}

func (h *hooks) ServeHTTP(rw http.ResponseWriter, r *http.Request) {
	id, does := r.URL.Query().Get("id"), h.does.Load()
	h.mu.Lock()
	if h.first[id].IsZero() {
		h.first[id] = time.Now()
	}
	h.mu.Unlock()
	if r.URL.Path != "/demo" { // the receivers of the other client always do
		does = ""
	}
	switch does {
	case "refuse":
		rw.WriteHeader(http.StatusInternalServerError)
	case "hang":
		select {
		case <-r.Context().Done():
		case <-time.After(time.Minute):
		}
	case "redirect":
		http.Redirect(rw, r, "/elsewhere", http.StatusFound)
	case "break off":
		panic(http.ErrAbortHandler)
	default:
		h.mu.Lock()
		h.taken[id]++
		h.mu.Unlock()
	}
}

func (h *hooks) heard(id string) int {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.taken[id]
}

// told is when a call was tried for the first time.
func (h *hooks) told(id string) time.Time {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.first[id]
}
