package main

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"frontdesk/backend/backendtest"
	"frontdesk/cmd/frontdesk/rig"
)

// TestConformWithoutAnswer: the password is in no message.
func TestConformWithoutAnswer(t *testing.T) {
	_, stderr := runs(t, 1, "conform", "--url", "http://"+rig.FreeAddress(t), "--api-key", "k", "--username", "u", "--password", "secret-word")
	require.Regexp(t, `^frontdesk-kit: no answer: dial tcp .*connection refused\n$`, stderr)
}

// TestConformNarrow gives the suite less: an api_key for some of the endpoints,
// a model of a vendor's own, nothing but GET.
func TestConformNarrow(t *testing.T) {
	t.Parallel()
	d := rig.Start(t, rig.Options{DSN: rig.Engines[0].DSN(t), Keys: rig.KeyConfig("few", rig.TinyKey, "    allow: [\"* /contact\", \"* /contactcommunication\", \"GET /model/*\"]\n")})
	o := rig.ConformOptions(d.Base)
	o.APIKey = rig.TinyKey
	few := rig.Conform(t, o)
	require.Empty(t, rig.Ended(few, backendtest.Failed), "%s", rig.Failures(few))
	require.Empty(t, few.LeftOver)
	require.Equal(t, []string{"contact", "contactcommunication"}, few.Resources)
	require.Greater(t, few.Count(backendtest.Passed), 130)
	require.Contains(t, rig.Needs(few), "an api_key that may call /vehicle")

	o.APIKey = rig.OrdersKey
	orders := rig.Conform(t, o)
	require.Empty(t, rig.Ended(orders, backendtest.Failed), "%s", rig.Failures(orders))
	require.Contains(t, rig.Ended(orders, backendtest.Passed), "list.paging [order orderline]")

	o.APIKey, o.ReadOnly = rig.FullKey, true
	p := &rig.Practice{T: t, Desk: d, Count: new(int)}
	before := p.Counts()
	reading := rig.Conform(t, o)
	require.Empty(t, rig.Ended(reading, backendtest.Failed), "%s", rig.Failures(reading))
	require.Greater(t, reading.Count(backendtest.Passed), 200)
	require.Equal(t, before, p.Counts(), "it only read")
}

// TestConformVendorModel tests an empty administration with a model that has a
// resource more, and other countries.
func TestConformVendorModel(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	file := filepath.Join(dir, "frontdesk.yaml")
	config := fmt.Sprintf("backend: {dsn: %q}\nmail: {folder: %q}\nmodel: {dir: %q}\n",
		rig.Engines[0].Empty(t), filepath.Join(dir, "mail"), rig.Repository(t, "mapping", "testdata", "vendor"))
	require.NoError(t, os.WriteFile(file, []byte(config), 0o600))
	code, _, stderr := rig.Command(t, "", "migrate", "--config", file)
	require.Zero(t, code, stderr)
	code, _, stderr = rig.Command(t, "a long enough word\n", "user", "add", "--config", file, "--client", "Vendor", "--email", "v@example.nl", "vendor")
	require.Zero(t, code, stderr)
	out, _ := runs(t, 0, "conform", "--config", file, "--username", "vendor", "--password", "a long enough word")
	require.Regexp(t, `17 resources, `, out)
	require.Regexp(t, `(?m)^impossible +contact\.checkaddress +the backend has no countries of its own$`, out)
	require.Regexp(t, `(?m)^passed +record.created +all resources`, out)
}
