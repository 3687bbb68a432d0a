package records

import (
	"context"
	"io"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"frontdesk/cmd/frontdesk/desk"
	"frontdesk/cmd/frontdesk/rig"
	"frontdesk/cmd/frontdesk/rig/await"
	"frontdesk/cmd/frontdesk/rig/must"
)

// TestStopSignal stops the program with SIGTERM and Ctrl-C while requests are
// under way, twice on the same database.
func TestStopSignal(t *testing.T) {
	t.Parallel()
	rig.OnEngines(t, func(t *testing.T, dsn string) {
		for _, signal := range []os.Signal{syscall.SIGTERM, os.Interrupt} {
			c := rig.StartChild(t, rig.Options{DSN: dsn})
			token := c.Login(rig.FullKey, "demo")
			idle := c.Socket() // says nothing, and must not be waited for
			kept := c.Socket().Send("GET /webservice_v2/contact/1 HTTP/1.1\r\nHost: desk\r\ntoken: " + token + "\r\n\r\n")
			require.Equal(t, 200, kept.Answer("GET").Status)
			var all []*rig.Socket
			for range 8 {
				all = append(all, c.Underway(token, rig.NewContact))
			}
			require.NoError(t, c.Process.Process.Signal(signal))
			c.RequireRefusing()
			for _, w := range all {
				must.Have(io.WriteString(w, rig.NewContact))(t)
			}
			for _, w := range all {
				a := w.Answer("POST")
				require.Equal(t, 201, a.Status, "%s", a.Body)
				w.RequireClosed("after the last answer")
			}
			idle.RequireClosed("a client that said nothing")
			kept.RequireClosed("a client with nothing under way")
			<-c.Ended
			require.Zero(t, c.Code, "%s", c.Log)
			rig.RequireAtRest(t, dsn)
		}
		d := rig.Start(t, rig.Options{DSN: dsn})
		require.Len(t, d.List(d.Login(rig.FullKey, "demo"), "/contact?name=Visser&page_size=1000&modified_since="+time.Now().Add(-time.Hour).UTC().Format("2006-01-02T15:04:05Z")), 16)
	})
}

// TestStopGivesUp stops while the administration hangs: after shutdown_timeout
// the program ends all the same, and says that it was not in order.
func TestStopGivesUp(t *testing.T) {
	t.Parallel()
	var f rig.Faults
	d := rig.OnSQLite(t, rig.Options{Server: "  shutdown_timeout: 100ms", Wrap: f.Wrap})
	token := d.Login(rig.FullKey, "demo")
	entered := make(chan struct{})
	f.Set(func(ctx context.Context) error {
		close(entered)
		<-ctx.Done() // which ends when the desk gives up, well before backend.timeout
		return ctx.Err()
	})
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		_, _ = d.Try("GET", "/contact/1", token, "") // an answer or none
	}()
	<-entered
	d.Stop()
	<-d.Stopped
	<-ended
	require.Equal(t, 1, d.Code)
	require.Contains(t, d.Log.String(), "requests under way")
	d.Code = 0 // as it was to be
	rig.RequireAtRest(t, d.DSN)
}

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
