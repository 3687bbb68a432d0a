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

func TestHelp(t *testing.T) {
	code, help, stderr := cli("")
	require.Zero(t, code)
	require.Empty(t, stderr)
	for _, command := range []string{"map init", "map brief", "map check", "conform"} {
		require.Regexp(t, `(?m)^  `+command+` +.*[A-Z]`, help)
		code, own, _ := cli("", append(strings.Fields(command), "--help")...)
		require.Zero(t, code)
		require.Contains(t, own, "Usage: frontdesk-kit "+command)
	}
	code, version, _ := cli("", "--version")
	require.Zero(t, code)
	require.Equal(t, desk.Version()+"\n", version)
}
