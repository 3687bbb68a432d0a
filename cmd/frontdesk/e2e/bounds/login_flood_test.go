package bounds

import (
	"fmt"
	"regexp"
	"strconv"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"frontdesk/cmd/frontdesk/rig"
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
	answers := make([]rig.Answer, many)
	var flood sync.WaitGroup
	for n := range many {
		flood.Go(func() {
			a, err := d.Try("GET", rig.LoginPath(rig.FullKey, fmt.Sprint("user", n), "wrong"), "", "", "X-Forwarded-For", fmt.Sprintf("10.0.%d.1", n))
			if err != nil {
				t.Error(err)
			}
			answers[n] = a
		})
	}
	require.Eventually(t, func() bool { return waiting() > 100 }, rig.Patience, rig.Patience/10_000)
	require.Equal(t, 200, right().Status)
	require.Greater(t, waiting(), 30, "it has not waited for them")
	flood.Wait()
	turnedAway := 0
	for n, a := range answers {
		if a.Status == 429 {
			require.NotEmpty(t, a.Header.Get("Retry-After"))
			turnedAway++
			continue
		}
		require.Equal(t, 401, a.Status, "%d: %s", n, a.Body)
	}
	require.Positive(t, turnedAway)
	require.Contains(t, d.OpsText("/metrics"), fmt.Sprintf("frontdesk_logins_total{outcome=\"busy\"} %d\n", turnedAway))
}
