package records

import (
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"frontdesk/cmd/frontdesk/desk"
	"frontdesk/cmd/frontdesk/rig"
	"frontdesk/cmd/frontdesk/rig/await"
)

// TestDrain stops a desk behind a load balancer, which has to notice first.
func TestDrain(t *testing.T) {
	t.Parallel()
	const delay = 7 * time.Second
	text := strings.Replace(rig.KeptConfig(t, rig.Engines[0].DSN(t), "", rig.KeptKey(`"GET /order"`)), "vendor: Example", "vendor: Example, drain_delay: 7s", 1)
	k := rig.StartKept(t, filepath.Join(t.TempDir(), "frontdesk.yaml"), text, false)
	token := k.Login(rig.FullKey, "demo")
	require.Equal(t, desk.HealthOK, k.Ready().Status)
	k.Stop()
	await.True(t, func() bool { return k.Timers.Held(delay) == 1 })
	require.Equal(t, 503, k.AskOps("/readyz").Status)
	require.Equal(t, desk.HealthDraining, k.Ready().Status)
	require.Equal(t, 200, k.Status("GET", "/order", token), "it serves until load balancers have noticed")
	require.JSONEq(t, `{"status":"ok"}`, k.OpsText("/healthz"), "and is not to be started anew")
	require.Equal(t, 1, k.Timers.Pass(delay))
	<-k.Stopped
	require.Zero(t, k.Code, "%s", k.Log)
}

// TestBlockedUserEnds blocks a user by the command, beside a desk that serves.
func TestBlockedUserEnds(t *testing.T) {
	t.Parallel()
	rig.OnEngines(t, func(t *testing.T, dsn string) {
		k := rig.StartKept(t, filepath.Join(t.TempDir(), "frontdesk.yaml"), rig.KeptConfig(t, dsn, "", rig.KeptKey(`"GET /order"`)), false)
		other := k.Login(rig.FullKey, "other")
		command := func(what string) {
			t.Helper()
			code, _, errs := rig.Command(t, "", "user", what, "demo", "--config", k.File)
			require.Zero(t, code, errs)
		}
		for round, looks := range []bool{true, true, false} { // the last time nobody looks in between
			if looks {
				k.Looked()
			}
			session := k.Login(rig.FullKey, "demo")
			if looks {
				k.Looked()
				require.Equal(t, 200, k.Status("GET", "/order", session), round)
			}
			command("block")
			k.Looked()
			require.Equal(t, 401, k.Status("GET", "/order", session), round)
			require.Equal(t, 200, k.Status("GET", "/order", other), round)
			require.Equal(t, 401, k.Status("GET", rig.LoginPath(rig.FullKey, "demo", "demo"), ""), round)
			command("unblock")
		}
	})
}
