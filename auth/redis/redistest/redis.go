// Package redistest starts real Redis servers for tests. It is not for programs.
package redistest

import (
	"fmt"
	"os/exec"
	"strconv"
	"syscall"
	"testing"

	"github.com/redis/rueidis"

	"frontdesk/backend/sqlrecord/sqltest"
)

// Redis is the Redis server of one test, which can kill, restart and freeze it.
type Redis struct {
	t       testing.TB
	program string
	args    []string
	ready   string
	port    int
	run     *sqltest.Server
}

// Start returns a new, empty server, stopped when the test ends. Where Redis is
// not installed the test is skipped; with FRONTDESK_REQUIRE=redis in the
// environment it fails instead. More arguments go to redis-server.
func Start(t testing.TB, args ...string) *Redis {
	t.Helper()
	return start(t, func(port string) []string { return append([]string{"--port", port}, args...) }, "eady to accept connections")
}

// start runs redis-server until the test ends, and returns when the server has printed
// ready.
func start(t testing.TB, args func(port string) []string, ready string) *Redis {
	t.Helper()
	program, err := findProgram()
	if err != nil {
		sqltest.Missing(t, "redis", err)
	}
	port, err := sqltest.FreePort()
	if err != nil {
		t.Fatal(err)
	}
	r := &Redis{t: t, program: program, port: port, ready: ready, args: append(args(strconv.Itoa(port)), "--bind", "127.0.0.1", "--dir", t.TempDir(), "--save", "")}
	t.Cleanup(r.Kill)
	r.Restart()
	return r
}

// Port returns where the server listens.
func (r *Redis) Port() int { return r.port }

// URL returns the server's address, as sessions.store has it.
func (r *Redis) URL() string { return fmt.Sprintf("redis://127.0.0.1:%d", r.port) }

// Kill ends the server as a power cut would, if it runs.
func (r *Redis) Kill() {
	if r.run != nil {
		r.run.Stop(syscall.SIGKILL)
		r.run = nil
	}
}

// Restart starts the server anew on the same port, empty unless its arguments say
// otherwise.
func (r *Redis) Restart() {
	r.t.Helper()
	r.Kill()
	cmd := exec.Command(r.program, r.args...)
	cmd.Args[0] = "redis-server"
	run, err := sqltest.Start(cmd, r.ready)
	if err != nil {
		r.t.Fatal(err)
	}
	r.run = run
}

// Command has the server do something, as "REPLICAOF", "NO", "ONE".
func (r *Redis) Command(words ...string) {
	r.t.Helper()
	r.do(func(c rueidis.Client) rueidis.Completed { return c.B().Arbitrary(words...).Build() })
}

// Follow makes the server a replica of another one: it takes no more writes.
func (r *Redis) Follow(primary *Redis) {
	r.t.Helper()
	r.Command("REPLICAOF", "127.0.0.1", strconv.Itoa(primary.port))
}

// Freeze stops the server from answering while its connections stay open; the
// function returned lets it go on.
func (r *Redis) Freeze() (thaw func()) {
	r.t.Helper()
	if err := r.run.Process().Signal(syscall.SIGSTOP); err != nil {
		r.t.Fatal(err)
	}
	return func() {
		if err := r.run.Process().Signal(syscall.SIGCONT); err != nil {
			r.t.Error(err)
		}
	}
}

// findProgram finds the server, which Debian's redis-tools has under the name of
// one of its tools: what it does depends on the name it is called by.
func findProgram() (string, error) {
	if path, err := exec.LookPath("redis-server"); err == nil {
		return path, nil
	}
	return exec.LookPath("redis-check-rdb")
}
