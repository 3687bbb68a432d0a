package main

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/alecthomas/kong"
	"github.com/stretchr/testify/require"

	"frontdesk/auth"
	"frontdesk/backend/sqlrecord/sqltest"
	"frontdesk/cmd/frontdesk/desk"
	"frontdesk/cmd/frontdesk/rig"
	"frontdesk/cmd/frontdesk/rig/must"
)

// cli runs a command line with that standard input, to its end.
func cli(input string, args ...string) (code int, stdout, stderr string) {
	ctx, stop := context.WithCancel(context.Background())
	defer stop()
	var out rig.LockedBuffer
	problems := untilWaiting{stop: stop}
	code = run(desk.Program{Ctx: ctx, Stdin: strings.NewReader(input), Stdout: &out, Stderr: &problems}, args)
	return code, out.String(), problems.String()
}

// startWaits is what a start says that waits for what it needs.
const startWaits = "the start waits"

// untilWaiting takes what a command says, and stops a start that waits for what never comes.
type untilWaiting struct {
	rig.LockedBuffer
	stop func()
}

func (w *untilWaiting) Write(p []byte) (int, error) {
	if bytes.Contains(p, []byte(startWaits)) {
		w.stop()
	}
	return w.LockedBuffer.Write(p)
}

// TestCLIKeysAndUsers sets a garage up from nothing, as its operator does: a
// new key, a new user, a login; while the desk serves.
func TestCLIKeysAndUsers(t *testing.T) {
	rig.OnEngines(t, func(t *testing.T, dsn string) {
		code, printed, _ := cli("", "key", "new", "webshop")
		require.Zero(t, code)
		key := regexp.MustCompile(`(?m)^api_key: ([0-9a-f-]{36})$`).FindStringSubmatch(printed)
		require.NotNil(t, key, printed)
		_, yaml, found := strings.Cut(printed, "\napi_keys:\n")
		require.True(t, found, printed)
		require.NotContains(t, yaml, key[1], "the key itself goes into no file")
		d := rig.Start(t, rig.Options{DSN: dsn, Keys: strings.Replace(yaml, "[]", `["GET /contact"]`, 1)})

		file := filepath.Join(t.TempDir(), "frontdesk.yaml") // as printed, and nothing else but where the data is
		require.NoError(t, os.WriteFile(file, fmt.Appendf(nil, "backend: {dsn: %q}\napi_keys:\n%s", dsn, yaml), 0o600))
		user := func(input string, args ...string) string {
			t.Helper()
			code, stdout, stderr := cli(input, append(append([]string{"user"}, args...), "--config", file)...)
			require.Zero(t, code, "%s%s", stdout, stderr)
			return stdout + stderr
		}
		user("first secret\n", "add", "jan", "--client", "Garage", "--email", "jan@example.nl")
		user("other secret\n", "add", "piet", "--client", "Garage", "--email", "piet@example.nl", "--external")
		status := func(username, password string) int {
			return d.Call("GET", rig.LoginPath(key[1], username, strings.ReplaceAll(password, " ", "%20")), "", "").Status
		}
		require.Equal(t, []int{200, 403, 401}, []int{status("jan", "first secret"), status("piet", "other secret"), status("jan", "next secret")})
		user("next secret\r\n", "passwd", "jan")
		require.Equal(t, []int{401, 200}, []int{status("jan", "first secret"), status("jan", "next secret")})
		require.Regexp(t, `(?s)\njan .*\npiet .*\nThe users of (/\S+/`+desk.DatabaseFile+`|127\.0\.0\.1:\d+/\w+):\n$`, user("", "list"))
		for _, secret := range []string{"secret", key[1]} {
			require.NotContains(t, d.Log.String(), secret)
		}
	})
}

// demo is one that was started by its own command line. Its answers are held to its description.
type demo struct {
	*rig.Desk
	welcome []string // its last line is the ready line
	goodbye chan string
}

