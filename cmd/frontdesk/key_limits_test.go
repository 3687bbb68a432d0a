package main

import (
	"context"
	"encoding/json"
	"fmt"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"frontdesk/auth"
)

// boundKey is the api_key that the tests of limits bind to something.
const boundKey = "77777777-7777-4777-8777-777777777777"

// bound is its entry in the configuration: what it may call, and its bounds.
func bound(t testing.TB, lines ...string) string {
	t.Helper()
	hash, ok := auth.HashKey(boundKey)
	require.True(t, ok)
	return fmt.Sprintf("  - name: bound\n    key_sha256: [\"%x\"]\n    allow: [\"* /contact\", \"GET /order\"]\n    %s", hash, strings.Join(lines, "\n    "))
}

// accessed returns the access line of a request, which comes after its answer.
func (d *desk) accessed(requestID string) (line struct{ Key, Cause, Reason, Address string }) {
	d.t.Helper()
	require.Eventually(d.t, func() bool {
		for candidate := range strings.Lines(d.log.String()) {
			if strings.Contains(candidate, `"request"`) && strings.Contains(candidate, requestID) {
				return json.Unmarshal([]byte(candidate), &line) == nil
			}
		}
		return false
	}, patience, time.Millisecond, "no access line of %s", requestID)
	return line
}

// requireLimited checks that a request was refused, and by which limit.
func (d *desk) requireLimited(a answer, cause string, longest int) {
	d.t.Helper()
	require.Equal(d.t, 429, a.Status, "%s", a.Body)
	e := a.failure(d.t)
	require.Equal(d.t, "Too many requests", e.Message)
	require.Equal(d.t, "too_many_requests", e.Reason)
	wait, err := strconv.Atoi(a.Header.Get("Retry-After"))
	require.NoError(d.t, err)
	require.GreaterOrEqual(d.t, wait, 1)
	require.LessOrEqual(d.t, wait, longest)
	line := d.accessed(e.RequestID)
	require.Equal(d.t, "bound", line.Key)
	require.Equal(d.t, cause, line.Cause)
	require.NotContains(d.t, string(a.Body), cause)
}

// requireRoom checks what an answer tells of the limits: where it says "*" any
// number will do, since time passes.
func requireRoom(t testing.TB, a answer, policy, room string) {
	t.Helper()
	require.Equal(t, policy, a.Header.Get("RateLimit-Policy"))
	pattern := strings.NewReplacer(`*`, `\d+`).Replace(room)
	require.Regexp(t, "^"+pattern+"$", a.Header.Get("RateLimit"))
}

func TestKeyLimitRate(t *testing.T) {
	d := onSQLite(t, deskOptions{keys: bound(t, "rate: {per_second: 0.001, burst: 4}")})
	demo, other := d.login(boundKey, "demo"), d.login(boundKey, "other") // which take nothing
	const policy = `"rate";q=4;w=4000`
	// What is judged before the limits takes nothing.
	for range 3 {
		for _, a := range []answer{
			d.call("GET", "/contact/1", "", ""), d.call("GET", "/nowhere", demo, ""), d.call("GET", "/vehicle/1", demo, ""),
			d.call("GET", loginPath(boundKey, "demo", "wrong"), "", ""), d.call("GET", "/authenticate", demo, ""),
		} {
			require.Empty(t, a.Header.Get("RateLimit"))
			require.Empty(t, a.Header.Get("RateLimit-Policy"))
		}
	}
	a := d.call("GET", "/contact/1", demo, "")
	require.Equal(t, 200, a.Status)
	requireRoom(t, a, policy, `"rate";r=3;t=*`)
	a = d.call("GET", "/contact/1", demo, "", "If-None-Match", a.Header.Get("ETag"))
	require.Equal(t, 304, a.Status)
	requireRoom(t, a, policy, `"rate";r=2;t=*`)
	a = d.call("GET", "/contact?nonsense=1", other, "")
	require.Equal(t, 400, a.Status)
	requireRoom(t, a, policy, `"rate";r=1;t=*`)
	a = d.call("GET", "/authenticate/acces", demo, "")
	require.Equal(t, 200, a.Status)
	requireRoom(t, a, policy, `"rate";r=0;t=*`)
	for range 3 {
		for _, token := range []string{demo, other} {
			a = d.call("GET", "/contact/1", token, "")
			d.requireLimited(a, "rate", 1000)
			requireRoom(t, a, policy, `"rate";r=0;t=*`)
		}
	}
	a = d.call("GET", "/contact?nonsense=1", demo, "") // limits go before the query
	d.requireLimited(a, "rate", 1000)

	a = d.call("GET", "/contact/1", d.login(fullKey, "demo"), "") // another key
	require.Equal(t, 200, a.Status)
	require.Empty(t, a.Header.Get("RateLimit"))
	require.Equal(t, 401, d.call("GET", "/contact/1", "55555555-5555-4555-8555-555555555555", "").Status)
}

