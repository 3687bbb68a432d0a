package remote

import (
	"bytes"
	"regexp"
	"runtime/pprof"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"frontdesk/backend/remote/remotetest"
	"frontdesk/cmd/frontdesk/rig/await"
)

// TestCopyAsksOnce asks once for all lists that wait.
func TestCopyAsksOnce(t *testing.T) {
	s := remotetest.NewRack()
	d := copiedFrom(t, s, remotetest.WithSince)
	listed(t, d, north, "contact", "name")
	s.Seen()
	var all sync.WaitGroup
	s.Do(func() { // the service does not answer until all wait
		for range 20 {
			all.Go(func() { listed(t, d, north, "contact", "name") })
		}
		waits := regexp.MustCompile(`\[select[^]]*\]:\nfrontdesk/backend/remote\.flown\(`)
		await.True(t, func() bool {
			var stacks bytes.Buffer
			require.NoError(t, pprof.Lookup("goroutine").WriteTo(&stacks, 2))
			return len(waits.FindAll(stacks.Bytes(), -1)) == 20
		})
	})
	all.Wait()
	calls := 0
	for _, call := range s.Seen() {
		if strings.Contains(call, "since=") {
			calls++
		}
	}
	assert.Less(t, calls, 20, "and each question has two pages")
}
