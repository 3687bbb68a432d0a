package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"frontdesk/backend/legacy/legacytest"
	"frontdesk/cmd/frontdesk/desk"
	"frontdesk/cmd/frontdesk/rig"
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
		info, err := os.Stat(file)
		require.NoError(c.t, err)
		require.Equal(c.t, os.FileMode(0o600), info.Mode().Perm())
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
	want, err := strconv.Atoi(verb)
	require.NoError(c.t, err)
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
	files, err := legacytest.Files()
	require.NoError(c.t, err)
	text := rig.Read(c.t, filepath.Join(files, "sqlite.yaml"))
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
