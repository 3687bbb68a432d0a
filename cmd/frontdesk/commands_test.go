package main

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
	"github.com/stretchr/testify/require"

	"frontdesk/cmd/frontdesk/accesslog/accesslogtest"
	"frontdesk/cmd/frontdesk/rig"
)

// TestCommands runs the scripts of testdata/commands: command lines as operators type them, and what
// they print. A line that begins with exit1 or exit2 expects that exit code, another one 0; -update
// writes what is compared anew.
func TestCommands(t *testing.T) {
	testscript.RunT(oneByOne{t}, testscript.Params{
		Dir: rig.Repository(t, "cmd", "frontdesk", "testdata", "commands"), UpdateScripts: *update, Setup: setUpCommands,
		Cmds: withServed(map[string]func(*testscript.TestScript, bool, []string){
			"frontdesk": func(s *testscript.TestScript, _ bool, args []string) { runCommand(s, 0, args) },
			"exit1":     func(s *testscript.TestScript, _ bool, args []string) { runCommand(s, 1, args[1:]) },
			"exit2":     func(s *testscript.TestScript, _ bool, args []string) { runCommand(s, 2, args[1:]) },
			"gzip": func(s *testscript.TestScript, _ bool, args []string) {
				s.Check(os.WriteFile(s.MkAbs(args[0]+".gz"), zipped(s.ReadFile(args[0])), 0o600))
			},
			"hashes": hasHash,
			"mode": func(s *testscript.TestScript, _ bool, args []string) {
				info, err := os.Stat(s.MkAbs(args[1]))
				s.Check(err)
				if mode := fmt.Sprintf("0%o", info.Mode().Perm()); mode != args[0] {
					s.Fatalf("%s has mode %s", args[1], mode)
				}
			},
			"ls": func(s *testscript.TestScript, _ bool, _ []string) {
				entries, err := os.ReadDir(s.MkAbs("."))
				s.Check(err)
				for _, e := range entries {
					fmt.Fprintln(s.Stdout(), e.Name())
				}
			},
		}),
	})
}

// oneByOne has scripts run one after the other: each in its folder, which is the process's own.
type oneByOne struct{ *testing.T }

func (oneByOne) Parallel()     {}
func (oneByOne) Verbose() bool { return testing.Verbose() }

func (o oneByOne) Run(name string, script func(testscript.T)) {
	o.T.Run(name, func(t *testing.T) { script(oneByOne{t}) })
}

// setUpCommands makes what no script can hold: logs that are long or broken, a body that is too large, and a
// password that is.
// HERE is the script's folder, in its configurations and in what is printed; SAMPLE is a database with sample data.
func setUpCommands(env *testscript.Env) error {
	t := env.T().(oneByOne).T
	env.Setenv("REPOSITORY", rig.Repository(t))
	t.Chdir(env.WorkDir)
	t.Setenv("SECRET", "x")
	t.Setenv("SERVICE_URL", "http://127.0.0.1:1")
	const at = "2026-11-10T10:00:00.000Z"
	for name, text := range map[string]string{
		"night.log": accesslogtest.Night("2026-11-22"), "broken.gz": "\x1f\x8bnothing", "large": "", "long": strings.Repeat("x", 1025),
		"long.log": strings.Repeat("x", 3<<20) + "\n" + accesslogtest.Request(at, "x", "webshop", "Demo", "/order", 200),
	} {
		require.NoError(t, os.WriteFile(name, []byte(text), 0o600))
	}
	files, err := filepath.Glob("*.yaml")
	env.Values[deskKey{}] = &scriptedDesk{t: t, tokens: map[string]string{}}
	for _, file := range files {
		text := strings.ReplaceAll(rig.Read(t, file), "HERE", env.WorkDir)
		if strings.Contains(text, "SAMPLE") {
			if env.Getenv("SAMPLE") == "" {
				env.Setenv("SAMPLE", rig.Engines[0].DSN(t))
				env.Setenv("SOCKET", strings.TrimPrefix(env.Getenv("SAMPLE"), "sqlite:")+"-socket")
				env.Setenv("ESC", "\x1b")
			}
			text = strings.ReplaceAll(text, "SAMPLE", env.Getenv("SAMPLE"))
		}
		require.NoError(t, os.WriteFile(file, []byte(text), 0o600))
	}
	require.NoError(t, err)
	return os.Truncate("large", 16<<20+1)
}

// runCommand runs frontdesk, with the file behind < as its standard input.
func runCommand(s *testscript.TestScript, want int, args []string) {
	input := ""
	if last := len(args) - 1; last >= 0 && strings.HasPrefix(args[last], "<") {
		input, args = s.ReadFile(args[last][1:]), args[:last]
	}
	s.Check(os.Chdir(s.MkAbs(".")))
	if file := s.Getenv("FRONTDESK_CONFIG"); file != "" {
		s.Check(os.Setenv("FRONTDESK_CONFIG", file))
		defer os.Unsetenv("FRONTDESK_CONFIG")
	}
	code, stdout, stderr := cli(input, args...)
	if id := anySession.FindString(stdout); id != "" {
		s.Setenv("SESSION", id)
	}
	here := strings.NewReplacer(s.Getenv("WORK"), "HERE")
	_, _ = here.WriteString(s.Stdout(), stdout)
	_, _ = here.WriteString(s.Stderr(), stderr)
	if code != want {
		s.Fatalf("exit code %d, expected %d\n%s%s", code, want, stdout, stderr)
	}
}

