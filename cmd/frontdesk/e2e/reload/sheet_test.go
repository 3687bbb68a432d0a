package reload

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"frontdesk/cmd/frontdesk/desk"
	"frontdesk/cmd/frontdesk/rig"
	"frontdesk/gateway/webhook/webhooktest"
)

// besideSheet is a desk with a mapping sheet, a folder for models, and two api_keys that may
// read groups.
type besideSheet struct {
	*rig.Kept
	dir, text, sheet, full string
}

func (b *besideSheet) at(name string) string { return filepath.Join(b.dir, name) }

func (b *besideSheet) write(name, text string) {
	b.T.Helper()
	require.NoError(b.T, os.WriteFile(b.at(name), []byte(text), 0o600))
}

// with is the configuration with these keys.
func (b *besideSheet) with(keys string) string { return strings.Replace(b.text, "KEYS", keys, 1) }

func startBesideSheet(t *testing.T) *besideSheet {
	t.Helper()
	b := &besideSheet{Kept: &rig.Kept{}, dir: t.TempDir(), full: rig.KeptKey(`"GET /turnovergroup"`)}
	b.T = t
	b.write("dealer.db", "")
	rig.AskSQLite(t, b.at("dealer.db"), "CREATE TABLE grp (nr INTEGER PRIMARY KEY, code TEXT, oms TEXT)")
	b.sheet = fmt.Sprintf(rig.GroupsSheet, b.at("dealer.db"), b.at("keep.db"), rig.PasswordHash("demo"))
	b.write("dealer.yaml", b.sheet)
	require.NoError(t, os.Mkdir(b.at("model"), 0o700))
	text := rig.KeptConfig(t, "", fmt.Sprintf("model: {dir: %q}", b.at("model")), "KEYS")
	b.text = strings.Replace(text, `backend: {dsn: ""}`, fmt.Sprintf("backend: {driver: legacy, sheet: %q}", b.at("dealer.yaml")), 1)
	b.Kept = rig.StartKept(t, b.at("frontdesk.yaml"), b.with(b.full+strings.ReplaceAll(rig.KeptOrders, "GET /order", "GET /turnovergroup")), true)
	return b
}

// TestReloadBesideSheets tells of a mapping sheet and a model that have changed, and takes a
// key back beside those that are broken.
func TestReloadBesideSheets(t *testing.T) {
	k := startBesideSheet(t)
	at, write, with, sheet, full := k.at, k.write, k.with, k.sheet, k.full
	orders := k.Login(rig.OrdersKey, "demo")
	require.Equal(t, 200, k.Status("GET", "/turnovergroup", orders))
	first := k.Ready()
	require.Equal(t, desk.HealthOK, first.Status)

	changed := "backend.sheet: " + at("dealer.yaml") + " has changed"
	write("dealer.yaml", sheet+"# another\n")
	k.Compared(func(now desk.ConfigHealth) bool { return len(now.NeedsRestart) > 0 }, "the sheet")
	require.Equal(t, []string{changed}, k.Ready().Config.NeedsRestart)
	require.Equal(t, desk.HealthDegraded, k.Ready().Status)
	require.EqualValues(t, 1, k.Metric("frontdesk_config_needs_restart"))
	require.EqualValues(t, 1, k.Metric("frontdesk_config_last_reload_success"), "a start can use it")
	k.RequireLogged(`"level":"warn"`, "used after a restart", "dealer.yaml has changed")
	require.Equal(t, first.Config.Hash, k.Ready().Config.Hash)

	write("model/turnovergroup.yaml", "name: [")
	k.Compared(func(now desk.ConfigHealth) bool { return len(now.NeedsRestart) == 2 }, "the model")
	write("model/turnovergroup.yaml", "")
	require.NoError(t, os.Remove(at("model/turnovergroup.yaml")))
	k.Compared(func(now desk.ConfigHealth) bool { return len(now.NeedsRestart) == 1 && now.RestartError == "" }, "the model is as before")

	// A sheet that is broken keeps no key from being taken back.
	write("dealer.yaml", strings.Replace(sheet, "table: grp", "tabel: grp", 1))
	k.Write(with(full))
	k.HangUp()
	now := k.Ready().Config
	require.Empty(t, now.Error)
	require.NotEqual(t, first.Config.Hash, now.Hash)
	require.Equal(t, 401, k.Status("GET", "/turnovergroup", orders))
	require.Equal(t, []string{changed}, now.NeedsRestart)
	require.Contains(t, now.RestartError, at("dealer.yaml")+":7:3: resources.turnovergroup.table: missing")
	require.Contains(t, k.Ready().Reasons, "a restart would fail: "+now.RestartError)
	require.Zero(t, k.Metric("frontdesk_config_last_reload_success"))
	k.RequireLogged(`"level":"warn"`, "used after a restart", "turnovergroup.table: missing")

	// Nor does one that is gone, nor another that is not there.
	require.NoError(t, os.Remove(at("dealer.yaml")))
	k.Write(strings.Replace(with(full+"    per_day: 5\n"), "dealer.yaml", "gone.yaml", 1))
	k.HangUp()
	now = k.Ready().Config
	require.Empty(t, now.Error)
	require.Equal(t, []string{"backend.sheet: " + at("dealer.yaml") + " → " + at("gone.yaml")}, now.NeedsRestart)
	require.Contains(t, now.RestartError, at("gone.yaml")+": no such file")

	// What a key is allowed is judged all the same, by what there is.
	k.Write(with(rig.KeptKey(`"GET /order"`)))
	k.HangUp()
	require.Contains(t, k.Ready().Config.Error, "[allow-unknown-endpoint]")

	write("dealer.yaml", sheet)
	k.Write(with(full))
	k.HangUp()
	require.Equal(t, desk.HealthOK, k.Ready().Status, "%v", k.Ready().Reasons)
	require.EqualValues(t, 1, k.Metric("frontdesk_config_last_reload_success"))
}

