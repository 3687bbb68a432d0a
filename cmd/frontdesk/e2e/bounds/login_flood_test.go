package bounds

import (
	"fmt"
	"regexp"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"frontdesk/cmd/frontdesk/rig"
	"frontdesk/cmd/frontdesk/rig/await"
)

var passwordsWaiting = regexp.MustCompile(`(?m)^frontdesk_passwords_waiting (\d+)$`)

// TestLoginFlood: wrong logins from many addresses are turned away beyond what may
// wait, none as a failure, and whoever logged in well before goes on logging in.
func TestLoginFlood(t *testing.T) {
	t.Parallel()
	d := rig.OnSQLite(t, rig.Options{Server: "  trusted_proxies: [127.0.0.1]"})
	waiting := func() int {
		found := passwordsWaiting.FindStringSubmatch(d.OpsText("/metrics"))
		require.NotNil(t, found)
		n, err := strconv.Atoi(found[1])
		require.NoError(t, err)
		return n
	}
	right := func() rig.Answer {
		return d.Call("GET", rig.LoginPath(rig.FullKey, "demo", "demo"), "", "", "X-Forwarded-For", "192.0.2.1")
	}
	require.Equal(t, 200, right().Status)

	const many = 240
	var flood sync.WaitGroup
	var over atomic.Bool
	var turnedAway atomic.Int64
	for n := range many {
		flood.Go(func() {
			for status := 429; status == 429 && !over.Load(); { // who is sent away comes again
				a, err := d.Try("GET", rig.LoginPath(rig.FullKey, fmt.Sprint("user", n), "wrong"), "", "", "X-Forwarded-For", fmt.Sprintf("10.0.%d.1", n))
				if !assert.NoError(t, err) {
					return
				}
				if status = a.Status; status == 429 {
					assert.NotEmpty(t, a.Header.Get("Retry-After"))
					turnedAway.Add(1)
					continue
				}
				assert.Equal(t, 401, status, "%d: %s", n, a.Body)
			}
		})
	}
	defer flood.Wait()
	defer over.Store(true)
	await.True(t, func() bool { return waiting() > 100 })
	require.Equal(t, 200, right().Status)
	require.Greater(t, waiting(), 30, "it has not waited for them")
	over.Store(true)
	flood.Wait()
	require.Positive(t, turnedAway.Load())
	require.Contains(t, d.OpsText("/metrics"), fmt.Sprintf("frontdesk_logins_total{outcome=\"busy\"} %d\n", turnedAway.Load()))
}