func zipped(text string) []byte {
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	_, _ = w.Write([]byte(text))
	_ = w.Close()
	return b.Bytes()
}

var (
	printedKey = regexp.MustCompile(`(?m)^api_key: ([0-9a-f-]{36})\n\nHand it to whoever will use it; it is shown only now\.$`)
	anySession = regexp.MustCompile(`(?m)^[0-9a-f]{12}`) // in the list of those that are open
	anyHash    = regexp.MustCompile(`[0-9a-f]{64}`)
)

// hasHash expects the hash of the api_key that was printed in a file, and prints the file without hashes.
func hasHash(s *testscript.TestScript, _ bool, args []string) {
	text, made := s.ReadFile(args[0]), printedKey.FindStringSubmatch(s.ReadFile("stdout"))
	if made == nil || !strings.Contains(text, fmt.Sprintf("%x", sha256.Sum256([]byte(made[1])))) {
		s.Fatalf("%s has no hash of what was printed", args[0])
	}
	_, _ = s.Stdout().Write(anyHash.ReplaceAll([]byte(text), []byte("HASH")))
}

// scriptedDesk is a desk that a script starts with serve, on its frontdesk.yaml.
type scriptedDesk struct {
	*rig.Kept
	t      *testing.T
	tokens map[string]string // of sessions, by the name that login gives them
	asked  string            // the last request
}

// servedCommands are those of scripts that need a desk. Answers are printed; $ID is that of the last record
// that was written, $OPS the address for operators.
var servedCommands = map[string]func(s *testscript.TestScript, d *scriptedDesk, args []string){
	"serve": func(s *testscript.TestScript, d *scriptedDesk, _ []string) {
		d.Kept = rig.StartKept(d.t, s.MkAbs("frontdesk.yaml"), s.ReadFile("frontdesk.yaml"), false)
		s.Defer(d.Shutdown)
		s.Setenv("OPS", d.Ops)
		s.Setenv("ADDRESS", strings.TrimPrefix(d.Base, "http://"))
		files, err := filepath.Glob(s.MkAbs("*.yaml"))
		s.Check(err)
		for _, file := range files {
			s.Check(os.WriteFile(file, []byte(strings.ReplaceAll(s.ReadFile(file), "OPS", d.Ops)), 0o600))
		}
	},
	"stopped": func(_ *testscript.TestScript, d *scriptedDesk, _ []string) { d.Shutdown() },
	"hangup": func(s *testscript.TestScript, d *scriptedDesk, args []string) { // with another configuration
		d.Write(s.ReadFile(args[0]))
		d.HangUp()
	},
	"login": func(_ *testscript.TestScript, d *scriptedDesk, args []string) { // NAME KEY USER
		d.tokens[args[0]] = d.Login(map[string]string{"full": rig.FullKey, "orders": rig.OrdersKey, "plain": rig.ArrayKey(0)}[args[1]], args[2])
	},
	"call": func(s *testscript.TestScript, d *scriptedDesk, args []string) { // STATUS WHO METHOD PATH [BODY]
		a := d.Call(args[2], args[3], d.tokens[args[1]], strings.Join(args[4:], " "))
		fmt.Fprintf(s.Stdout(), "%s", a.Body)
		if strconv.Itoa(a.Status) != args[0] {
			s.Fatalf("status %d: %s", a.Status, a.Body)
		}
		d.asked = a.Header.Get("X-Request-Id")
		var made struct{ Data struct{ ID int } }
		if json.Unmarshal(a.Body, &made) == nil && made.Data.ID > 0 {
			s.Setenv("ID", strconv.Itoa(made.Data.ID))
		}
	},
	"log": func(s *testscript.TestScript, d *scriptedDesk, files []string) { // as several gateways wrote it, and printed
		accessed(d.t, &d.Desk, d.asked)
		parts, n := make([]string, len(files)), 0
		for line := range strings.Lines(d.Log.String()) {
			parts[n%len(files)] += line
			n++
		}
		for i, file := range files {
			s.Check(os.WriteFile(s.MkAbs(file), []byte(parts[i]), 0o600))
		}
		_, _ = s.Stdout().Write([]byte(d.Log.String()))
	},
}

// deskKey has the desk of a script in its values.
type deskKey struct{}

// withServed adds the commands that need a desk to others.
func withServed(all map[string]func(*testscript.TestScript, bool, []string)) map[string]func(*testscript.TestScript, bool, []string) {
	for name, does := range servedCommands {
		all[name] = func(s *testscript.TestScript, _ bool, args []string) {
			does(s, s.Value(deskKey{}).(*scriptedDesk), args)
		}
	}
	return all
}
