package main

import (
	"fmt"
	"math/rand/v2"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"frontdesk/auth"
	"frontdesk/cmd/frontdesk/accesslog"
	"frontdesk/cmd/frontdesk/desk"
	"frontdesk/cmd/frontdesk/rig"
	"frontdesk/cmd/frontdesk/terminal"
)

// keyJSON is what a test reads of the page of a key, a client or an endpoint.
type keyJSON struct {
	Key      desk.PastKey
	Client   desk.PastClient
	Endpoint desk.PastEndpoint
}

// learnedEntry is one of a list that was learned: its rule, and how many requests used it.
var learnedEntry = regexp.MustCompile(`(?m)^  - "([^"]+)" +# ([\d,]+) requests?,`)

// TestKeyPageIsTheLog: what the page of a key says of its allowlist, its limits and those who
// use it is what the access log says; also after a restart, and what learn makes of the log.
func TestKeyPageIsTheLog(t *testing.T) {
	o := rig.Options{DSN: rig.Engines[0].DSN(t), Server: "  time_zone: " + rig.NoonZone(), Edit: strings.NewReplacer(`    allow: ["GET /order", "GET /orderline", "GET /model/*"]`, `    allow: ["GET /order", "GET /orderline", "GET /model/*", "* /contact"]
    rate: {per_second: 0.0001, burst: 600}
    concurrent: 7
    per_day: 500`)}
	d := rig.Start(t, o)
	random := rand.New(rand.NewPCG(7, 8))
	tokens := []string{d.Login(rig.FullKey, "demo"), d.Login(rig.OrdersKey, "demo"), d.Login(rig.OrdersKey, "other"), "wrong"}
	asks := []struct{ method, path, body string }{
		{"GET", "/vehicle?page_size=2", ""}, {"GET", "/order/1", ""}, {"GET", "/order?nope=1", ""}, {"GET", "/order?page_size=1&fields=id,orderlines", ""}, {"GET", "/contact/99999", ""},
		{"DELETE", "/order/1", ""}, {"POST", "/vehicle", "{"}, {"GET", "/nowhere", ""}, {"PATCH", "/order/1", "{}"}, {"POST", "/vehicle/bulk", `{"records": []}`}, {"GET", "/authenticate/acces", ""},
	}
	for range 300 {
		a := asks[random.IntN(len(asks))]
		d.Call(a.method, a.path, tokens[random.IntN(len(tokens))], a.body)
	}
	d.Call("GET", "/order/1", tokens[0], "", "X-Request-Id", "the-last-one-of-all")
	accessed(t, d, "the-last-one-of-all")
	log := filepath.Join(t.TempDir(), "access.log")
	require.NoError(t, os.WriteFile(log, []byte(d.Log.String()), 0o600))
	var orders int64
	byClient := map[string]uint32{}
	for text := range strings.Lines(d.Log.String()) {
		l := accesslog.Line{}
		if !l.Read([]byte(text)) || l.Key != "orders" {
			continue
		}
		byClient[l.Client]++
		if grantOf(l) == "GET /order" || grantOf(l) == "GET /order/{id}" {
			orders++
		}
	}
	page := func(d *rig.Desk, kind, name string) (of keyJSON) {
		t.Helper()
		askJSON(t, d, "/history?"+url.Values{kind: {name}}.Encode(), &of)
		return of
	}
	compare := func(d *rig.Desk) {
		t.Helper()
		for _, name := range []string{"full", "orders"} {
			key := page(d, "key", name).Key
			require.True(t, key.Whole)
			require.Empty(t, key.Ungranted)
			file, _, _ := strings.Cut(key.Allow[0].At, ":")
			code, stdout, stderr := cli("", "allow", "learn", "--config", file, "--key", name, log)
			require.Equal(t, 0, code, stderr)
			learned := map[string]string{}
			for _, entry := range learnedEntry.FindAllStringSubmatch(stdout, -1) {
				learned[entry[1]] = entry[2]
			}
			for _, e := range key.Allow {
				requests, kept := learned[e.Rule]
				require.Equal(t, kept, len(e.Unused) == 0, "%s: %s", name, e.Rule)
				if kept {
					require.Equal(t, requests, terminal.Count(int64(e.Requests)), "%s: %s", name, e.Rule)
				}
				delete(learned, e.Rule)
			}
			for rule, requests := range learned { // what of it was used in place of more
				i := 0
				for i < len(key.Grants) && key.Grants[i].Name != rule {
					i++
				}
				require.Equal(t, requests, terminal.Count(int64(key.Grants[i].Requests)), "%s: %s", name, rule)
			}
		}
		key := page(d, "key", "orders").Key
		require.Len(t, key.Clients, len(byClient))
		for _, client := range key.Clients {
			require.Equal(t, byClient[client.Name], client.Requests)
			require.Contains(t, fmt.Sprint(page(d, "client", client.Name).Client.Keys), "orders")
		}
		require.Equal(t, "127.0.0.1", key.Addresses[0].Name)
		of := page(d, "endpoint", "GET /order").Endpoint
		require.Equal(t, "GET /order", of.Grant)
		for _, user := range of.Keys {
			if user.Key == "orders" {
				require.EqualValues(t, orders, user.Requests)
				require.Equal(t, "GET /order", user.Rule)
			}
		}
	}
	compare(d)
	limits := page(d, "key", "orders").Key.Limits
	require.Len(t, limits, 3)
	for i, want := range []desk.PastLimit{{Bound: auth.RateBound.String(), Most: 600}, {Bound: auth.ConcurrentBound.String(), Most: 7}, {Bound: auth.DayBound.String(), Most: 500}} {
		require.Equal(t, want.Bound, limits[i].Bound)
		require.Equal(t, want.Most, limits[i].Most)
	}
	d.Shutdown()
	compare(rig.Start(t, o))
}
