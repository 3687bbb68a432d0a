package rig

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"
	"zombiezen.com/go/sqlite"
	"zombiezen.com/go/sqlite/sqlitex"

	"frontdesk/backend/sqlrecord/sqltest"
)

// CommandLine runs a command with a configuration for that database, and returns
// what it printed.
func CommandLine(t *testing.T, dsn string, args ...string) (code int, out, errs string) {
	t.Helper()
	file := filepath.Join(t.TempDir(), "frontdesk.yaml")
	config := fmt.Sprintf(DeskConfig, "", FreeAddress(t), dsn, "", t.TempDir(), "", "")
	require.NoError(t, os.WriteFile(file, []byte(config), 0o600))
	return Command(t, "", append(slices.Clip(args), "--config", file)...)
}

// File is the configuration of a desk or a child.
func (d *Desk) File() string { return filepath.Join(filepath.Dir(d.Mail), "frontdesk.yaml") }

// Run runs a command by that configuration.
func (d *Desk) Run(args ...string) (code int, out, problems string) {
	d.T.Helper()
	return Command(d.T, "", append(slices.Clip(args), "--config", d.File())...)
}

// Show is what frontdesk callbacks show prints of a job.
func (d *Desk) Show(id string) string {
	d.T.Helper()
	code, out, problems := d.Run("callbacks", "show", id)
	require.Zero(d.T, code, problems)
	return out
}

// built is the real program, built by the first test that wants it.
var built struct {
	once sync.Once
	dir  string
	err  error
}

// Binary returns the path of the real program: FRONTDESK_BINARY, or one built for
// the tests of this package.
func Binary(t testing.TB) string {
	t.Helper()
	if path := os.Getenv("FRONTDESK_BINARY"); path != "" {
		return path
	}
	built.once.Do(func() {
		if built.dir, built.err = os.MkdirTemp("", "frontdesk-binary-"); built.err != nil {
			return
		}
		out, err := exec.Command(Repository(t, "deploy", "build"), filepath.Join(built.dir, "frontdesk")).CombinedOutput()
		if err != nil {
			built.err = fmt.Errorf("deploy/build: %w\n%s", err, out)
		}
	})
	require.NoError(t, built.err)
	return filepath.Join(built.dir, "frontdesk")
}

// Command runs a command line of the real program, with that standard input, to
// its end.
func Command(t testing.TB, input string, args ...string) (code int, stdout, stderr string) {
	t.Helper()
	var out, problems bytes.Buffer
	c := exec.Command(Binary(t), args...)
	c.Stdin, c.Stdout, c.Stderr = strings.NewReader(input), &out, &problems
	if err := c.Run(); c.ProcessState == nil {
		require.NoError(t, err)
	}
	return c.ProcessState.ExitCode(), out.String(), problems.String()
}

// removeBinary is called after the last test.
func removeBinary() error { return os.RemoveAll(built.dir) } // "" removes nothing

// StartDemo starts the demo of the real program at an address, and returns the line by which it says that
// it is ready.
func StartDemo(t testing.TB, address string) string {
	t.Helper()
	demo := exec.Command(Binary(t), "demo", "--listen", address, "--ops", FreeAddress(t))
	demo.Dir = t.TempDir()
	output, err := demo.StdoutPipe()
	require.NoError(t, err)
	log := new(LockedBuffer)
	demo.Stderr = log
	require.NoError(t, demo.Start())
	t.Cleanup(func() {
		require.NoError(t, demo.Process.Signal(os.Interrupt))
		_, _ = io.Copy(io.Discard, output)
		require.NoError(t, demo.Wait(), "%s", log)
	})
	for lines := bufio.NewScanner(output); lines.Scan(); {
		if strings.HasPrefix(lines.Text(), "ready: ") {
			return lines.Text()
		}
	}
	t.Fatalf("the demo did not start:\n%s", log)
	return ""
}

// Child is the real program as a process of its own.
type Child struct {
	Desk
	Process *exec.Cmd
	Ended   chan struct{} // after which code is known

	application string // under which PostgreSQL knows it
}

// launched counts the children of this run.
var launched atomic.Int64

// StartChild starts frontdesk serve on a database that is there.
func StartChild(t testing.TB, o Options) *Child {
	t.Helper()
	require.Nil(t, o.Bound, "a process of its own has the bounds of the program")
	dir := t.TempDir()
	file := filepath.Join(dir, "frontdesk.yaml")
	c := &Child{Desk: Desk{T: t, Ops: FreeAddress(t), Mail: filepath.Join(dir, "mail"), Log: new(LockedBuffer)}}
	require.NoError(t, os.WriteFile(file, o.unhurried().config(&c.Desk), 0o600))
	c.Launch(Binary(t), file, o)
	return c
}

// Launch starts a version of the program by a configuration, as the options have it, and returns when it serves.
func (c *Child) Launch(program, file string, o Options) {
	t := c.T
	t.Helper()
	c.HTTP, c.Ended = &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 64}}, make(chan struct{})
	c.Process = exec.Command(program, "serve", "--config", file)
	if o.Descriptors > 0 {
		c.Process = exec.Command("/bin/sh", "-c", `ulimit -n "$1"; shift; exec "$@"`, "sh", strconv.Itoa(o.Descriptors), program, "serve", "--config", file)
	}
	c.application = fmt.Sprint("child ", launched.Add(1))
	c.Process.Env = append(append(os.Environ(), "GOGC=", "PGAPPNAME="+c.application), o.Environ...) // GOGC as it is shipped: the tests have their own
	c.Process.Stderr = c.Log
	if o.Stderr != nil {
		c.Process.Stderr = o.Stderr
	}
	stdout, err := c.Process.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, c.Process.Start())
	ready, process, ended := make(chan string, 1), c.Process, c.Ended
	go func() {
		defer close(ended)
		for lines := bufio.NewScanner(stdout); lines.Scan(); {
			if base, ok := strings.CutPrefix(lines.Text(), "ready: "); ok {
				ready <- strings.TrimSuffix(base, "/")
			}
		}
		_ = process.Wait() // how it ended is in ProcessState
		c.Code = process.ProcessState.ExitCode()
	}()
	t.Cleanup(c.kill)
	select {
	case c.Base = <-ready:
	case <-c.Ended:
		t.Fatalf("frontdesk did not start (exit code %d):\n%s", c.Code, c.Log)
	}
}

// Kill ends the process with no chance to clean up, and waits until it is gone, and what PostgreSQL was doing for it.
func (c *Child) Kill() {
	c.kill()
	sqltest.Gone(c.T, c.application)
}

// kill is Kill without the wait: when a test ends, a lock that it still holds may keep a session.
func (c *Child) kill() {
	_ = c.Process.Process.Kill() // it may have ended by itself
	<-c.Ended
	c.HTTP.CloseIdleConnections()
}

// AskSQLite returns the first column of what a statement answers.
func AskSQLite(t testing.TB, path, sql string) []string {
	t.Helper()
	conn, err := sqlite.OpenConn(path, sqlite.OpenReadWrite)
	require.NoError(t, err)
	defer func() { require.NoError(t, conn.Close()) }()
	conn.SetBusyTimeout(Patience)
	var all []string
	require.NoError(t, sqlitex.ExecuteTransient(conn, sql, &sqlitex.ExecOptions{ResultFunc: func(st *sqlite.Stmt) error {
		all = append(all, st.ColumnText(0))
		return nil
	}}))
	return all
}
