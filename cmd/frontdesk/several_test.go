package main

import (
	"bytes"
	"crypto/sha256"
	"fmt"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"frontdesk/auth/redis/redistest"
)

const quotaKey = "33333333-3333-4333-8333-333333333333"

// startSeveral starts gateways of one service: on one PostgreSQL and one Redis.
func startSeveral(t *testing.T, n int) (*redistest.Redis, *hooks, []*desk) {
	t.Helper()
	server := redistest.Start(t)
	h, options := newHooks(t, nil)
	options.dsn = engines[1].dsn(t)
	options.extra = regexp.MustCompile(`, folder: "[^"]*"`).ReplaceAllString(options.extra, "") +
		fmt.Sprintf("sessions: {store: %q}\n", server.URL())
	options.keys += fmt.Sprintf(`  - name: quota
    key_sha256: ["%x"]
    allow: ["* /*"]
    per_day: 5
`, sha256.Sum256([]byte(quotaKey)))
	desks := make([]*desk, n)
	for i := range desks {
		desks[i] = startDesk(t, options)
	}
	return server, h, desks
}

// TestSeveralGateways: whichever of them a request comes to, the answer is the same.
func TestSeveralGateways(t *testing.T) {
	_, h, desks := startSeveral(t, 2)
	one, other := desks[0], desks[1]

	token := one.login(fullKey, "demo")
	require.Equal(t, 200, other.call("GET", "/contact/1", token, "").Status, "a session of one is one of the other")
	require.Equal(t, 200, other.call("GET", "/authenticate/logout", token, "").Status)
	require.Equal(t, 401, one.call("GET", "/contact/1", token, "").Status, "a logout at one holds at the other")

	t.Run("limits", func(t *testing.T) {
		token := one.login(quotaKey, "demo")
		for n := range 5 {
			a := desks[n%2].call("GET", "/contact/1", token, "")
			require.Equal(t, 200, a.Status)
			require.Contains(t, a.Header.Get("RateLimit"), fmt.Sprintf(`"per_day";r=%d;`, 4-n))
		}
		for _, d := range desks {
			require.Equal(t, 429, d.call("GET", "/contact/1", token, "").Status)
		}
	})
	t.Run("guesses", func(t *testing.T) {
		for n := range 10 {
			a := desks[n%2].call("GET", loginPath(fullKey, "demo", "wrong"), "", "")
			require.Equal(t, map[bool]int{true: 429, false: 401}[n == 9], a.Status)
		}
		for _, d := range desks {
			require.Equal(t, 429, d.call("GET", loginPath(fullKey, "demo", "demo"), "", "").Status)
		}
	})
	t.Run("once", func(t *testing.T) {
		token := one.login(hookedKey, "other")
		first := one.call("POST", "/contact", token, newContact, "Idempotency-Key", "several-1")
		again := other.call("POST", "/contact", token, newContact, "Idempotency-Key", "several-1")
		require.Equal(t, 201, first.Status, "%s", first.Body)
		require.Equal(t, 201, again.Status)
		require.Equal(t, string(first.Body), string(again.Body))
		require.Equal(t, "true", again.Header.Get("Idempotent-Replayed"))
	})
	t.Run("results", func(t *testing.T) {
		token := one.login(hookedKey, "other")
		require.Equal(t, 202, one.call("POST", "/backup/owner", token, h.body()).Status)
		id := h.next(t)
		for _, d := range desks {
			address := d.collect(token, id)
			for _, from := range desks {
				a := from.download(strings.Replace(address, d.base, from.base, 1))
				require.Equal(t, 200, a.Status, "a result of one is handed out by the other")
				require.True(t, bytes.HasPrefix(a.Body, []byte("PK")))
			}
		}
	})
}

// TestSessionStoreAway: without the store nobody is let in, nobody is told that a
// token is wrong, and all is well once it is back.
func TestSessionStoreAway(t *testing.T) {
	server, _, desks := startSeveral(t, 1)
	d := desks[0]
	token := d.login(fullKey, "demo")
	server.Kill()
	fails := func(method, path, body string) {
		t.Helper()
		a := d.call(method, path, token, body)
		require.Equal(t, 500, a.Status, path)
		require.Equal(t, "Internal server error", a.failure(t).Message)
		require.Equal(t, "internal_error", a.failure(t).Reason)
	}
	for _, path := range []string{
		"/contact/1", loginPath(fullKey, "demo", "demo"), loginPath(fullKey, "demo", "wrong"), "/authenticate/logout", "/authenticate/acces",
		"/authenticate/component", "/authenticate/modules", "/authenticate/fingerprint", "/util/environment?username=demo",
	} {
		fails("GET", path, "")
	}
	fails("POST", "/authenticate/forgotpassword", `{"username":"demo"}`)
	require.Equal(t, 503, d.askOps("/readyz").Status)
	require.Contains(t, d.opsText("/"), "Clients are refused: the store of sessions does not answer.")
	server.Restart()
	require.Equal(t, 401, d.call("GET", "/contact/1", token, "").Status, "the store came back empty")
	require.Equal(t, 200, d.call("GET", "/contact/1", d.login(fullKey, "demo"), "").Status)
}
