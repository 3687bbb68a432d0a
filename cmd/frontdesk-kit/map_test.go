package main

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"frontdesk/backend/adopt/check"
	"frontdesk/backend/legacy/legacytest"
	"frontdesk/backend/remote/remotetest"
	"frontdesk/cmd/frontdesk/rig"
)

// dealerpak is the folder of a SQLite database with DEALERPAK, its sheet, with
// words of it replaced, and a configuration that serves it.
func dealerpak(t *testing.T, replace ...string) (dir string) {
	t.Helper()
	dir = t.TempDir()
	t.Setenv("DEALERPAK_DSN", legacytest.SQLite(t))
	files, err := legacytest.Files()
	require.NoError(t, err)
	text, err := os.ReadFile(filepath.Join(files, "sqlite.yaml"))
	require.NoError(t, err)
	for i := 0; i < len(replace); i += 2 {
		require.Contains(t, string(text), replace[i])
	}
	require.NoError(t, os.WriteFile(filepath.Join(dir, "sheet.yaml"), []byte(strings.NewReplacer(replace...).Replace(string(text))), 0o600))
	config := fmt.Sprintf("backend: {driver: legacy, sheet: %q}\nmail: {folder: %q}\n", filepath.Join(dir, "sheet.yaml"), filepath.Join(dir, "mail"))
	require.NoError(t, os.WriteFile(filepath.Join(dir, "frontdesk.yaml"), []byte(config), 0o600))
	return dir
}

// TestMapCheck compares the finished sheet, one that is wrong, and one that is no
// sheet at all.
func TestMapCheck(t *testing.T) {
	dir := dealerpak(t)
	out, _ := runs(t, 0, "map", "check", "--config", filepath.Join(dir, "frontdesk.yaml"))
	require.Contains(t, out, "Not for clients: resources advertisementsite, flatrate, flatrateline, vehicleadvertisementsite\n")
	require.Regexp(t, `\n0 error\(s\), \d+ warning\(s\), \d+ note\(s\)\n$`, out)
	require.NoFileExists(t, filepath.Join(dir, "keep.db"))
	out, _ = runs(t, 0, "map", "check", "--config", filepath.Join(dir, "frontdesk.yaml"), "--json")
	before := filepath.Join(dir, "before.json")
	require.NoError(t, os.WriteFile(before, []byte(strings.Replace(out, "resources.article ART.OMS\": \"varchar(60)", "resources.article ART.OMS\": \"varchar(40)", 1)), 0o600))
	out, _ = runs(t, 0, "map", "check", "--config", filepath.Join(dir, "frontdesk.yaml"), "--since", before)
	require.Contains(t, out, "warning: drift.changed\n  ART.OMS was varchar(40) not null when the sheet was checked before, and is varchar(60) not null\n")
	_, stderr := runs(t, 2, "map", "check", "--config", filepath.Join(dir, "frontdesk.yaml"), "--since", filepath.Join(dir, "sheet.yaml"))
	require.Contains(t, stderr, "expected a report of map check --json")

	dir = dealerpak(t, "description: {column: OMS, length: 30", "description: {column: OMSCHR, length: 30")
	out, stderr = runs(t, 1, "map", "check", "--sheet", filepath.Join(dir, "sheet.yaml"), "--json")
	require.Contains(t, stderr, "frontdesk-kit: the sheet does not fit: ")
	var report check.Report
	require.NoError(t, json.Unmarshal([]byte(out), &report))
	require.Positive(t, report.Count(check.Error))

	dir = dealerpak(t, "keep: keep.db", "kepe: keep.db")
	out, stderr = runs(t, 2, "map", "check", "--sheet", filepath.Join(dir, "sheet.yaml"))
	require.Empty(t, out)
	require.Contains(t, stderr, "sheet.yaml:10:1: kepe: unknown key, did you mean keep? [unknown-key]\n")
	out, _ = runs(t, 2, "map", "check", "--sheet", filepath.Join(dir, "sheet.yaml"), "--json")
	require.Contains(t, out, `"rule": "sheet"`)
	_, stderr = runs(t, 2, "map", "check", "--sheet", filepath.Join(dir, "none.yaml"))
	require.Contains(t, stderr, "none.yaml: no such file or directory\n")
}

// TestMapCheckLogsIn: who is to log in logs in as clients do. The password is no argument, and
// neither it nor the name is printed.
func TestMapCheckLogsIn(t *testing.T) {
	file := filepath.Join(dealerpak(t), "sheet.yaml")
	check := func(password string, args ...string) (int, string) {
		t.Setenv("FRONTDESK_PASSWORD", password)
		code, out, stderr := cli("", append([]string{"map", "check", "--sheet", file}, args...)...)
		for _, secret := range []string{"Sleutelbos", "piet", "falsch"} {
			require.NotContains(t, out+stderr, secret)
		}
		return code, out
	}
	code, out := check("Sleutelbos-1998", "--username", "piet.dekker")
	require.Zero(t, code, out)
	require.Contains(t, out, "\nthe user logs in, and works for client 1\n")
	code, out = check("falsch-1998", "--username", "piet.dekker")
	require.Equal(t, 1, code, out)
	require.Contains(t, out, ": error: login.refused\n  the user cannot log in: user or password is wrong")
	code, out = check("", "--username", "piet.dekker")
	require.Zero(t, code, out)
	require.Contains(t, out, "\nnobody logged in: give --username, and the password by FRONTDESK_PASSWORD\n")
}