// TestReloadBesideRightSheets takes a key back beside a mapping sheet that is right and does not
// have what other keys are allowed, and lets what waits for that sheet wait.
func TestReloadBesideRightSheets(t *testing.T) {
	k := startBesideSheet(t)
	orders := k.Login(rig.OrdersKey, "demo")
	countries := strings.NewReplacer("turnovergroup:", "country:", "description: oms, vat_kind: {constant: high}, ledger_account: {constant: \"8000\"}", "name: oms").Replace(k.sheet)
	k.write("dealer.yaml", countries)
	k.Compared(func(now desk.ConfigHealth) bool { return now.RestartError != "" }, "a restart fails")
	require.Contains(t, k.Ready().Config.RestartError, "2 problems, first: "+k.File+":")
	require.Contains(t, k.Ready().Config.RestartError, `api_keys[0].allow[0]: found "GET /turnovergroup", no such endpoint`)
	require.Zero(t, k.Metric("frontdesk_config_last_reload_success"))

	k.Write(k.with(k.full))
	k.HangUp()
	require.Empty(t, k.Ready().Config.Error)
	require.Equal(t, 401, k.Status("GET", "/turnovergroup", orders), "the key is taken back")
	require.Contains(t, k.Ready().Config.RestartError, `api_keys[0].allow[0]: found "GET /turnovergroup", no such endpoint`)

	// What is said for the sheet to come waits for it.
	soon := rig.KeptKey(`"GET /country"`)
	k.Write(k.with(soon))
	k.HangUp()
	now := k.Ready().Config
	require.Empty(t, now.Error)
	require.Empty(t, now.RestartError)
	require.Len(t, now.NeedsRestart, 1)
	require.EqualValues(t, 1, k.Metric("frontdesk_config_last_reload_success"), "a start can use it")

	// It is no reason to refuse a change that the sheet is broken then.
	k.write("dealer.yaml", strings.Replace(countries, "table: grp", "tabel: grp", 1))
	k.Write(k.with(soon + "    per_day: 5\n"))
	k.HangUp()
	now = k.Ready().Config
	require.Empty(t, now.Error)
	require.Contains(t, now.RestartError, k.at("dealer.yaml")+":7:3: resources.country.table: missing")

	// What neither has is wrong.
	k.write("dealer.yaml", countries)
	k.Write(k.with(rig.KeptKey(`"GET /contry"`)))
	k.HangUp()
	require.Contains(t, k.Ready().Config.Error, "[allow-unknown-endpoint]")
	require.Empty(t, k.Ready().Config.RestartError, "what is told of the reload is not told again")

	// A configuration that was refused, or was never to be used, is none to judge by.
	k.write("dealer.yaml", k.sheet)
	k.Write(k.with(k.full))
	k.HangUp()
	require.Equal(t, desk.HealthOK, k.Ready().Status, "%v", k.Ready().Reasons)
}

// TestReloadTellsOfRestart tells of all that would keep the program from starting with what
// waits for a restart, as long as it would.
func TestReloadTellsOfRestart(t *testing.T) {
	k := startBesideSheet(t)
	ca := webhooktest.NewAuthority(t)
	restart := func(told string) func(desk.ConfigHealth) bool {
		return func(now desk.ConfigHealth) bool {
			return strings.Contains(now.RestartError, told) && (told == "") == (now.RestartError == "") && len(now.NeedsRestart) == 1
		}
	}
	named := strings.Replace(k.sheet, fmt.Sprintf("dsn: %q", k.at("dealer.db")), fmt.Sprintf("dsn_file: %q", k.at("dsn")), 1)
	k.write("dealer.yaml", named)
	k.Compared(restart("source.sql.dsn_file: cannot read the file"), "what the sheet names is not there")
	k.write("dsn", k.at("dealer.db"))
	k.Compared(restart(""), "it is there")
	k.write("dealer.yaml", k.sheet)
	k.Compared(func(now desk.ConfigHealth) bool { return len(now.NeedsRestart) == 0 }, "as before")

	trusts := k.with(k.full) + fmt.Sprintf("webhooks: {ca_file: %q}\n", k.at("ca.pem"))
	k.Write(trusts)
	k.HangUp()
	now := k.Ready().Config
	require.Empty(t, now.Error)
	require.True(t, restart("webhooks.ca_file: open "+k.at("ca.pem"))(now) || restart("webhooks.ca_file: "+k.at("ca.pem"))(now), "%+v", now)
	require.Zero(t, k.Metric("frontdesk_config_last_reload_success"))
	const warning = `"msg":"a restart would fail"`
	k.RequireLogged(`"level":"warn"`, warning, "webhooks.ca_file")
	for range 3 {
		k.Compared(restart("webhooks.ca_file"), "it is told of once")
	}
	require.Equal(t, 1, strings.Count(k.Log.String(), warning))
	k.write("ca.pem", rig.Read(t, ca.File(t)))
	k.Compared(restart(""), "it is there")
}