func TestKeyLimitPerClient(t *testing.T) {
	d := onSQLite(t, deskOptions{keys: bound(t, "rate: {per_second: 1000000, burst: 1000000}", "client_rate: {per_second: 0.001, burst: 2}")})
	for _, user := range []string{"demo", "other"} {
		for n, token := range []string{d.login(boundKey, user), d.login(boundKey, user)} { // one bucket for both
			a := d.call("GET", "/contact", token, "")
			require.Equal(t, 200, a.Status)
			requireRoom(t, a, `"rate";q=1000000;w=1, "client_rate";q=2;w=2000`, fmt.Sprintf(`"rate";r=*(;t=1)?, "client_rate";r=%d;t=*`, 1-n))
			if n == 1 {
				d.requireLimited(d.call("GET", "/contact", token, ""), "client_rate", 1000)
			}
		}
	}
}

func TestKeyLimitPerDay(t *testing.T) {
	d := onSQLite(t, deskOptions{keys: bound(t, "per_day: 2")})
	token := d.login(boundKey, "demo")
	// Midnight may be in between, but not twice.
	var last answer
	for n := range 5 {
		last = d.call("GET", "/contact/1", token, "")
		require.Equal(t, `"per_day";q=2;w=86400`, last.Header.Get("RateLimit-Policy"))
		if last.Status == 429 {
			require.GreaterOrEqual(t, n, 2)
			break
		}
	}
	d.requireLimited(last, "per_day", 25*60*60)
}

// TestKeyLimitConcurrent has requests under way at the administration.
func TestKeyLimitConcurrent(t *testing.T) {
	var f faults
	d := onSQLite(t, deskOptions{wrap: f.wrap, keys: bound(t, "concurrent: 2")})
	token, full := d.login(boundKey, "demo"), d.login(fullKey, "demo")
	const policy = `"concurrent";q=2;qu="concurrent-requests"`
	for name, end := range map[string]error{"answers": nil, "fails": errBroken, "panics": nil} {
		arrived, leave, answers := make(chan struct{}), make(chan struct{}), make(chan answer)
		f.set(func(context.Context) error {
			arrived <- struct{}{}
			<-leave
			if name == "panics" {
				panic("on its way")
			}
			return end
		})
		for range 2 {
			go func() {
				a, err := d.try("GET", "/contact/1", token, "")
				if err != nil {
					t.Error(err)
				}
				answers <- a
			}()
		}
		for range 2 {
			<-arrived
		}
		a := d.call("GET", "/contact/1", token, "")
		d.requireLimited(a, "concurrent", 1)
		requireRoom(t, a, policy, `"concurrent";r=0`)
		f.none()
		require.Equal(t, 200, d.call("GET", "/contact/1", full, "").Status)
		close(leave)
		for range 2 {
			requireRoom(t, <-answers, policy, `"concurrent";r=(0|1)`)
		}
		// A slot is given back when the answer is complete, which a client can
		// see a moment sooner.
		require.Eventually(t, func() bool {
			a := d.call("GET", "/contact/1", token, "")
			return a.Status == 200 && a.Header.Get("RateLimit") == `"concurrent";r=1`
		}, patience, time.Millisecond, name)
	}
}

