package main

import (
	"encoding/json"
	"fmt"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"frontdesk/backend/legacy/legacytest"
	"frontdesk/backend/remote/remotetest"
	"frontdesk/cmd/frontdesk/desk"
	"frontdesk/cmd/frontdesk/rig"
	"frontdesk/cmd/frontdesk/rig/await"
	"frontdesk/cmd/frontdesk/rig/must"
	"frontdesk/gateway/webhook/webhooktest"
)

// TestStatusTellsOfHashesAndCertificates: nobody says that all works while a hash of a key is about
// to end, although the key goes on, or the certificate has ended or is about to.
func TestStatusTellsOfHashesAndCertificates(t *testing.T) {
	dir := t.TempDir()
	ca := webhooktest.NewAuthority(t)
	certFile, keyFile := filepath.Join(dir, "cert.pem"), filepath.Join(dir, "key.pem")
	rig.WriteCertificate(t, ca, certFile, keyFile, 100)
	text := strings.Replace(rig.KeptConfig(t, rig.Engines[0].DSN(t), "", "KEYS"), "vendor: Example", "vendor: Example, tls: {client_ca_file: "+certFile+", cert_file: "+certFile+", key_file: "+keyFile+"}", 1)
	inTwoDays := time.Now().Add(48 * time.Hour).UTC().Truncate(time.Second)
	const old = "e8d95748107aceb93f7fab2901c84c97372d2853a2aea63be35fc4b5822fa19c"
	fresh := strings.Repeat("ab", 32)
	with := func(hashes string) string {
		return strings.Replace(text, "KEYS", fmt.Sprintf("  - name: webshop\n    key_sha256: [%s]\n    allow: [GET /order]\n", hashes), 1)
	}
	k := rig.StartKept(t, filepath.Join(dir, "frontdesk.yaml"), with(old), true)
	report := func() (now desk.StatusReport) {
		t.Helper()
		require.NoError(t, json.Unmarshal([]byte(k.OpsText("/status.json")), &now))
		require.Contains(t, k.OpsText("/"), now.Verdict)
		return now
	}
	audited := func() string {
		t.Helper()
		_, stdout, _ := cli("", "audit", "--config", k.File)
		return stdout
	}
	require.Equal(t, "All works.", report().Verdict)
	require.Equal(t, desk.HealthOK, k.Ready().Status)
	require.NotContains(t, audited(), "soon]")

	k.Write(with(fmt.Sprintf("{hash: %s, expires: %s}, %s", old, inTwoDays.Format(time.RFC3339), fresh)))
	k.HangUp()
	now := report()
	require.Equal(t, "It works. To be done: 1 hash(es) of api_keys end within 30 days, first e8d95748 of webshop, in 1 day.", now.Verdict)
	require.Equal(t, []desk.StatusKey{{Name: "webshop", SHA256: "e8d95748", Until: inTwoDays}}, now.Keys.Expiring)
	require.Equal(t, []desk.StatusKey{{Name: "webshop", SHA256: "abababab"}}, now.Keys.Rotated)
	require.Empty(t, now.Keys.Expired)
	require.Contains(t, k.OpsText("/"), `webshop <code>e8d95748</code></th><td><span class="warn">ends</span> in 1 day, `)
	metrics := k.OpsText("/metrics")
	require.Contains(t, metrics, fmt.Sprintf("frontdesk_key_hash_expires_timestamp_seconds{key=\"webshop\",sha256=\"e8d95748\"} %v\n", float64(inTwoDays.Unix())))
	require.NotContains(t, metrics, `frontdesk_key_expires_timestamp_seconds{`, "the key goes on")
	require.Contains(t, audited(), "[key-expires-soon]")
	require.Contains(t, audited(), certFile+" has no certificate of an authority: no certificate of a client holds [client-ca-signs-nothing]")
	require.Equal(t, desk.HealthOK, k.Ready().Status, "there is nothing wrong with the gateway")

	soon := fmt.Sprintf("{hash: %s, expires: %s}", old, inTwoDays.Format(time.RFC3339))
	for _, c := range []struct{ hashes, verdict string }{
		{soon + fmt.Sprintf(", {hash: %s, expires: 2020-01-01}", fresh), `1 hash\(es\) of api_keys end within 30 days, first e8d95748`}, // the last of several is the key
		{fmt.Sprintf("{hash: %s, expires: 2020-01-01}", strings.Repeat("cd", 32)), `^All works\. 1 api_key\(s\) ended\.$`},
		{strings.Repeat("ef", 32), `^All works\.$`}, // another: an end that has come is final
	} {
		k.Write(with(c.hashes))
		k.HangUp()
		require.Regexp(t, c.verdict, report().Verdict)
		require.Equal(t, strings.HasPrefix(c.hashes, soon), strings.Contains(audited(), "[key-expires-soon]"))
	}

	renewed := func(ends time.Duration) desk.StatusReport {
		t.Helper()
		until := time.Now().Add(ends)
		rig.WriteCertificateUntil(t, ca, certFile, keyFile, until)
		await.True(t, func() bool {
			k.Timers.Pass(desk.LookEvery)
			return k.Ready().Certificate.Expires.Unix() == until.Unix()
		})
		return report()
	}
	for _, c := range []struct {
		ends                    time.Duration
		status, verdict, audits string
	}{
		{-time.Hour, desk.HealthDegraded, "^It serves, but look at this: the certificate ended on ", "[certificate-expired]"},
		{30 * time.Minute, desk.HealthDegraded, "^It serves, but look at this: the certificate ends on ", "[certificate-expires-soon]"},
		{100 * 24 * time.Hour, desk.HealthOK, `^All works\.$`, ""},
	} {
		now = renewed(c.ends)
		require.Equal(t, c.status, now.Health.Status)
		require.Regexp(t, c.verdict, now.Verdict)
		require.Contains(t, audited(), c.audits)
		require.Equal(t, c.audits != "", strings.Contains(audited(), "[certificate-"))
	}
}

