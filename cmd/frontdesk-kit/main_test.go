package main

import (
	"context"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"frontdesk/cmd/frontdesk/desk"
	"frontdesk/cmd/frontdesk/rig"
)

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
