package main

import (
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// TestDrain stops a desk behind a load balancer, which has to notice first.
func TestDrain(t *testing.T) {
	const delay = 7 * time.Second
	text := strings.Replace(keptConfig(t, engines[0].dsn(t), "", keptKey(`"GET /order"`)), "vendor: Example", "vendor: Example, drain_delay: 7s", 1)
	k := startKept(t, filepath.Join(t.TempDir(), "frontdesk.yaml"), text, false)
	token := k.login(fullKey, "demo")
	require.Equal(t, healthOK, k.ready().Status)
	k.stop()
	require.Eventually(t, func() bool { return k.timers.held(delay) == 1 }, patience, time.Millisecond)
	require.Equal(t, 503, k.askOps("/readyz").Status)
	require.Equal(t, healthDraining, k.ready().Status)
	require.Equal(t, 200, k.status("GET", "/order", token), "it serves until load balancers have noticed")
	require.JSONEq(t, `{"status":"ok"}`, k.opsText("/healthz"), "and is not to be started anew")
	require.Equal(t, 1, k.timers.pass(delay))
	<-k.stopped
	require.Zero(t, k.code, "%s", k.log)
}

// TestBlockedUserEnds blocks a user by the command, beside a desk that serves.
func TestBlockedUserEnds(t *testing.T) {
	onEngines(t, func(t *testing.T, dsn string) {
		k := startKept(t, filepath.Join(t.TempDir(), "frontdesk.yaml"), keptConfig(t, dsn, "", keptKey(`"GET /order"`)), false)
		blocked, other := k.login(fullKey, "demo"), k.login(fullKey, "other")
		command := func(what string) {
			t.Helper()
			code, _, errs := command(t, "", "user", what, "demo", "--config", k.file)
			require.Zero(t, code, errs)
		}
		asked := func() {
			t.Helper()
			require.Eventually(t, func() bool { return k.timers.pass(blockedEvery) > 0 }, patience, time.Millisecond)
			require.Eventually(t, func() bool { return k.timers.held(blockedEvery) > 0 }, patience, time.Millisecond)
		}
		command("block")
		asked()
		require.Equal(t, 401, k.status("GET", "/order", blocked))
		require.Equal(t, 200, k.status("GET", "/order", other))
		require.Equal(t, 401, k.status("GET", loginPath(fullKey, "demo", "demo"), ""))

		command("unblock")
		asked()
		again := k.login(fullKey, "demo")
		asked()
		require.Equal(t, 200, k.status("GET", "/order", again))
		command("block")
		asked()
		require.Equal(t, 401, k.status("GET", "/order", again), "a second time")

		command("unblock")
		again = k.login(fullKey, "demo")
		command("block")
		asked()
		require.Equal(t, 401, k.status("GET", "/order", again), "nobody looked in between")
	})
}
