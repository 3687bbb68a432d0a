package bounds

import (
	"context"
	"encoding/json"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"frontdesk/cmd/frontdesk/rig"
	"frontdesk/cmd/frontdesk/rig/await"
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

func TestKeyLimitRate(t *testing.T) {
	t.Parallel()
	d := rig.OnSQLite(t, rig.Options{Keys: bound("rate: {per_second: 0.001, burst: 4}")})
	demo := d.Login(boundKey, "demo") // which takes nothing
	const policy = `"rate";q=4;w=4000`
	// What is judged before the limits takes nothing.
	for range 3 {
		for _, a := range []rig.Answer{
			d.Call("GET", "/contact/1", "", ""), d.Call("GET", "/nowhere", demo, ""), d.Call("GET", "/vehicle/1", demo, ""),
			d.Call("GET", rig.LoginPath(boundKey, "demo", "wrong"), "", ""), d.Call("GET", "/authenticate", demo, ""),
		} {
			require.Empty(t, a.Header.Get("RateLimit"))
			require.Empty(t, a.Header.Get("RateLimit-Policy"))
		}
	}
	a := d.Call("GET", "/contact/1", demo, "")
	require.Equal(t, 200, a.Status)
	requireRoom(t, a, policy, `"rate";r=3;t=*`)
	a = d.Call("GET", "/contact/1", demo, "", "If-None-Match", a.Header.Get("ETag"))
	require.Equal(t, 304, a.Status)
	requireRoom(t, a, policy, `"rate";r=2;t=*`)
	a = d.Call("GET", "/contact?nonsense=1", demo, "")
	require.Equal(t, 400, a.Status)
	requireRoom(t, a, policy, `"rate";r=1;t=*`)
	a = d.Call("GET", "/authenticate/acces", demo, "")
	require.Equal(t, 200, a.Status)
	requireRoom(t, a, policy, `"rate";r=0;t=*`)
	for range 3 {
		a = d.Call("GET", "/contact/1", demo, "")
		d.RequireLimited(a, "rate", 1000)
		requireRoom(t, a, policy, `"rate";r=0;t=*`)
	}
	a = d.Call("GET", "/contact?nonsense=1", demo, "") // limits go before the query
	d.RequireLimited(a, "rate", 1000)

	a = d.Call("GET", "/contact/1", d.Login(rig.FullKey, "demo"), "") // another key
	require.Equal(t, 200, a.Status)
	require.Empty(t, a.Header.Get("RateLimit"))
	require.Equal(t, 401, d.Call("GET", "/contact/1", "55555555-5555-4555-8555-555555555555", "").Status)
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

func TestKeyAddresses(t *testing.T) {
	t.Parallel()
	d := rig.OnSQLite(t, rig.Options{
		Server: "  trusted_proxies: [127.0.0.1]",
		Keys:   bound("addresses: [192.0.2.0/26, \"2001:db8::/32\"]"),
	})
	const via = "X-Forwarded-For"
	login := rig.LoginPath(boundKey, "demo", "demo")
	a := d.Call("GET", login, "", "", via, "198.51.100.1, 192.0.2.7")
	require.Equal(t, 200, a.Status, "%s", a.Body)
	var session struct{ Token string }
	require.NoError(t, json.Unmarshal(a.Body, &session))
	require.Equal(t, "192.0.2.7", d.Accessed(a.Header.Get("X-Request-Id")).Address)

	require.Equal(t, 200, d.Call("GET", "/contact/1", session.Token, "", via, "2001:db8::7").Status)
	require.Equal(t, 200, d.Call("GET", "/contact/1", session.Token, "", via, "::ffff:192.0.2.8").Status)
	description := "/openapi.json?api_key=" + boundKey
	require.Equal(t, 200, d.Call("GET", description, "", "", via, "192.0.2.7").Status)
	for name, from := range map[string][]string{
		"elsewhere": {via, "198.51.100.1"}, "near": {via, "192.0.2.66"}, "near, mapped": {via, "::ffff:192.0.2.66"},
		"the proxy itself": nil, "claimed": {via, "192.0.2.7, 198.51.100.1"}, "rubbish": {via, "192.0.2.7, unknown"},
	} {
		t.Run(name, func(t *testing.T) {
			same := append([]string{"X-Request-Id", "same-" + strings.ReplaceAll(strings.ReplaceAll(name, " ", ""), ",", "")}, from...)
			unknown := d.Call("GET", rig.LoginPath("55555555-5555-4555-8555-555555555555", "demo", "demo"), "", "", same...)
			require.Equal(t, 401, unknown.Status)
			require.Equal(t, string(unknown.Body), string(d.Call("GET", login, "", "", same...).Body))
			for _, a := range []rig.Answer{
				d.Call("GET", "/contact/1", session.Token, "", from...), d.Call("GET", description, "", "", from...),
				d.Call("GET", "/authenticate", session.Token, "", from...),
			} {
				require.Equal(t, 401, a.Status, "%s", a.Body)
				e := a.Failure(t)
				require.Equal(t, "Not authorized", e.Message)
				line := d.Accessed(e.RequestID)
				require.Equal(t, "bound", line.Key)
				require.Equal(t, "address", line.Cause)
			}
		})
	}
	require.Equal(t, 200, d.Call("GET", "/contact/1", session.Token, "", via, "192.0.2.7").Status, "the session lives")

	alone := rig.OnSQLite(t, rig.Options{Keys: bound("addresses: [192.0.2.0/24]")}) // without a proxy, no header is believed
	a = alone.Call("GET", login, "", "", via, "192.0.2.7")
	require.Equal(t, 401, a.Status)
	line := alone.Accessed(a.Header.Get("X-Request-Id"))
	require.Equal(t, []string{"127.0.0.1", "address"}, []string{line.Address, line.Cause})
	alone.Login(rig.FullKey, "demo")
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
