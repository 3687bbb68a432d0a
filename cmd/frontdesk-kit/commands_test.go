package main

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
	"github.com/stretchr/testify/require"

	"frontdesk/backend/backendtest"
	sqlforeign "frontdesk/backend/legacy/foreigntest"
	"frontdesk/backend/legacy/legacytest"
	"frontdesk/backend/remote/foreigntest"
	"frontdesk/backend/remote/remotetest"
	"frontdesk/cmd/frontdesk/desk"
	"frontdesk/cmd/frontdesk/rig"
	"frontdesk/cmd/frontdesk/rig/script"
)

// TestCommands runs the scripts of testdata/commands: command lines, and what comes of them.
func TestCommands(t *testing.T) {
	script.Run(t, script.Options{
		Dir:      filepath.Join("testdata", "commands"),
		Setup:    func(_ *testing.T, env *testscript.Env) { env.Setenv("VERSION", desk.Version()) },
		Programs: map[string]script.Program{"frontdesk": rig.Command, "frontdesk-kit": func(_ testing.TB, input string, args ...string) (int, string, string) { return cli(input, args...) }},
		Inherit:  []string{"DATABASE_DSN", "DEALERPAK_DSN", "FRONTDESK_USER", "FRONTDESK_PASSWORD"},
		Commands: script.Commands{"dealerpak": dealerpak, "demo": func(s *testscript.TestScript, _ []string) {
			config := fmt.Sprintf("backend: {dsn: %q}\nmail: {folder: mail}\n", rig.Engines[0].DSN(t))
			s.Check(os.WriteFile(s.MkAbs("frontdesk.yaml"), []byte(config), 0o600))
		}},
	})
}

// dealerpak puts a sheet of DEALERPAK, a configuration that serves it, and a database on SQLite there.
func dealerpak(s *testscript.TestScript, _ []string) {
	s.Check(os.Chdir(s.Getenv("REPOSITORY"))) // where the files are looked for; a program is run in the script's folder
	folder, err := legacytest.Files()
	s.Check(err)
	s.Setenv("DEALERPAK_DSN", legacytest.SQLite(script.Of(s)))
	s.Check(os.WriteFile(s.MkAbs("sheet.yaml"), []byte(s.ReadFile(filepath.Join(folder, "sqlite.yaml"))), 0o600))
	s.Check(os.WriteFile(s.MkAbs("frontdesk.yaml"), []byte("backend: {driver: legacy, sheet: sheet.yaml}\nmail: {folder: mail}\n"), 0o600))
}

func TestMain(m *testing.M) { os.Exit(rig.Main(m)) }

// cli runs a command line with that standard input, to its end.
func cli(input string, args ...string) (code int, stdout, stderr string) {
	var out, problems rig.LockedBuffer
	code = run(desk.Program{Ctx: context.Background(), Stdin: strings.NewReader(input), Stdout: &out, Stderr: &problems}, args)
	return code, out.String(), problems.String()
}

// runs is cli of a command line that ends with that code.
func runs(t *testing.T, want int, args ...string) (stdout, stderr string) {
	t.Helper()
	code, stdout, stderr := cli("", args...)
	require.Equal(t, want, code, "%s%s", stdout, stderr)
	return stdout, stderr
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

// journey is the way from a system that nobody here wrote to a gateway that is proved: a
// draft of a database, the finished sheet, a check, and the conformance suite.
type journey struct {
	driver      string
	init        []string
	check       []string
	sheet       string
	exceptions  string // "" for none
	login       backendtest.Login
	other       backendtest.Login
	environment map[string]string
}

// TestForeignJourneys goes all of the way.
func TestForeignJourneys(t *testing.T) {
	t.Run("pocketbase", func(t *testing.T) {
		s := foreigntest.Shop(t)
		login := func(name string) backendtest.Login {
			return backendtest.Login{Username: name + "@example.com", Password: foreigntest.Password}
		}
		journey{
			driver: "remote", check: []string{"--client", "1:noord", "--other", "2:zuid", "--username", "noord@example.com"},
			sheet: rig.RemoteSheets(t, "shop.yaml"), login: login("noord"), other: login("zuid"),
			environment: map[string]string{"SERVICE_URL": s.URL, "SERVICE_TOKEN": s.Token, "SERVICE_USER": foreigntest.Superuser, "SERVICE_PASSWORD": foreigntest.Password, "FRONTDESK_PASSWORD": foreigntest.Password},
		}.run(t)
	})
	t.Run("northwind", func(t *testing.T) {
		s := sqlforeign.Northwind(t)
		journey{
			driver: "legacy", init: []string{"--engine", "postgres"}, sheet: s.Sheet, exceptions: filepath.Join(filepath.Dir(s.Sheet), "exceptions.yaml"),
			login: backendtest.Login{Username: "nancy", Password: "not-a-secret-1"},
			check: []string{"--username", "nancy"}, environment: map[string]string{"DATABASE_DSN": s.DSN, "FRONTDESK_PASSWORD": "not-a-secret-1"},
		}.run(t)
	})
}

func (j journey) run(t *testing.T) *backendtest.Report {
	for name, value := range j.environment {
		t.Setenv(name, value)
	}
	if j.init != nil {
		_, _ = runs(t, 0, append([]string{"map", "init", "--out", filepath.Join(t.TempDir(), "draft.yaml")}, j.init...)...)
	}
	out, _ := runs(t, 0, append([]string{"map", "check", "--sheet", j.sheet}, j.check...)...)
	require.Contains(t, out, "\n0 error(s), ", out)
	require.NotRegexp(t, `(?m)^warnings: `, out)
	o := backendtest.Options{Login: j.login, Other: j.other}
	if j.exceptions != "" {
		o.Exceptions = readExceptions(t, j.exceptions)
	}
	return conformSystem(t, j.driver, j.sheet, o)
}