// TestBackupsAge: a nightly backup that fails is told the next morning, and one that was never made at
// once.
func TestBackupsAge(t *testing.T) {
	dir := t.TempDir()
	text := strings.Replace(rig.KeptConfig(t, rig.Engines[0].DSN(t), "", fmt.Sprintf("  - name: webshop\n    key_sha256: [%s]\n    allow: [GET /order]\n", strings.Repeat("ab", 32))), "ops: {", fmt.Sprintf("ops: {backups: [%q], ", filepath.Join(dir, "*.db")), 1)
	k := rig.StartKept(t, filepath.Join(dir, "frontdesk.yaml"), text, true)
	tells := func(want, verdict string) {
		t.Helper()
		await.True(t, func() bool {
			k.Timers.Pass(desk.BackupsEvery)
			return strings.Contains(fmt.Sprint(k.Ready().LookAt), want) && strings.Contains(k.OpsText("/"), verdict)
		})
		require.Equal(t, desk.HealthOK, k.Ready().Status)
	}
	tells("there is no backup", "It works. Look at this: there is no backup")
	require.Contains(t, k.OpsText("/metrics"), "frontdesk_backup_timestamp_seconds 0\n")
	made := func(name string, at time.Time) {
		t.Helper()
		file := filepath.Join(dir, name)
		require.NoError(t, os.WriteFile(file, nil, 0o600))
		require.NoError(t, os.Chtimes(file, at, at))
	}
	made("monday.db", time.Now().Add(-48*time.Hour))
	tuesday := time.Now().Add(-27 * time.Hour)
	made("tuesday.db", tuesday)
	tells("the newest backup is of "+tuesday.UTC().Format("2006-01-02T15"), "the newest backup is of")
	made("wednesday.db", time.Now().Add(-time.Hour))
	tells("[]", "All works.")
	require.Regexp(t, `frontdesk_backup_timestamp_seconds 1\.\d+e\+09`, k.OpsText("/metrics"))
}

// TestKilledIsTold: who looks after a kill does not read that all works. A stop is none.
func TestKilledIsTold(t *testing.T) {
	t.Parallel()
	o := rig.Options{DSN: rig.Engines[0].DSN(t)}
	d := rig.StartChild(t, o)
	health := func() (now desk.Health) {
		t.Helper()
		require.NoError(t, json.Unmarshal(d.AskOps("/readyz").Body, &now))
		return now
	}
	require.Empty(t, health().LookAt, "the first start of all")
	require.NoError(t, d.Process.Process.Signal(syscall.SIGTERM))
	<-d.Ended
	d = rig.StartChild(t, o)
	require.Empty(t, health().LookAt)
	for range 2 {
		d.Kill()
		d = rig.StartChild(t, o)
	}
	ready := health()
	require.Equal(t, desk.HealthOK, ready.Status)
	require.Len(t, ready.LookAt, 1)
	require.Regexp(t, `^2 time\(s\) in the last hour this gateway ended without being stopped: it was killed, or crashed; it was started again, the last time at .*Z$`, ready.LookAt[0])
	require.Contains(t, d.OpsText("/"), "It works. Look at this: 2 time(s) in the last hour")
}

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
	whole := must.Have(os.ReadFile(file))(t)
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
	require.Equal(t, "some notes of ours", string(must.Have(os.ReadFile(file))(t)))
}
