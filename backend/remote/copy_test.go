package remote

import (
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"

	"frontdesk/backend/remote/remotetest"
)

// TestCopyAsksOnce asks the service what has changed once for all lists that wait, in a bubble: the service
// does not answer until all wait.
func TestCopyAsksOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, answer := remotetest.NewRack(), make(chan struct{})
		var holds atomic.Bool
		polls := func(query string) bool { return strings.Contains(query, "since=") }
		dial := inMemory(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if holds.Load() && polls(r.URL.RawQuery) {
				<-answer
			}
			s.ServeHTTP(w, r)
		}))
		d := openDriver(t, strings.Replace(remotetest.RackSheet, "SINCE", remotetest.WithSince, 1), "http://127.0.0.1:1", "", func(o *Options) { o.Dial = dial })
		listed(t, d, north, "contact", "name")
		s.Seen()
		holds.Store(true)
		var all sync.WaitGroup
		for range 20 {
			all.Go(func() { listed(t, d, north, "contact", "name") })
		}
		synctest.Wait()
		close(answer)
		all.Wait()
		begun := 0
		for _, call := range s.Seen() {
			if polls(call) && strings.Contains(call, "page=1&") {
				begun++
			}
		}
		require.Equal(t, 2, begun, "a poll for who came first, and one for all others")
	})
}
