package main

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
	"github.com/stretchr/testify/require"

	"frontdesk/cmd/frontdesk/accesslog/accesslogtest"
	"frontdesk/cmd/frontdesk/rig"
	"frontdesk/cmd/frontdesk/rig/must"
	"frontdesk/cmd/frontdesk/rig/script"
)

// TestCommands runs the scripts of testdata/commands: command lines as operators type them, and what
// they print.
func TestCommands(t *testing.T) {
	script.Run(t, script.Options{
		Dir: rig.Repository(t, "cmd", "frontdesk", "testdata", "commands"), Update: *update, Setup: setUpCommands, Inherit: []string{"FRONTDESK_CONFIG"},
		Programs: map[string]script.Program{"frontdesk": func(_ testing.TB, input string, args ...string) (int, string, string) { return cli(input, args...) }},
		Commands: script.Commands{
			"gzip": func(s *testscript.TestScript, args []string) {
				s.Check(os.WriteFile(s.MkAbs(args[0]+".gz"), zipped(s.ReadFile(args[0])), 0o600))
			},
			"hashes": hasHash,
		},
	})
}

// setUpCommands makes what no script can hold: logs that are long or broken, a body that is too large, and a
// password that is.
// HERE is the script's folder, in its configurations and in what is printed; SAMPLE is a database with sample data.
func setUpCommands(t *testing.T, env *testscript.Env) {
	t.Setenv("SECRET", "x")
	t.Setenv("SERVICE_URL", "http://127.0.0.1:1")
	const at = "2026-11-10T10:00:00.000Z"
	for name, text := range map[string]string{
		"night.log": accesslogtest.Night("2026-11-22"), "broken.gz": "\x1f\x8bnothing", "large": "", "long": strings.Repeat("x", 1025),
		"long.log": strings.Repeat("x", 3<<20) + "\n" + accesslogtest.Request(at, "x", "webshop", "Demo", "/order", 200),
	} {
		require.NoError(t, os.WriteFile(name, []byte(text), 0o600))
	}
	for _, file := range must.Have(filepath.Glob("*.yaml"))(t) {
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
	require.NoError(t, os.Truncate("large", 16<<20+1))
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
	anyHash    = regexp.MustCompile(`[0-9a-f]{64}`)
)

// hasHash expects the hash of the api_key that was printed in a file, and prints the file without hashes.
func hasHash(s *testscript.TestScript, args []string) {
	text, made := s.ReadFile(args[0]), printedKey.FindStringSubmatch(s.ReadFile("stdout"))
	if made == nil || !strings.Contains(text, fmt.Sprintf("%x", sha256.Sum256([]byte(made[1])))) {
		s.Fatalf("%s has no hash of what was printed", args[0])
	}
	_, _ = s.Stdout().Write(anyHash.ReplaceAll([]byte(text), []byte("HASH")))
}
