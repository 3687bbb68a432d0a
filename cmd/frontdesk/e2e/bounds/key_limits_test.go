package bounds

import (
	"context"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"frontdesk/cmd/frontdesk/rig"
	"frontdesk/cmd/frontdesk/rig/await"
	"frontdesk/cmd/frontdesk/rig/play"
)

// boundKey is the api_key that the tests of limits bind to something.
const boundKey = "77777777-7777-4777-8777-777777777777"

// bound is its entry in the configuration: what it may call, and its bounds.
func bound(lines ...string) string {
	return rig.KeyConfig("bound", boundKey, "    allow: [\"* /contact\", \"GET /order\"]\n    "+strings.Join(lines, "\n    "))
}

// requireRoom checks what an answer tells of the limits: where it says "*" any
// number will do, since time passes.
func requireRoom(t testing.TB, a rig.Answer, policy, room string) {
	t.Helper()
	require.Equal(t, policy, a.Header.Get("RateLimit-Policy"))
	pattern := strings.NewReplacer(`*`, `\d+`).Replace(room)
	require.Regexp(t, "^"+pattern+"$", a.Header.Get("RateLimit"))
}

// limits are what a section of testdata/limits.txt asks of a desk whose bound key has those limits.
func limits(t *testing.T, section, server string, lines ...string) {
	t.Helper()
	d := rig.OnSQLite(t, rig.Options{Server: server, Keys: bound(lines...)})
	play.Part(d, "testdata/limits.txt", section, map[string]string{"bound": boundKey})
}

func TestKeyLimitRate(t *testing.T) {
	t.Parallel()
	limits(t, "rate", "", "rate: {per_second: 0.001, burst: 4}")
}

func TestKeyAddresses(t *testing.T) {
	t.Parallel()
	limits(t, "addresses", "  trusted_proxies: [127.0.0.1]", `addresses: [192.0.2.0/26, "2001:db8::/32"]`)
	limits(t, "no proxy", "", "addresses: [192.0.2.0/24]")
}

// TestKeyLimitConcurrent has requests under way at the administration.
func TestKeyLimitConcurrent(t *testing.T) {
	t.Parallel()
	var f rig.Faults
	d := rig.OnSQLite(t, rig.Options{Wrap: f.Wrap, Keys: bound("concurrent: 2")})
	token, full := d.Login(boundKey, "demo"), d.Login(rig.FullKey, "demo")
	const policy = `"concurrent";q=2;qu="concurrent-requests"`
	for name, end := range map[string]error{"answers": nil, "fails": rig.ErrBroken, "panics": nil} {
		arrived, leave, answers := make(chan struct{}), make(chan struct{}), make(chan rig.Answer)
		f.Set(func(context.Context) error {
			arrived <- struct{}{}
			<-leave
			if name == "panics" {
				panic("on its way")
			}
			return end
		})
		for range 2 {
			go func() {
				a, err := d.Try("GET", "/contact/1", token, "")
				assert.NoError(t, err)
				answers <- a
			}()
		}
		for range 2 {
			<-arrived
		}
		a := d.Call("GET", "/contact/1", token, "")
		d.RequireLimited(a, "concurrent", 1)
		requireRoom(t, a, policy, `"concurrent";r=0`)
		f.None()
		require.Equal(t, 200, d.Call("GET", "/contact/1", full, "").Status)
		close(leave)
		for range 2 {
			requireRoom(t, <-answers, policy, `"concurrent";r=(0|1)`)
		}
		// A slot is given back when the answer is complete, which a client can
		// see a moment sooner.
		await.True(t, func() bool {
			a := d.Call("GET", "/contact/1", token, "")
			return a.Status == 200 && a.Header.Get("RateLimit") == `"concurrent";r=1`
		}, name)
	}
}

// TestKeyLimitsReload edits the limits of a key that has used up some of them.
func TestKeyLimitsReload(t *testing.T) {
	t.Parallel()
	dsn := rig.Engines[0].DSN(t)
	config := func(lines ...string) string { return rig.KeptConfig(t, dsn, "", bound(lines...)) }
	const used = "per_day: 1000000"
	k := rig.StartKept(t, filepath.Join(t.TempDir(), "frontdesk.yaml"), config(used, "rate: {per_second: 0.001, burst: 2}"), true)
	token := k.Login(boundKey, "demo")
	room := func(status int, left string) {
		t.Helper()
		a := k.Call("GET", "/contact/1", token, "")
		require.Equal(t, status, a.Status, "%s", a.Body)
		require.Contains(t, a.Header.Get("RateLimit"), left)
	}
	room(200, `"rate";r=1;`)
	room(200, `"rate";r=0;`)
	room(429, `"rate";r=0;`)

	k.Write(config(used, "rate: {per_second: 0.001, burst: 2}", "expires: 2999-01-01")) // something else
	k.HangUp()
	room(429, `"rate";r=0;`)
	k.Write(config(used, "rate: {per_second: 0.001, burst: 4}"))
	k.HangUp()
	room(200, `"rate";r=1;`)
	k.Write(config(used, "rate: {per_second: 0.001, burst: 1}"))
	k.HangUp()
	room(429, `"rate";r=0;`)
	k.Write(config(used, "addresses: [192.0.2.1]"))
	k.HangUp()
	require.Equal(t, 401, k.Status("GET", "/contact/1", token))
	k.Write(config(used, "concurrent: 1"))
	k.HangUp()
	for range 2 { // whose slot comes back
		await.True(t, func() bool { return k.Status("GET", "/contact/1", token) == 200 })
	}
}
