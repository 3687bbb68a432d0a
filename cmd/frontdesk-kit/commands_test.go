package main

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"frontdesk/backend/backendtest"
	sqlforeign "frontdesk/backend/legacy/foreigntest"
	"frontdesk/backend/legacy/legacytest"
	"frontdesk/backend/remote/foreigntest"
	"frontdesk/backend/remote/remotetest"
	"frontdesk/cmd/frontdesk/desk"
	"frontdesk/cmd/frontdesk/rig"
	"frontdesk/cmd/frontdesk/rig/must"
)

// TestCommands runs the cases of testdata/commands.txt, which says how they are written.
func TestCommands(t *testing.T) {
	cases := strings.Split(rig.Read(t, filepath.Join("testdata", "commands.txt")), "\n=== ")
	for _, text := range cases[1:] {
		name, lines, _ := strings.Cut(text, "\n")
		t.Run(name, func(t *testing.T) {
			c := &typed{t: t, dir: t.TempDir()}
			for line := range strings.Lines(lines) {
				if line = strings.TrimSuffix(line, "\n"); line != "" && line[0] != '#' {
					c.step(line)
				}
			}
		})
	}
}

// typed is a case that is under way, with what was written last.
type typed struct {
	t        *testing.T
	dir      string
	out, err string
}

func (c *typed) step(line string) {
	c.t.Helper()
	verb, rest, _ := strings.Cut(strings.NewReplacer("DIR", c.dir, `\n`, "\n").Replace(line), " ")
	name, words, _ := strings.Cut(rest, " ")
	file := filepath.Join(c.dir, name)
	switch verb {
	case "dealerpak":
		c.dealerpak(strings.Split(rest, " => "))
	case "demo":
		config := fmt.Sprintf("backend: {dsn: %q}\nmail: {folder: %q}\n", rig.Engines[0].DSN(c.t), filepath.Join(c.dir, "mail"))
		require.NoError(c.t, os.WriteFile(filepath.Join(c.dir, "frontdesk.yaml"), []byte(config), 0o600))
	case "file":
		require.NoError(c.t, os.WriteFile(file, []byte(words), 0o600))
	case "there":
		c.t.Chdir(c.dir)
	case "append":
		require.NoError(c.t, os.WriteFile(file, []byte(rig.Read(c.t, file)+words), 0o600))
	case "save":
		old, now, _ := strings.Cut(words, " => ")
		require.Contains(c.t, c.out, old)
		require.NoError(c.t, os.WriteFile(file, []byte(strings.Replace(c.out, old, now, 1)), 0o600))
	case "env":
		name, value, _ := strings.Cut(rest, "=")
		c.t.Setenv(name, inEnvironment(value))
	case "out":
		c.has(c.out, rest, line)
	case "err":
		c.has(c.err, rest, line)
	case "holds":
		require.Contains(c.t, c.read(name), words)
	case "lacks":
		require.NotContains(c.t, c.read(name), inEnvironment(words))
	case "none":
		require.NoFileExists(c.t, file)
	case "private":
		require.Equal(c.t, os.FileMode(0o600), must.Have(os.Stat(file))(c.t).Mode().Perm())
	default:
		c.run(verb, rest)
	}
}

// run runs a command line, which ends with a code.
func (c *typed) run(verb, rest string) {
	c.t.Helper()
	run := cli
	if verb == "frontdesk" {
		verb, rest, _ = strings.Cut(rest, " ")
		run = func(input string, args ...string) (int, string, string) { return rig.Command(c.t, input, args...) }
	}
	want := must.Have(strconv.Atoi(verb))(c.t)
	code, out, told := run("", strings.Fields(rest)...)
	require.Equal(c.t, want, code, "%s: %s%s", rest, out, told)
	c.out, c.err = out, told
}

func (c *typed) read(name string) string {
	c.t.Helper()
	if name == "output" {
		return c.out + c.err
	}
	return rig.Read(c.t, filepath.Join(c.dir, name))
}

func (c *typed) has(text, want, line string) {
	c.t.Helper()
	switch how, words, _ := strings.Cut(want, " "); how {
	case "=":
		require.Equal(c.t, words, text, line)
	case "~":
		require.Regexp(c.t, words, text, line)
	default:
		require.Contains(c.t, text, want, line)
	}
}

// inEnvironment is a text, or what a variable has whose name it is behind $.
func inEnvironment(text string) string {
	if value, is := os.LookupEnv(strings.TrimPrefix(text, "$")); is && text[0] == '$' {
		return value
	}
	return text
}

// dealerpak puts a sheet of DEALERPAK, with words of it replaced, a configuration that serves it, and a
// database on SQLite there.
func (c *typed) dealerpak(replace []string) {
	c.t.Helper()
	c.t.Setenv("DEALERPAK_DSN", legacytest.SQLite(c.t))
	text := rig.Read(c.t, filepath.Join(must.Have(legacytest.Files())(c.t), "sqlite.yaml"))
	if len(replace) == 2 {
		require.Contains(c.t, text, replace[0])
		text = strings.ReplaceAll(text, replace[0], replace[1])
	}
	config := fmt.Sprintf("backend: {driver: legacy, sheet: %q}\nmail: {folder: %q}\n", filepath.Join(c.dir, "sheet.yaml"), filepath.Join(c.dir, "mail"))
	for name, text := range map[string]string{"sheet.yaml": text, "frontdesk.yaml": config} {
		require.NoError(c.t, os.WriteFile(filepath.Join(c.dir, name), []byte(text), 0o600))
	}
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

func TestHelp(t *testing.T) {
	help, stderr := runs(t, 0)
	require.Empty(t, stderr)
	for _, command := range []string{"map init", "map brief", "map check", "conform"} {
		require.Regexp(t, `(?m)^  `+command+` +.*[A-Z]`, help)
		own, _ := runs(t, 0, append(strings.Fields(command), "--help")...)
		require.Contains(t, own, "Usage: frontdesk-kit "+command)
	}
	version, _ := runs(t, 0, "--version")
	require.Equal(t, desk.Version()+"\n", version)
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
