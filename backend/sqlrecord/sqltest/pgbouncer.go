package sqltest

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// PgBouncer starts a pooler before the server of a DSN, which gives a connection to
// somebody else after each transaction and has no more than a few, and returns the
// DSN that leads through it. settings, as name = value, go before that. Where it is not
// installed the test is skipped; with FRONTDESK_REQUIRE=pgbouncer in the environment it
// fails instead.
func PgBouncer(t testing.TB, dsn string, settings ...string) string {
	t.Helper()
	program := Tool(t, "pgbouncer", "pgbouncer")
	dir, err := os.MkdirTemp("", "frontdesk-pgbouncer-") // not t.TempDir: another user has to reach it
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	port, err := FreePort()
	if err != nil {
		t.Fatal(err)
	}
	server, rest, _ := strings.Cut(strings.TrimPrefix(dsn, "postgres://"+superuser+"@127.0.0.1:"), "/")
	file := filepath.Join(dir, "pgbouncer.ini")
	text := fmt.Sprintf(`[databases]
* = host=127.0.0.1 port=%s user=%s
[pgbouncer]
listen_addr = 127.0.0.1
listen_port = %d
unix_socket_dir =
auth_type = any
pool_mode = transaction
default_pool_size = 3
`, server, superuser, port) + strings.Join(settings, "\n") + "\n"
	if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := handOver(dir); err != nil {
		t.Fatal(err)
	}
	pooler := exec.Command(program, file)
	if err := unprivileged(pooler, dir); err != nil {
		t.Fatal(err)
	}
	running, err := Start(pooler, "process up")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { running.Stop(syscall.SIGTERM) })
	return fmt.Sprintf("postgres://%s@127.0.0.1:%d/%s", superuser, port, rest)
}
