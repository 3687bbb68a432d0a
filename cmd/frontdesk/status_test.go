package main

import (
	"encoding/json"
	"fmt"
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
