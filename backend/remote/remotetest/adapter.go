package remotetest

import (
	"bufio"
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"frontdesk/backend/sqlrecord/sqltest"
)

// StartAdapter runs the reference adapter of the backend protocol, in Python, and returns its
// address. script is where backend/remote/testdata/adapter/adapter.py is.
func StartAdapter(t testing.TB, script string, args ...string) string {
	t.Helper()
	cmd := exec.Command(sqltest.Tool(t, "python3", "python3"), append([]string{script}, args...)...)
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, cmd.Start())
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	})
	line, err := bufio.NewReader(out).ReadString('\n')
	require.NoError(t, err)
	address, ok := strings.CutPrefix(strings.TrimSpace(line), "ready: ")
	require.True(t, ok, line)
	return address
}
