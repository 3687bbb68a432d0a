package several

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"frontdesk/auth/redis/redistest"
	"frontdesk/cmd/frontdesk/rig"
	"frontdesk/cmd/frontdesk/rig/await"
)

const quotaKey = "33333333-3333-4333-8333-333333333333"

// startSeveral starts gateways of one service: on one PostgreSQL and one Redis.
func startSeveral(t *testing.T, n int) (*redistest.Redis, *rig.Hooks, []*rig.Desk) {
	t.Helper()
	server := redistest.Start(t)
	h, options := rig.NewHooks(t, nil)
	options.DSN = rig.Engines[1].DSN(t)
	options.Extra += fmt.Sprintf("sessions: {store: %q}\n", server.URL())
	options.Keys += rig.KeyConfig("quota", quotaKey, "    allow: [\"* /*\"]\n    per_day: 1000\n")
	desks := make([]*rig.Desk, n)
	for i := range desks {
		desks[i] = rig.Start(t, options)
	}
	return server, h, desks
}

// TestSeveralGateways: whichever of them a request comes to, the answer is the same.
func TestSeveralGateways(t *testing.T) {
	t.Parallel()
	_, h, desks := startSeveral(t, 2)
	one, other := desks[0], desks[1]

	token := one.Login(rig.FullKey, "demo")
	require.Equal(t, 200, other.Call("GET", "/contact/1", token, "").Status, "a session of one is one of the other")
	require.Equal(t, 200, other.Call("GET", "/authenticate/logout", token, "").Status)
	require.Equal(t, 401, one.Call("GET", "/contact/1", token, "").Status, "a logout at one holds at the other")

	t.Run("once", func(t *testing.T) {
		token := one.Login(rig.HookedKey, "other")
		first := one.Call("POST", "/contact", token, rig.NewContact, "Idempotency-Key", "several-1")
		again := other.Call("POST", "/contact", token, rig.NewContact, "Idempotency-Key", "several-1")
		require.Equal(t, 201, first.Status, "%s", first.Body)
		require.Equal(t, 201, again.Status)
		require.Equal(t, string(first.Body), string(again.Body))
		require.Equal(t, "true", again.Header.Get("Idempotent-Replayed"))
	})
	t.Run("tickets", func(t *testing.T) {
		token := one.Login(rig.HookedKey, "other")
		ticket := one.Rehearse(token, fmt.Sprintf(`{"operation":"create","resource":"contact","record":%s}`, rig.NewContact)).Ticket
		first, again := other.Commit(token, ticket), one.Commit(token, ticket)
		require.Equal(t, 201, first.Status, "%s", first.Body)
		require.JSONEq(t, string(first.Body), string(again.Body))
		require.Equal(t, "true", again.Headers["Idempotent-Replayed"], "the one knows that the other has taken it")
	})
	t.Run("results", func(t *testing.T) {
		token := one.Login(rig.HookedKey, "other")
		require.Equal(t, 202, one.Call("POST", "/backup/owner", token, h.Body()).Status)
		id := h.Next(t)
		for _, d := range desks {
			address := d.Collect(token, id)
			for _, from := range desks {
				a := from.Download(strings.Replace(address, d.Base, from.Base, 1))
				require.Equal(t, 200, a.Status, "a result of one is handed out by the other")
				require.True(t, bytes.HasPrefix(a.Body, []byte("PK")))
			}
		}
	})
}

// TestSessionStoreAway: without the store nobody is let in, nobody is told that a
// token is wrong, and all is well once it is back.
func TestSessionStoreAway(t *testing.T) {
	t.Parallel()
	server, _, desks := startSeveral(t, 1)
	d := desks[0]
	token := d.Login(rig.FullKey, "demo")
	server.Kill()
	fails := func(method, path, body string) {
		t.Helper()
		a := d.Call(method, path, token, body)
		require.Equal(t, 500, a.Status, path)
		require.Equal(t, "Internal server error", a.Failure(t).Message)
		require.Equal(t, "internal_error", a.Failure(t).Reason)
	}
	for _, path := range []string{
		"/contact/1", rig.LoginPath(rig.FullKey, "demo", "demo"), rig.LoginPath(rig.FullKey, "demo", "wrong"), "/authenticate/logout", "/authenticate/acces",
		"/authenticate/component", "/authenticate/modules", "/authenticate/fingerprint", "/util/environment?username=demo",
	} {
		fails("GET", path, "")
	}
	fails("POST", "/authenticate/forgotpassword", `{"username":"demo"}`)
	require.Equal(t, 503, d.AskOps("/readyz").Status)
	require.Contains(t, d.OpsText("/"), "Clients are refused: the store of sessions does not answer.")
	server.Restart()
	require.Equal(t, 401, d.Call("GET", "/contact/1", token, "").Status, "the store came back empty")
	require.Equal(t, 200, d.Call("GET", "/contact/1", d.Login(rig.FullKey, "demo"), "").Status)
}

// TestSessionStoreWithoutWrites: a store that answers and takes no writes is named by
// /readyz, the status page and a metric; who is logged in goes on, who needs a write is told
// to come back, and all is well once it takes them again.
func TestSessionStoreWithoutWrites(t *testing.T) {
	t.Parallel()
	server, _, desks := startSeveral(t, 1)
	d := desks[0]
	token, limited := d.Login(rig.FullKey, "demo"), d.Login(quotaKey, "demo")
	for why, ways := range map[string][2][]string{
		"it is a replica, and its primary is elsewhere":   {{"REPLICAOF", "127.0.0.1", "1"}, {"REPLICAOF", "NO", "ONE"}},
		"it has too few replicas (min-replicas-to-write)": {{"CONFIG", "SET", "min-replicas-to-write", "1"}, {"CONFIG", "SET", "min-replicas-to-write", "0"}},
		"it is full (maxmemory)":                          {{"CONFIG", "SET", "maxmemory", "1"}, {"CONFIG", "SET", "maxmemory", "0"}},
	} {
		server.Command(ways[0]...)
		busy := []string{"/contact/1", rig.LoginPath(rig.FullKey, "demo", "demo")}
		if ways[0][2] != "maxmemory" { // a full one still ends what there is, and counts
			busy = append(busy, "/authenticate/logout", rig.LoginPath(rig.FullKey, "demo", "wrong"))
		}
		for _, path := range busy {
			a := d.Call("GET", path, limited, "")
			a.Refused(t, 503, "Server is busy", why+": "+path)
			require.Equal(t, "5", a.Header.Get("Retry-After"))
		}
		require.Equal(t, 200, d.Call("GET", "/contact/1", token, "").Status, why)
		ready := d.OpsText("/readyz")
		require.Contains(t, ready, `"status":"degraded"`)
		require.Contains(t, ready, `"sessions":"read-only"`)
		require.Contains(t, ready, why)
		require.Contains(t, d.OpsText("/"), "It serves, but look at this: the store of sessions takes no writes")
		require.Contains(t, d.OpsText("/metrics"), "frontdesk_session_store_state{state=\"read-only\"} 1\n")
		await.True(t, func() bool { return strings.Contains(d.Log.String(), "it takes no writes: "+why) })
		server.Command(ways[1]...)
		require.Contains(t, d.OpsText("/readyz"), `"sessions":"ok"`)
		require.Contains(t, d.OpsText("/metrics"), "frontdesk_session_store_state{state=\"ok\"} 1\n")
		require.Equal(t, 200, d.Call("GET", "/contact/1", limited, "").Status)
		d.Login(rig.FullKey, "demo")
	}
}