func startDemo(t *testing.T, more ...string) demo {
	t.Helper()
	d := demo{&rig.Desk{T: t, Ops: rig.FreeAddress(t), Log: new(rig.LockedBuffer), Stopped: make(chan struct{})}, nil, make(chan string, 1)}
	ctx, stop := context.WithCancel(context.Background())
	d.Stop = stop
	read, write := io.Pipe()
	go func() {
		defer close(d.Stopped)
		d.Code = run(desk.Program{Ctx: ctx, Stdin: strings.NewReader(""), Stdout: write, Stderr: d.Log}, append([]string{"demo", "--listen", "127.0.0.1:0", "--ops", d.Ops}, more...))
		write.Close()
	}()
	held := must.Have(rig.ContractOf(must.Have(desk.DemoConfig(demoListen, "", ""))(t), desk.DemoEnvironment))(t)
	d.HTTP = &http.Client{Transport: &rig.Holding{RoundTripper: &http.Transport{}, Contract: held, Base: &d.Base, Fault: func(err error) { t.Error(err) }}}
	t.Cleanup(d.Shutdown)
	reader := bufio.NewReader(read)
	for d.Base == "" {
		line, err := reader.ReadString('\n')
		require.NoError(t, err, "%s", d.Log)
		d.welcome = append(d.welcome, strings.TrimSuffix(line, "\n"))
		if base, ready := strings.CutPrefix(line, "ready: "); ready {
			d.Base = strings.TrimSuffix(base, "/\n")
		}
	}
	go func() {
		rest, _ := io.ReadAll(reader)
		d.goodbye <- string(rest)
	}()
	return d
}

// TestCLIDemo starts the demo twice in a folder, and does what it proposes.
func TestCLIDemo(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "demo")
	for range 2 {
		d := startDemo(t, "--data", dir, "--records", "40")
		require.Regexp(t, `^http://127\.0\.0\.1:\d+/webservice_v2$`, d.Base)
		text := strings.Join(d.welcome, "\n")
		for _, want := range []string{dir, desk.DemoFullKey, desk.DemoOrdersKey, "demo, other", "external", "noemail", "bademail", "Ctrl-C"} {
			require.Contains(t, text, want)
		}
		d.Login(desk.DemoFullKey, "other")
		// Another one at the same address says what to do about it.
		code, _, stderr := cli("", "demo", "--data", filepath.Join(t.TempDir(), "other"), "--records", "40",
			"--listen", strings.TrimSuffix(strings.TrimPrefix(d.Base, "http://"), "/webservice_v2"))
		require.Equal(t, 1, code)
		require.Regexp(t, `^frontdesk: cannot serve on 127\.0\.0\.1:\d+: address already in use by another program; --listen and --ops choose other ports\n$`, stderr)

		d.Shutdown()
		require.Zero(t, d.Code)
		require.Equal(t, "stopped; the data stays in "+dir+"\n", <-d.goodbye)
		require.Empty(t, d.Log.String())
		rig.RequireAtRest(t, "sqlite:"+filepath.Join(dir, desk.DatabaseFile))
	}
	require.Equal(t, os.FileMode(0o700), must.Have(os.Stat(dir))(t).Mode().Perm(), "others must not read it")
	log := must.Have(os.ReadFile(filepath.Join(dir, "frontdesk.log")))(t)
	require.NotContains(t, string(log), desk.DemoFullKey)
	require.NotContains(t, string(log), "password=")
}

// TestForeignPastedDemo pastes the lines of the demo's welcome into a shell.
func TestForeignPastedDemo(t *testing.T) {
	sqltest.Tool(t, "curl", "curl")
	d := startDemo(t, "--data", filepath.Join(t.TempDir(), "demo"), "--records", "40")
	var script []string
	for _, line := range d.welcome {
		if strings.HasPrefix(line, "TOKEN=") || strings.HasPrefix(line, "curl ") {
			script = append(script, line, "echo")
		}
	}
	require.Len(t, script, 6)
	out, err := exec.Command("sh", "-c", strings.Join(script, "\n")).CombinedOutput()
	require.NoError(t, err, "%s", out)
	answers := strings.Fields(strings.ReplaceAll(string(out), " ", ""))
	require.Len(t, answers, 2, "%s", out)
	require.Regexp(t, `^\{"data":\[\{"id":1,"license_plate":.*"page":1,"page_size":2,`, answers[0])
	require.Regexp(t, `^\{"data":\{"id":\d+,"number":"O0000\d\d","contact_id":1,`, answers[1])
}

// The hash that user hash prints is what a mapping sheet's users are verified by.
func TestCLIUserHash(t *testing.T) {
	code, out, problems := cli("a good password\n", "user", "hash")
	require.Zero(t, code, problems)
	require.True(t, must.Have(auth.NewHasher().Verify(t.Context(), "a good password", strings.TrimSpace(out)))(t))
}