func TestKeyAddresses(t *testing.T) {
	d := onSQLite(t, deskOptions{
		server: "  trusted_proxies: [127.0.0.1]",
		keys:   bound(t, "addresses: {allow: [192.0.2.0/24, \"2001:db8::/32\"], deny: [192.0.2.66]}"),
	})
	const via = "X-Forwarded-For"
	login := loginPath(boundKey, "demo", "demo")
	a := d.call("GET", login, "", "", via, "198.51.100.1, 192.0.2.7")
	require.Equal(t, 200, a.Status, "%s", a.Body)
	var session struct{ Token string }
	require.NoError(t, json.Unmarshal(a.Body, &session))
	require.Equal(t, "192.0.2.7", d.accessed(a.Header.Get("X-Request-Id")).Address)

	require.Equal(t, 200, d.call("GET", "/contact/1", session.Token, "", via, "2001:db8::7").Status)
	require.Equal(t, 200, d.call("GET", "/contact/1", session.Token, "", via, "::ffff:192.0.2.8").Status)
	description := "/openapi.json?api_key=" + boundKey
	require.Equal(t, 200, d.call("GET", description, "", "", via, "192.0.2.7").Status)
	for name, from := range map[string][]string{
		"elsewhere": {via, "198.51.100.1"}, "denied": {via, "192.0.2.66"}, "denied, mapped": {via, "::ffff:192.0.2.66"},
		"the proxy itself": nil, "claimed": {via, "192.0.2.7, 198.51.100.1"}, "rubbish": {via, "192.0.2.7, unknown"},
	} {
		t.Run(name, func(t *testing.T) {
			same := append([]string{"X-Request-Id", "same-" + strings.ReplaceAll(strings.ReplaceAll(name, " ", ""), ",", "")}, from...)
			unknown := d.call("GET", loginPath("55555555-5555-4555-8555-555555555555", "demo", "demo"), "", "", same...)
			require.Equal(t, 401, unknown.Status)
			require.Equal(t, string(unknown.Body), string(d.call("GET", login, "", "", same...).Body))
			for _, a := range []answer{
				d.call("GET", "/contact/1", session.Token, "", from...), d.call("GET", description, "", "", from...),
				d.call("GET", "/authenticate", session.Token, "", from...),
			} {
				require.Equal(t, 401, a.Status, "%s", a.Body)
				e := a.failure(t)
				require.Equal(t, "Not authorized", e.Message)
				line := d.accessed(e.RequestID)
				require.Equal(t, "bound", line.Key)
				require.Equal(t, "address", line.Cause)
			}
		})
	}
	require.Equal(t, 200, d.call("GET", "/contact/1", session.Token, "", via, "192.0.2.7").Status, "the session lives")
}

// TestKeyAddressesWithoutProxy believes no header by itself.
func TestKeyAddressesWithoutProxy(t *testing.T) {
	d := onSQLite(t, deskOptions{keys: bound(t, "addresses: {deny: [127.0.0.0/8]}")})
	a := d.call("GET", loginPath(boundKey, "demo", "demo"), "", "", "X-Forwarded-For", "192.0.2.7")
	require.Equal(t, 401, a.Status)
	line := d.accessed(a.Header.Get("X-Request-Id"))
	require.Equal(t, "127.0.0.1", line.Address)
	require.Equal(t, "address", line.Cause)
	d.login(fullKey, "demo")
}

// TestKeyLimitsReload edits the limits of a key that has used up some of them.
func TestKeyLimitsReload(t *testing.T) {
	dsn := engines[0].dsn(t)
	config := func(lines ...string) string { return keptConfig(t, dsn, "", bound(t, lines...)) }
	const used = "per_day: 1000000"
	k := startKept(t, filepath.Join(t.TempDir(), "frontdesk.yaml"), config(used, "rate: {per_second: 0.001, burst: 2}"), true)
	token := k.login(boundKey, "demo")
	room := func(status int, left string) {
		t.Helper()
		a := k.call("GET", "/contact/1", token, "")
		require.Equal(t, status, a.Status, "%s", a.Body)
		require.Contains(t, a.Header.Get("RateLimit"), left)
	}
	room(200, `"rate";r=1;`)
	room(200, `"rate";r=0;`)
	room(429, `"rate";r=0;`)

	k.write(config(used, "rate: {per_second: 0.001, burst: 2}", "expires: 2999-01-01")) // something else
	k.hangUp()
	room(429, `"rate";r=0;`)
	k.write(config(used, "rate: {per_second: 0.001, burst: 4}"))
	k.hangUp()
	room(200, `"rate";r=1;`)
	k.write(config(used, "rate: {per_second: 0.001, burst: 1}"))
	k.hangUp()
	room(429, `"rate";r=0;`)
	k.write(config(used, "addresses: {deny: [127.0.0.1]}"))
	k.hangUp()
	require.Equal(t, 401, k.status("GET", "/contact/1", token))
	k.write(config(used, "concurrent: 1"))
	k.hangUp()
	for range 2 { // whose slot comes back
		require.Eventually(t, func() bool { return k.status("GET", "/contact/1", token) == 200 }, patience, time.Millisecond)
	}
}
