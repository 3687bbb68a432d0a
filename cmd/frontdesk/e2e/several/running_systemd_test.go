package several

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"frontdesk/backend/sqlrecord/sqltest"
	"frontdesk/cmd/frontdesk/desk"
	"frontdesk/cmd/frontdesk/rig"
	"frontdesk/cmd/frontdesk/rig/must"
)

// TestForeignUnits has systemd read the units, and judge how much of the machine the
// service can reach: 0 is nothing, 10 everything.
func TestForeignUnits(t *testing.T) {
	analyze := sqltest.Tool(t, "systemd-analyze", "systemd-analyze")
	dir := t.TempDir()
	var files []string
	for _, name := range []string{"frontdesk.service", "frontdesk.socket"} {
		text := rig.Read(t, rig.Repository(t, "deploy", "systemd", name))
		file := filepath.Join(dir, name)
		text = strings.Replace(text, "/usr/bin/frontdesk", os.Args[0], 1) // a program that is there
		require.NoError(t, os.WriteFile(file, []byte(text), 0o600))
		files = append(files, file)
	}
	out, err := exec.Command(analyze, append([]string{"verify"}, files...)...).CombinedOutput()
	require.NoError(t, err, "%s", out)
	assert.NotContains(t, string(out), dir, "systemd complains about a unit")
	const tenths = 18
	out, err = exec.Command(analyze, "--no-pager", "security", "--offline=yes", fmt.Sprintf("--threshold=%d", tenths), files[0]).CombinedOutput()
	require.NoError(t, err, "%s", out)
}

// notifications are what a program tells systemd.
type notifications struct {
	socket *net.UnixConn
	path   string
}

func listenForStates(t *testing.T) notifications {
	t.Helper()
	path := filepath.Join(t.TempDir(), "notify")
	socket := must.Have(net.ListenUnixgram("unixgram", &net.UnixAddr{Name: path, Net: "unixgram"}))(t)
	t.Cleanup(func() { socket.Close() })
	return notifications{socket, path}
}

// until reads states up to one that begins so.
func (n notifications) until(t *testing.T, state string) string {
	t.Helper()
	buffer := make([]byte, 4096)
	for {
		size, err := n.socket.Read(buffer)
		require.NoError(t, err, "systemd was never told %s", state)
		if strings.HasPrefix(string(buffer[:size]), state) {
			return string(buffer[:size])
		}
	}
}

// TestForeignSocketActivation starts the real program by a request that is there before
// it, and reads what it tells systemd.
func TestForeignSocketActivation(t *testing.T) {
	activate := sqltest.Tool(t, "systemd-socket-activate", "systemd-socket-activate")
	dir := t.TempDir()
	file := filepath.Join(dir, "frontdesk.yaml")
	// Nobody could listen on that address: it is the socket that is served.
	require.NoError(t, os.WriteFile(file, fmt.Appendf(nil, `
server: {listen: "192.0.2.1:1", public_url: "http://localhost/webservice_v2"}
ops: {listen: ""}
backend: {dsn: "sqlite:%[1]s/frontdesk.db"}
mail: {folder: "%[1]s/mail"}
`, dir), 0o600))
	states, address := listenForStates(t), rig.FreeAddress(t)
	command := exec.Command(activate, "--listen="+address, "--fdname="+desk.PublicSocket,
		"-E", "NOTIFY_SOCKET="+states.path, "-E", "WATCHDOG_USEC=60000000", rig.Binary(t), "serve", "--config", file)
	log := new(rig.LockedBuffer)
	read, write := io.Pipe()
	command.Stdout, command.Stderr = log, write
	require.NoError(t, command.Start())
	ended := make(chan error, 1)
	go func() {
		ended <- command.Wait()
		write.Close()
	}()
	t.Cleanup(func() { _ = command.Process.Kill() })
	lines := bufio.NewScanner(read)
	for lines.Scan() && !strings.HasPrefix(lines.Text(), "Listening on") {
		fmt.Fprintln(log, lines.Text())
	}
	go io.Copy(log, read)

	client := http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	response, err := client.Get("http://" + address + "/webservice_v2/order")
	require.NoError(t, err, "%s", log)
	require.NoError(t, response.Body.Close())
	assert.Equal(t, http.StatusUnauthorized, response.StatusCode)
	assert.Contains(t, states.until(t, "READY=1"), "\nSTATUS=")
	require.NoError(t, command.Process.Signal(syscall.SIGHUP))
	assert.Regexp(t, `^RELOADING=1\nMONOTONIC_USEC=[1-9]\d+$`, states.until(t, "RELOADING=1"))
	states.until(t, "READY=1")
	require.NoError(t, command.Process.Signal(syscall.SIGTERM))
	states.until(t, "STOPPING=1")
	require.NoError(t, <-ended, "%s", log)
}