// TestMapCheckService compares with Garage Cloud, and asks it for nothing but
// reads.
func TestMapCheckService(t *testing.T) {
	var mutex sync.Mutex
	asked := map[string]bool{}
	garage := remotetest.NewJSON(remotetest.Options{})
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		mutex.Lock()
		asked[r.Method+" "+strings.Split(r.URL.Path, "/")[1]] = true
		mutex.Unlock()
		garage.ServeHTTP(w, r)
	}))
	defer server.Close()
	t.Setenv("GARAGE_URL", server.URL)
	t.Setenv("GARAGE_SECRET", remotetest.ClientSecret)
	const file = "../../backend/remote/testdata/garagecloud.yaml"
	out, _ := runs(t, 0, "map", "check", "--sheet", file, "--client", "1:garage-noord")
	require.Regexp(t, `\ncontact: all \d+ record\(s\), of 1 client\(s\)\n`, out)
	require.Equal(t, map[string]bool{"POST oauth": true, "GET v3": true}, asked)

	runs(t, 0, "map", "check", "--sheet", file, "--client", "1:garage-noord", "--other", "2:garage-zuid")
	require.Equal(t, map[string]bool{"POST oauth": true, "GET v3": true}, asked, "the other client is read as, too")
	_, stderr := runs(t, 2, "map", "check", "--sheet", file, "--write")
	require.Contains(t, stderr, "--client")
	code, out, _ := cli("", "map", "check", "--sheet", file, "--client", "1:garage-noord", "--write")
	require.Contains(t, []int{0, 1}, code, out)
	require.True(t, asked["POST v3"], "%v", asked)
	require.NotContains(t, out, "write.left", "what was made is removed again")
	require.Contains(t, out, "order: order_status was written in a new record and not changed in it")

	_, stderr = runs(t, 2, "map", "check", "--sheet", file, "--client", "x")
	require.Contains(t, stderr, "--client x: expected a number")
}

// TestMapCheckOfKeptClients: where clients are texts the flags name them as the service does.
func TestMapCheckOfKeptClients(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		if r.URL.Path != "/c" {
			_, _ = io.WriteString(w, `{"id": 1, "org": "6f1e", "name": "A"}`)
			return
		}
		_, _ = io.WriteString(w, `[{"id": 1, "org": "6f1e", "name": "A"}, {"id": 2, "org": "77aa", "name": "B"}]`)
	}))
	defer server.Close()
	t.Setenv("URL", server.URL)
	file := filepath.Join(t.TempDir(), "sheet.yaml")
	require.NoError(t, os.WriteFile(file, []byte(`format: 2
source: {http: {url: "${URL}"}}
keep: keep.db
client: org
accounts: {clients: kept, users: []}
resources:
  contact: {path: /c, key: id, operations: {only: [get, list]}, fields: {kind: {constant: person}, name: name}}
`), 0o600))
	out, _ := runs(t, 0, "map", "check", "--sheet", file, "--client", "6f1e", "--other", "77aa")
	require.Contains(t, out, "\ncontact: all 2 record(s), of 2 client(s)\n")
	require.Contains(t, out, "\n0 error(s), 0 warning(s), 0 note(s)\n")
	_, stderr := runs(t, 2, "map", "check", "--sheet", file)
	require.Contains(t, stderr, "expected --client, what the service calls the client, or --username")
}

// TestDaysOfAnotherZone: days of another zone than clients' are refused before anything
// is connected to, by every command of both programs that knows both. A date that is written
// would become the day before it.
func TestDaysOfAnotherZone(t *testing.T) {
	dir := dealerpak(t, "time_zone: Europe/Amsterdam", "time_zone: UTC")
	t.Setenv("DEALERPAK_DSN", filepath.Join(dir, "none", "none.db"))
	config := filepath.Join(dir, "frontdesk.yaml")
	refused := func(code int, out, stderr string) {
		require.NotZero(t, code)
		require.Contains(t, out+stderr, "resources.vehicle.fields.apk_expiry_date: found days of UTC, where clients' dates are days of Europe/Amsterdam (server.time_zone): one that is written would shift, expected time_zone: Europe/Amsterdam")
	}
	refused(cli("", "map", "check", "--config", config))
	refused(rig.Command(t, "", "check", "--config", config))
	refused(rig.Command(t, "", "serve", "--config", config))
	text, err := os.ReadFile(config)
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(config, append(text, "server: {time_zone: UTC, vendor: Example}\n"...), 0o600))
	code, _, stderr := rig.Command(t, "", "check", "--config", config)
	require.Zero(t, code, stderr)
}
