package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"frontdesk/cmd/frontdesk/desk"
	"frontdesk/cmd/frontdesk/rig"
)

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
