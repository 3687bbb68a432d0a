package main

import (
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"frontdesk/backend/legacy/legacytest"
	"frontdesk/backend/remote/remotetest"
	"frontdesk/cmd/frontdesk/rig"
)

// backendsJSON is what a test reads of the page of the backend.
type backendsJSON struct {
	Store, State string
	Parts        []struct {
		Name, Circuit          string
		Calls, Refused, Failed int
		P95                    time.Duration `json:"p95_ns"`
		Opened                 *struct {
			Operation, Outcome string
			RequestID          string `json:"request_id"`
		}
	}
	Load struct {
		PoolLimit int `json:"pool_limit"`
	}
	Slowest []struct {
		Resource, Operation, Outcome, Asked string
		RequestID                           string        `json:"request_id"`
		Took                                time.Duration `json:"took_ns"`
		Of                                  int           `json:"asked_of"`
	}
}

// TestBackendsPage: what is asked of the administration, how long it took, and which circuit was
// opened by what; no value of a client is in it.
func TestBackendsPage(t *testing.T) {
	rig.OnEngines(t, func(t *testing.T, dsn string) {
		t.Parallel()
		faults := new(rig.Faults)
		d := rig.Start(t, rig.Options{DSN: dsn, Wrap: faults.Wrap, Bound: rig.Circuit(3, time.Hour)})
		token := d.Login(rig.FullKey, "demo")
		const canary = "canary-7261"
		for range 5 {
			require.Equal(t, 200, d.Call("GET", "/contact?name[contains]="+canary, token, "", "X-Request-Id", "the-list").Status)
		}
		for range 7 {
			require.Equal(t, 200, d.Call("GET", "/order/1", token, "").Status)
		}
		require.Equal(t, 201, d.Call("POST", "/contact", token, `{"kind":"company","name":"`+canary+`"}`).Status)
		faults.Set(rig.Fails)
		for range 3 {
			require.Equal(t, 500, d.Call("GET", "/vehicle/1", token, "", "X-Request-Id", "the-last-straw").Status)
		}
		faults.Set(nil)

		var of backendsJSON
		askJSON(t, d, "/backends", &of)
		require.Equal(t, "ok", of.State)
		require.Positive(t, of.Load.PoolLimit)
		calls := map[string][3]int{}
		for _, p := range of.Parts {
			calls[p.Name] = [3]int{p.Calls, p.Refused, p.Failed}
			require.Positive(t, p.P95, p.Name)
		}
		require.Equal(t, [3]int{7, 0, 0}, calls["reads of order"])
		require.Equal(t, [3]int{3, 0, 3}, calls["reads of vehicle"])
		first := of.Parts[0]
		require.Equal(t, "reads of vehicle", first.Name, "what is not closed comes first")
		require.Equal(t, "open", first.Circuit)
		require.Equal(t, "failed", first.Opened.Outcome)
		require.Equal(t, "get", first.Opened.Operation)
		require.Equal(t, "the-last-straw", first.Opened.RequestID)

		asked := map[string][]string{}
		for i, c := range of.Slowest {
			if i > 0 {
				require.LessOrEqual(t, c.Took, of.Slowest[i-1].Took)
			}
			asked[c.Operation+" "+c.Resource] = append(asked[c.Operation+" "+c.Resource], c.Asked)
			if c.RequestID == "the-list" {
				require.Positive(t, c.Of)
			}
		}
		require.Len(t, asked["get order"], 5, "of seven")
		require.Len(t, asked["list contact"], 5)
		isList := regexp.MustCompile(`(?i)^SELECT .* FROM "?contact"? .*[?$]1`)
		require.True(t, slices.ContainsFunc(asked["list contact"], isList.MatchString), "%q: not all of them waited for a connection longer than for the list", asked["list contact"])
		require.Len(t, asked["create contact"], 1)
		page := string(d.AskOps("/backends?resource=contact").Body)
		require.Contains(t, page, "The slowest calls of contact")
		require.Contains(t, page, "the-list")
		require.NotContains(t, page, canary)
		require.NotContains(t, page, "secret cause")
		require.NotContains(t, page, "ZgotmplZ")

		var one pastJSON
		askJSON(t, d, "/history?backend=reads+of+vehicle", &one)
		require.Equal(t, [3]int{3, 0, 3}, one.sum())
		require.Contains(t, string(d.AskOps("/").Body), `href="/backends"`)
		require.Equal(t, 403, askJSON(t, d, "/backends", nil, "X-Forwarded-For", "192.0.2.7"))
	})
}

// TestBackendsBehindSheets: of a mapped system the page has the statements, or the calls as the
// sheet has them, and no value.
func TestBackendsBehindSheets(t *testing.T) {
	server := httptest.NewServer(remotetest.NewJSON(remotetest.Options{}))
	t.Cleanup(server.Close)
	sql, web := rig.DealerPak(t, "sqlite", legacytest.SQLite(t)), rig.GarageCloud(t, server.URL, remotetest.ClientSecret)
	for name, c := range map[string]struct {
		rig.Options
		username, password, asked string
	}{"legacy": {sql, "sanne.bos", "Welkom01", `^SELECT "RELNR", `}, "remote": {web, "demo", "demo", `^GET /[^ ]*$`}} {
		t.Run(name, func(t *testing.T) {
			d := rig.Start(t, c.Options)
			const canary = "canary7261"
			token := d.LoginAs(rig.FullKey, c.username, c.password)
			for range 5 { // what takes longest of one of them may be the wait for a connection
				d.Call("GET", "/contact?page_size=3&name="+canary, token, "")
			}
			var of backendsJSON
			askJSON(t, d, "/backends?resource=contact", &of)
			require.Len(t, of.Slowest, 5)
			var asked []string
			for _, call := range of.Slowest {
				asked = append(asked, call.Asked)
			}
			require.True(t, slices.ContainsFunc(asked, regexp.MustCompile(c.asked).MatchString), "%q", asked)
			page := string(d.AskOps("/backends").Body)
			require.NotContains(t, page, canary)
			require.NotContains(t, page, remotetest.ClientSecret)
		})
	}
}

// TestHistoryFile: what the pages tell of the past outlives a restart wherever the records are. A
// damaged file is told, and replaced; one of something else is told, and left alone.
func TestHistoryFile(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "history")
	t.Setenv("STATE_DIRECTORY", dir) // as systemd does
	o := rig.Options{DSN: rig.Engines[1].DSN(t)}
	requests := func(before ...string) (int, string) {
		d := rig.Start(t, o)
		d.Call("GET", "/order/1", d.Login(rig.FullKey, "demo"), "", "X-Request-Id", "asked")
		accessed(t, d, "asked")
		var of pastJSON
		askJSON(t, d, "/?span=24h", &of)
		d.Shutdown()
		return of.Past.sum()[0], d.Log.String()
	}
	one, _ := requests()
	two, _ := requests()
	require.Equal(t, 2*one, two)
	whole, err := os.ReadFile(file)
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(file, whole[:len(whole)/2], 0o600))
	anew, log := requests()
	require.Equal(t, one, anew)
	require.Contains(t, log, "the history begins anew")
	again, _ := requests()
	require.Equal(t, 2*one, again)

	require.NoError(t, os.WriteFile(file, []byte("some notes of ours"), 0o600))
	anew, log = requests()
	require.Equal(t, one, anew)
	require.Contains(t, log, "the history is not kept over a restart")
	text, err := os.ReadFile(file)
	require.NoError(t, err)
	require.Equal(t, "some notes of ours", string(text))
}
