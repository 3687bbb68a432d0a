package sqltest

import (
	"errors"
	"os"
	"path/filepath"
	"testing"
)

// Guarded starts a server as the image of PostgreSQL does: the user postgres has a
// password, and initdb gets more flags. Neither DSN nor Ask work with it. It ends
// with the test.
func Guarded(t testing.TB, password string, initdb []string, settings ...string) *Node {
	t.Helper()
	n, err := newNode(settings)
	installed(t, err)
	t.Cleanup(n.remove)
	file := filepath.Join(n.dir, "password")
	err = errors.Join(os.WriteFile(file, []byte(password), 0o600), handOver(file))
	if err == nil {
		err = n.run("initdb", append([]string{"-D", n.data(), "-U", "postgres", "-A", "scram-sha-256", "--pwfile", file, "--no-sync"}, initdb...)...)
	}
	if err != nil {
		t.Fatal(err)
	}
	n.Restart(t)
	return n
}