// TestSizeOfTheCommandLine: an operator has to find his way in it at night.
func TestSizeOfTheCommandLine(t *testing.T) {
	parser := must.Have(kong.New(new(commands), kong.Vars{"demo_listen": demoListen}))(t)
	names, leaves, flags := len(parser.Model.Children), 0, 0
	for _, leaf := range parser.Model.Leaves(false) {
		leaves++
		for n := leaf; n.Type == kong.CommandNode; n = n.Parent {
			for _, flag := range n.Flags {
				flags++
				t.Logf("%s --%s", leaf.Path(), flag.Name)
			}
		}
	}
	t.Logf("%d names, %d commands, %d flags", names, leaves, flags)
	require.LessOrEqual(t, names, 19)
	require.LessOrEqual(t, leaves, 32)
	require.LessOrEqual(t, flags, 120)
}

// TestNamesThatCannotBeSeen: what a terminal would not show as it is becomes no name of a
// user or a client, and where it is one already, it is told escaped.
func TestNamesThatCannotBeSeen(t *testing.T) {
	folder := t.TempDir()
	file, data := filepath.Join(folder, "frontdesk.yaml"), filepath.Join(folder, desk.DatabaseFile)
	require.NoError(t, os.WriteFile(file, fmt.Appendf(nil, "backend: {dsn: %q}\n", "sqlite:"+data), 0o600))
	command := func(args ...string) (int, string) {
		code, stdout, stderr := cli("a good password\n", append(args, "--config", file)...)
		return code, stdout + stderr
	}
	code, said := command("migrate")
	require.Zero(t, code, said)
	code, said = command("user", "add", "jan", "--client", "Garage \"De Hoek\"", "--email", "jan@example.nl")
	require.Zero(t, code, said)
	archive := filepath.Join(folder, "backup.zip")
	code, said = command("backup", "--client", "Garage \"De Hoek\"", "--out", archive)
	require.Zero(t, code, said)

	for _, odd := range []string{"Evil\nClient \x1b[31mRED", "a\x00b", "a\x7fb", "a\u0085b", "a\u202eb", "a\u200bb", "a\u2028b", "a\xffb", "\t"} {
		for _, args := range [][]string{
			{"user", "add", odd, "--client", "Garage", "--email", "piet@example.nl"},
			{"user", "add", "piet", "--client", odd, "--email", "piet@example.nl"},
			{"user", "add", "piet", "--client", "Garage", "--email", odd + "@example.nl"},
			{"restore", "--client", odd, "--rename", archive},
			{"key", "new", odd},
		} {
			code, said := command(args...)
			require.NotZero(t, code, "%q", args)
			requirePlain(t, said)
			if args[0] != "key" {
				require.Contains(t, said, "expected a name of characters that can be seen", "%q", args)
			}
		}
		for _, args := range [][]string{{"user", "block", odd}, {"user", "unblock", odd}, {"user", "passwd", odd}, {"key", "revoke", odd}, {"callbacks", "show", odd}, {"backup", "--client", odd, "--out", archive}} {
			code, said := command(args...)
			require.NotZero(t, code, "%q", args)
			requirePlain(t, said)
		}
	}
	_, said = command("user", "list")
	require.Equal(t, 3, strings.Count(said, "\n"), said)
	require.Contains(t, said, `jan       Garage "De Hoek"  jan@example.nl`)

	rig.AskSQLite(t, data, `UPDATE client SET name = 'Evil' || char(10) || 'Client ' || char(27) || '[31mRED'`)
	rig.AskSQLite(t, data, `UPDATE app_user SET username = 'j' || char(9) || 'n'`)
	_, said = command("user", "list")
	require.Equal(t, 3, strings.Count(said, "\n"), said)
	require.Contains(t, said, `"j\tn"    "Evil\nClient \x1b[31mRED"  jan@example.nl`)
	requirePlain(t, said)
}

// requirePlain wants nothing that a terminal would obey or hide.
func requirePlain(t *testing.T, said string) {
	t.Helper()
	for line := range strings.Lines(said) {
		require.Equal(t, fmt.Sprintf("%q", strings.TrimSuffix(line, "\n")), `"`+strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(strings.TrimSuffix(line, "\n"))+`"`)
	}
}

func TestMain(m *testing.M) {
	time.Local = time.FixedZone("UTC", 0) // whose name is in what commands print; time.UTC itself is a zone of configurations
	os.Exit(rig.Main(m))
}
