package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"frontdesk/auth"
	"frontdesk/cmd/frontdesk/desk"
	"frontdesk/cmd/frontdesk/rig"
)

// groups is a mapping sheet of one table.
const groups = `format: 1
source: {sql: {engine: sqlite, dsn: %q}}
keep: %q
rules: backend
accounts: {users: [{username: demo, password_hash: %q, email: d@example.nl, client: {id: 1, name: demo}}]}
resources:
  turnovergroup:
    table: grp
    client: ""
    key: {columns: nr}
    fields: {code: code, description: oms, vat_kind: {constant: high}, ledger_account: {constant: "8000"}}
    operations: {only: [get, list]}
`

// TestReloadBesideSheets tells of a mapping sheet and a model that have changed, and takes a
// key back beside those that are broken.
func TestReloadBesideSheets(t *testing.T) {
	dir := t.TempDir()
	at := func(name string) string { return filepath.Join(dir, name) }
	write := func(name, text string) { require.NoError(t, os.WriteFile(at(name), []byte(text), 0o600)) }
	hash, err := auth.NewHasher().Hash(t.Context(), "demo")
	require.NoError(t, err)
	write("dealer.db", "")
	rig.AskSQLite(t, at("dealer.db"), "CREATE TABLE grp (nr INTEGER PRIMARY KEY, code TEXT, oms TEXT)")
	sheet := fmt.Sprintf(groups, at("dealer.db"), at("keep.db"), hash)
	write("dealer.yaml", sheet)
	require.NoError(t, os.Mkdir(at("model"), 0o700))
	text := rig.KeptConfig(t, "", fmt.Sprintf("model: {dir: %q}", at("model")), "KEYS")
	text = strings.Replace(text, `backend: {dsn: ""}`, fmt.Sprintf("backend: {driver: legacy, sheet: %q}", at("dealer.yaml")), 1)
	groupKeys := strings.ReplaceAll(keptOrders, "GET /order", "GET /turnovergroup")
	with := func(keys string) string { return strings.Replace(text, "KEYS", keys, 1) }
	full := rig.KeptKey(`"GET /turnovergroup"`)
	k := rig.StartKept(t, at("frontdesk.yaml"), with(full+groupKeys), true)
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
