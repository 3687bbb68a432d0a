package main

import (
	"encoding/json"
	"encoding/xml"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"frontdesk/backend/legacy/legacytest"
	"frontdesk/backend/mapcheck"
	"frontdesk/backend/remote/remotetest"
	"frontdesk/cmd/frontdesk/terminal"
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

// TestMapInit drafts a sheet, which map check then reads.
func TestMapInit(t *testing.T) {
	dir := dealerpak(t)
	draft := filepath.Join(dir, "draft.yaml")
	t.Setenv("DATABASE_DSN", os.Getenv("DEALERPAK_DSN"))
	code, out, stderr := cli("", "map", "init", "--engine", "sqlite", "--out", draft)
	require.Zero(t, code, stderr)
	require.Empty(t, out)
	require.Regexp(t, `^Of \d+ tables: 12 resources with \d+ fields; \d+ guesses, \d+ lines marked TODO.\nNot found: advertisementsite, flatrate, flatrateline, vehicleadvertisementsite.\n$`, stderr)
	text, err := os.ReadFile(draft)
	require.NoError(t, err)
	require.NotContains(t, string(text), os.Getenv("DATABASE_DSN"))
	require.Contains(t, string(text), "dsn: ${DATABASE_DSN}")
	require.Contains(t, string(text), "price: {from: VKPR, type: integer, decimals: 2} # guess: name (sales price)")

	code, _, stderr = cli("", "map", "init", "--engine", "sqlite", "--out", draft)
	require.Equal(t, 2, code)
	require.Equal(t, "frontdesk: --out "+draft+": expected a file that is not there yet\n", stderr)

	code, out, stderr = cli("", "map", "check", "--sheet", draft)
	require.Contains(t, []int{0, 1}, code, stderr)
	require.Regexp(t, `\ncontact: \d+ row\(s\) of V_RELATIE_ACTIEF\n`, out)

	code, out, _ = cli("", "map", "init", "--engine", "sqlite")
	require.Zero(t, code)
	require.Equal(t, string(text), out)
	code, _, stderr = cli("", "map", "init", "--engine", "sqlite", "--dsn", filepath.Join(dir, "none.db"))
	require.Equal(t, 1, code)
	require.Contains(t, stderr, "open the database")
}

// TestMapCheck compares the finished sheet, one that is wrong, and one that is no
// sheet at all.
func TestMapCheck(t *testing.T) {
	dir := dealerpak(t)
	code, out, stderr := cli("", "map", "check", "--config", filepath.Join(dir, "frontdesk.yaml"))
	require.Zero(t, code, "%s%s", out, stderr)
	require.Contains(t, out, "Not for clients: resources advertisementsite, flatrate, flatrateline, vehicleadvertisementsite\n")
	require.Regexp(t, `\n0 error\(s\), \d+ warning\(s\), \d+ note\(s\)\n$`, out)
	require.NoFileExists(t, filepath.Join(dir, "keep.db"))

	dir = dealerpak(t, "description: {from: OMS, length: 30", "description: {from: OMSCHR, length: 30")
	code, out, stderr = cli("", "map", "check", "--sheet", filepath.Join(dir, "sheet.yaml"), "--json")
	require.Equal(t, 1, code)
	require.Contains(t, stderr, "frontdesk: the sheet does not fit: ")
	var report mapcheck.Report
	require.NoError(t, json.Unmarshal([]byte(out), &report))
	require.Positive(t, report.Count(mapcheck.Error))

	dir = dealerpak(t, "format: 1", "fromat: 1")
	code, out, stderr = cli("", "map", "check", "--sheet", filepath.Join(dir, "sheet.yaml"))
	require.Equal(t, 2, code)
	require.Empty(t, out)
	require.Contains(t, stderr, "sheet.yaml:3:1: fromat: unknown key, did you mean format? [unknown-key]\n")
	code, out, _ = cli("", "map", "check", "--sheet", filepath.Join(dir, "sheet.yaml"), "--json")
	require.Equal(t, 2, code)
	require.Contains(t, out, `"rule": "sheet"`)
	code, _, stderr = cli("", "map", "check", "--sheet", filepath.Join(dir, "none.yaml"))
	require.Equal(t, 2, code)
	require.Contains(t, stderr, "none.yaml: no such file or directory\n")
}

// TestMapCheckUnfinished: a sheet with problems is checked as far as it goes. Before, nothing
// was said of the rest.
func TestMapCheckUnfinished(t *testing.T) {
	dir := dealerpak(t, "birth_date: {from: GEBDAT, type: text, format: yyyyMMdd", "birth_date: {from: GEBDAT, type: text, format: jjjjMMdd",
		"codes: {H: high, L: low, N: zero, M: margin, V: exempt}", "codes: {}", "description: {from: OMS, length: 60}\n      article_kind", "description: {from: OMSCHR, length: 60}\n      article_kind")
	file := filepath.Join(dir, "sheet.yaml")
	code, out, stderr := cli("", "map", "check", "--sheet", file)
	require.Equal(t, 2, code, out)
	require.Equal(t, "frontdesk: the sheet has 2 problem(s)\n", stderr)
	require.Contains(t, out, ": error: sheet\n  resources.contact.fields.birth_date.format: ")
	require.Contains(t, out, ": error: sheet\n  resources.turnovergroup.fields.vat_kind.codes: ")
	require.Contains(t, out, "ART has no column OMSCHR")
	require.Regexp(t, `\ncontact: \d+ row\(s\) of V_RELATIE_ACTIEF\n`, out)
	require.Contains(t, out, "\nleft out, since it has problems or depends on what has: resources.contact.fields.birth_date,\nresources.turnovergroup.fields.vat_kind\n")
	code, out, _ = cli("", "map", "check", "--sheet", file, "--json")
	require.Equal(t, 2, code)
	var report mapcheck.Report
	require.NoError(t, json.Unmarshal([]byte(out), &report))
	require.Equal(t, "resources.turnovergroup.fields.vat_kind.codes", report.Findings[slices.IndexFunc(report.Findings, func(f mapcheck.Finding) bool { return f.Rule == "sheet" })].Path)

	t.Setenv("DEALERPAK_DSN", filepath.Join(dir, "none", "none.db"))
	code, out, stderr = cli("", "map", "check", "--sheet", file)
	require.Equal(t, 2, code)
	require.Empty(t, out)
	require.Contains(t, stderr, "resources.contact.fields.birth_date.format: ")
	require.Contains(t, stderr, "the rest of it could not be compared: open the database")
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
	code, out, stderr := cli("", "map", "check", "--sheet", file, "--client", "1:garage-noord")
	require.Zero(t, code, "%s%s", out, stderr)
	require.Contains(t, out, "contact: ")
	require.Equal(t, map[string]bool{"POST oauth": true, "GET v3": true}, asked)

	code, out, stderr = cli("", "map", "check", "--sheet", file, "--client", "1:garage-noord", "--other", "2:garage-zuid")
	require.Zero(t, code, "%s%s", out, stderr)
	require.Equal(t, map[string]bool{"POST oauth": true, "GET v3": true}, asked, "the other client is read as, too")
	code, _, stderr = cli("", "map", "check", "--sheet", file, "--write")
	require.Equal(t, 2, code)
	require.Contains(t, stderr, "--client")
	code, out, _ = cli("", "map", "check", "--sheet", file, "--client", "1:garage-noord", "--write")
	require.Contains(t, []int{0, 1}, code, out)
	require.True(t, asked["POST v3"], "%v", asked)
	require.NotContains(t, out, "write.left", "what was made is removed again")
	require.Contains(t, out, "order: order_status was written in a new record and not changed in it")

	text, err := os.ReadFile(file)
	require.NoError(t, err)
	wrong := filepath.Join(t.TempDir(), "wrong.yaml")
	require.NoError(t, os.WriteFile(wrong, []byte(strings.NewReplacer("name: lastNameOrCompany", "name: lastName", "BUSINESS: company", "FIRM: company").Replace(string(text))), 0o600))
	code, out, stderr = cli("", "map", "check", "--sheet", wrong, "--client", "1:garage-noord")
	require.Equal(t, 1, code, "%s%s", out, stderr)
	require.Contains(t, out, "warning: http.path-missing\n  lastName is in none of ")
	require.Contains(t, out, "error: data.unfit\n")
	require.Contains(t, out, `"BUSINESS": not in the code list`)
	code, _, stderr = cli("", "map", "check", "--sheet", wrong, "--client", "x")
	require.Equal(t, 2, code)
	require.Contains(t, stderr, "--client x: expected a number")
}

// TestMapExplain shows operations without a database or a service.
func TestMapExplain(t *testing.T) {
	t.Setenv("DEALERPAK_DSN", "") // so that it is put back
	require.NoError(t, os.Unsetenv("DEALERPAK_DSN"))
	files, err := legacytest.Files()
	require.NoError(t, err)
	for _, engine := range []string{"mariadb", "postgres", "sqlite"} {
		sheet := filepath.Join(files, engine+".yaml")
		for _, r := range []string{"contact", "order", "orderline", "vehicle", "document", "country"} {
			code, out, stderr := cli("", "map", "explain", r, "--sheet", sheet)
			require.Zero(t, code, stderr)
			require.Contains(t, out, "get of "+r+":\n  SELECT ")
			for line := range strings.Lines(out) {
				require.LessOrEqual(t, len([]rune(line)), terminal.Width+1, line)
			}
		}
		code, out, stderr := cli("", "map", "explain", "order", "--operation", "create", "--sheet", sheet)
		require.Zero(t, code, stderr)
		require.NotContains(t, out, "delete of")
		require.Contains(t, out, "order_status")
		require.Regexp(t, `\nprice +PRIJS +integer; divided by 100; required\n`, firstOf(cli("", "map", "explain", "orderline", "--sheet", sheet)))
		code, _, stderr = cli("", "map", "explain", "country", "--operation", "delete", "--sheet", sheet)
		require.Equal(t, 2, code)
		require.Equal(t, "frontdesk: the sheet has no delete of country\n", stderr)
	}
	code, out, stderr := cli("", "map", "explain", "orderline", "--operation", "get", "--sheet", "../../backend/remote/testdata/garagecloud.yaml")
	require.Zero(t, code, stderr)
	require.Contains(t, out, "  GET http://garage-url/v3/orders/{key.1}/lines/{key.2}\n")
}

func firstOf(_ int, out, _ string) string { return out }

// TestMapTest records the answers of a gateway in front of DEALERPAK, finds them
// again, and shows one that differs.
func TestMapTest(t *testing.T) {
	dir := dealerpak(t)
	t.Setenv("PIET", "Sleutelbos-1998")
	fixture := filepath.Join(dir, "contacts.yaml")
	shared := filepath.Join(dir, "shared.yaml")
	require.NoError(t, os.Symlink(shared, fixture))
	require.NoError(t, os.WriteFile(shared, []byte(`# What clients of branch 1 read.
login: {username: piet.dekker, password: "${PIET}"}
cases:
  - name: a contact by its number
    request: {path: /contact/1001}
    answer: {status: 200}
  - name: an employee is made
    request: {method: POST, path: /employee, body: '{"number": "FX", "username": "f.ixture", "last_name": "Fixture"}'}
    answer: {status: 200}
    keep: {employee: data.id}
  - name: and found
    request: {path: "/employee/{employee}"}
  - name: no contact
    request: {path: /contact/999999}
    answer: {status: 404}
`), 0o600))
	require.NoError(t, os.Chmod(shared, 0o644))
	config := filepath.Join(dir, "frontdesk.yaml")
	code, out, stderr := cli("", "map", "test", "--config", config, fixture, "--record")
	text, err := os.ReadFile(shared)
	require.NoError(t, err)
	require.Zero(t, code, "%s%s%s", out, stderr, text)
	info, err := os.Lstat(shared)
	require.NoError(t, err)
	require.Equal(t, "-rw-r--r--", info.Mode().String(), "as it was")
	require.Contains(t, out, "  saved  a contact by its number\n")
	require.Contains(t, string(text), "# What clients of branch 1 read.\n")
	require.Contains(t, string(text), `password: "${PIET}"`)
	require.NotContains(t, string(text), "Sleutelbos")
	require.Contains(t, string(text), "\"name\": \"Veluwe Automaterialen B.V.\",\n")
	require.Contains(t, string(text), "\"id\": \"<id>\",\n")

	// The employee is there by now, so that making it again is refused.
	code, out, stderr = cli("", "map", "test", "--config", config, fixture)
	require.Equal(t, 1, code, "%s%s", out, stderr)
	require.Contains(t, out, "  ok     a contact by its number\n")
	require.Contains(t, out, "  FAILED an employee is made\n         - status: 201\n         + status: 409\n")

	wrong := strings.Replace(string(text), "Veluwe Automaterialen B.V.", "Veluwe", 1)
	wrong = wrong[:strings.Index(wrong, `  - name: "an employee is made"`)]
	require.NoError(t, os.WriteFile(fixture, []byte(wrong), 0o600))
	junit := filepath.Join(dir, "junit.xml")
	code, out, stderr = cli("", "map", "test", "--config", config, fixture, "--junit", junit)
	require.Equal(t, 1, code, "%s%s", out, stderr)
	require.Contains(t, out, "         - data.name: \"Veluwe\"\n         + data.name: \"Veluwe Automaterialen B.V.\"\n0 passed, 1 failed\n")
	data, err := os.ReadFile(junit)
	require.NoError(t, err)
	var read struct {
		Tests    int `xml:"tests,attr"`
		Failures int `xml:"failures,attr"`
	}
	require.NoError(t, xml.Unmarshal(data, &read))
	require.Equal(t, []int{1, 1}, []int{read.Tests, read.Failures})

	require.NoError(t, os.WriteFile(fixture, []byte("cases:\n  - nam: x\n    request: {method: GTE, path: contact}\n"), 0o600))
	code, out, stderr = cli("", "map", "test", "--config", config, fixture)
	require.Equal(t, 2, code)
	require.Empty(t, out)
	require.Contains(t, stderr, "contacts.yaml:2:5: cases[0].nam: unknown key, did you mean name? [unknown-key]\n")
	require.Contains(t, stderr, `cases[0].request.method: found "GTE", expected one of GET, POST, PUT, PATCH, DELETE, HEAD, did you mean GET?`)
	require.Contains(t, stderr, `cases[0].request.path: found "contact", expected a path such as /contact/17`)
}

// TestMapDraftServes puts a gateway in front of a draft as it was drafted: every
// resource is read, and records are made by a procedure and by an INSERT.
func TestMapDraftServes(t *testing.T) {
	dir := t.TempDir()
	t.Setenv("DATABASE_DSN", legacytest.Postgres(t))
	t.Setenv("PIET", "Sleutelbos-1998")
	config, fixture := filepath.Join(dir, "frontdesk.yaml"), filepath.Join(dir, "all.yaml")
	require.NoError(t, os.WriteFile(config, []byte("backend: {driver: legacy, sheet: "+filepath.Join(dir, "draft.yaml")+"}\nmail: {folder: "+dir+"}\n"), 0o600))
	code, _, stderr := cli("", "map", "init", "--engine", "postgres", "--out", filepath.Join(dir, "draft.yaml"))
	require.Zero(t, code, stderr)
	text := "login: {username: piet.dekker, password: \"${PIET}\"}\ncases:\n"
	for _, path := range []string{
		"contact", "vehicle", "order", "article", "employee", "country", "turnovergroup", "contactaddress?contact_id=1001",
		"contactcommunication?contact_id=1001", "orderline?order_id=1", "vehicleroleline?vehicle_id=1", "document?resource=order&resource_id=1",
	} {
		text += "  - {name: '" + path + "', request: {path: '/" + path + "'}, answer: {status: 200}}\n"
	}
	text += `  - name: a contact
    request: {method: POST, path: /contact, body: '{"kind": "person", "name": "Proef", "birth_date": "1970-01-02"}'}
    answer: {status: 201, body: '{"data": {"id": "<id>", "number": "<any>", "kind": "person", "name": "Proef", "first_name": null, "infix": null, "initials": null, "company_number": null, "vat_number": null, "language": "nl", "birth_date": "1970-01-01T23:00:00.000Z", "payment_days": 14, "is_customer": 1, "is_supplier": 0, "note": null, "is_system": 0, "is_blocked": 0, "is_archived": 0, "created_at": "<timestamp>", "modified_at": "<timestamp>"}}'}
    keep: {contact: data.id}
  - name: its order
    request: {method: POST, path: /order, body: '{"contact_id": {contact}, "kind": "workshop", "order_status": "open", "order_date": "2026-07-01T10:00:00.000Z"}'}
    answer: {status: 201}
  - name: the contact goes
    request: {method: DELETE, path: "/contact/{contact}"}
    answer: {status: 406}
`
	require.NoError(t, os.WriteFile(fixture, []byte(text), 0o600))
	code, out, stderr := cli("", "map", "test", "--config", config, fixture)
	require.Zero(t, code, "%s%s", out, stderr)
	require.Contains(t, out, "15 passed, 0 failed\n")
}

// TestDaysOfAnotherZone: days of another zone than clients' are refused before anything
// is connected to, by every command that knows both. Before, a date that was written
// became the day before it.
func TestDaysOfAnotherZone(t *testing.T) {
	dir := dealerpak(t, "time_zone: Europe/Amsterdam", "time_zone: UTC")
	t.Setenv("DEALERPAK_DSN", filepath.Join(dir, "none", "none.db"))
	config := filepath.Join(dir, "frontdesk.yaml")
	for _, args := range [][]string{{"check", "--config", config}, {"map", "check", "--config", config}, {"serve", "--config", config}} {
		code, out, stderr := cli("", args...)
		require.NotZero(t, code, args)
		require.Contains(t, out+stderr, "resources.contact.fields.birth_date: found days of UTC, where clients' dates are days of Europe/Amsterdam (server.time_zone): one that is written would shift, expected time_zone: Europe/Amsterdam", args)
	}
	text, err := os.ReadFile(config)
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(config, append(text, "server: {time_zone: UTC, vendor: Example}\n"...), 0o600))
	code, _, stderr := cli("", "check", "--config", config)
	require.Zero(t, code, stderr)
}
