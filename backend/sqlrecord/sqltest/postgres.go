// Package sqltest starts real databases for tests. It is not for programs.
package sqltest

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"

	"frontdesk/cmd/frontdesk/rig/await"
)

// cluster is the one PostgreSQL cluster of a test binary. It lives in a new
// folder and is started by the first test that wants it.
type cluster struct {
	once sync.Once
	err  error
	node *Node
	up   atomic.Bool // node is started
	next atomic.Int64

	templates sync.Map // by name: func() error, which makes one
}

var shared cluster

// Run runs the tests of a package that use Postgres, and stops the cluster
// afterwards: func TestMain(m *testing.M) { os.Exit(sqltest.Run(m)) }.
func Run(m *testing.M) int {
	code := m.Run()
	if shared.node != nil {
		shared.node.remove()
	}
	return code
}

// FindLeaks returns what Run returned, when no goroutine is left:
// func TestMain(m *testing.M) { os.Exit(sqltest.FindLeaks(sqltest.Run(m))) }.
func FindLeaks(code int) int {
	if code == 0 {
		await.Goroutines()
	}
	return code
}

// Postgres returns the DSN of a new, empty database, which is dropped when the
// test ends. Where PostgreSQL is not installed the test is skipped; with
// FRONTDESK_REQUIRE=postgres in the environment it fails instead.
func Postgres(t testing.TB) string {
	t.Helper()
	ready(t)
	return create(t, "")
}

// PostgresIn is Postgres for a database in another encoding than UTF8.
func PostgresIn(t testing.TB, encoding string) string {
	t.Helper()
	ready(t)
	return create(t, " TEMPLATE template0 LC_COLLATE 'C' LC_CTYPE 'C' ENCODING '"+encoding+"'")
}

// PostgresLike is Postgres for a database that begins as prepare left another
// one, which is made once for all tests that give the same name. prepare must
// have closed its connections when it returns.
func PostgresLike(t testing.TB, name string, prepare func(dsn string) error) string {
	t.Helper()
	ready(t)
	template := "template_" + name
	once, _ := shared.templates.LoadOrStore(name, sync.OnceValue(func() error {
		if err := shared.admin("CREATE DATABASE " + template); err != nil {
			return err
		}
		return prepare(shared.dsn(template))
	}))
	if err := once.(func() error)(); err != nil {
		t.Fatal(err)
	}
	return create(t, " TEMPLATE "+template)
}

// ready starts the cluster for the first test that wants it.
func ready(t testing.TB) {
	t.Helper()
	shared.once.Do(func() {
		shared.node, shared.err = newPrimary(nil)
		shared.up.Store(shared.err == nil)
	})
	installed(t, shared.err)
}

// installed ends a test without a server: where PostgreSQL is not installed it is
// skipped, unless it is demanded.
func installed(t testing.TB, err error) {
	t.Helper()
	if errors.Is(err, errNotInstalled) && !Required(t, "postgres") {
		t.Skip("PostgreSQL is not installed: ", err)
	}
	if err != nil {
		t.Fatal(err)
	}
}

// create makes a database, which is dropped when the test ends.
func create(t testing.TB, like string) string {
	t.Helper()
	name := fmt.Sprintf("test_%d", shared.next.Add(1))
	if major(filepath.Join(shared.node.bin, "postgres")) >= 15 { // half the time of the log, where nothing is kept on a disk
		like += " STRATEGY FILE_COPY"
	}
	if err := shared.admin("CREATE DATABASE " + name + like); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := shared.admin("DROP DATABASE " + name + " WITH (FORCE)"); err != nil {
			t.Error(err)
		}
	})
	return shared.dsn(name)
}

// Soak reports whether the environment asks for the long form of a test: many rounds,
// as make soak has them.
func Soak() bool { return os.Getenv("FRONTDESK_SOAK") != "" }

// Seed is that of what a test draws: the same in each run of the tests, so that nothing but the code decides, and a
// new one in the soak. FRONTDESK_SEED names one that is to be drawn again.
func Seed(t testing.TB) uint64 {
	t.Helper()
	seed, err := strconv.ParseUint(os.Getenv("FRONTDESK_SEED"), 10, 64)
	if err != nil {
		seed = 1
		if Soak() {
			seed = rand.Uint64()
		}
	}
	t.Logf("FRONTDESK_SEED=%d", seed)
	return seed
}

func (c *cluster) dsn(database string) string { return c.node.DSN(database) }

func (c *cluster) admin(sql string) error {
	return Execute(c.node.DSN("postgres"), sql)
}

// Gone waits until the server has no session left of a program that was killed, by the application_name of its
// sessions: the server does what it had been asked before it notices.
func Gone(t testing.TB, application string) {
	t.Helper()
	if !shared.up.Load() {
		return
	}
	await.True(t, func() bool {
		return shared.node.Ask(t, "SELECT count(*) FROM pg_stat_activity WHERE application_name = '"+application+"'") == "0"
	}, "%s is killed, and has sessions", application)
}

// StopPostgres takes the server away from everybody, as a crash would, and returns
// what brings it back with all that it had promised to keep. It is for tests that
// run alone.
func StopPostgres(t testing.TB) (restart func()) {
	t.Helper()
	ready(t)
	shared.node.Stop()
	return func() {
		t.Helper()
		shared.node.Restart(t)
	}
}

var errNotInstalled = errors.New("initdb and postgres not found in PATH or /usr/lib/postgresql/*/bin")

func findBinaries() (string, error) {
	if p, err := exec.LookPath("initdb"); err == nil {
		if real, err := filepath.EvalSymlinks(p); err == nil { // the other programs need not have a link
			p = real
		}
		if _, err := os.Stat(filepath.Join(filepath.Dir(p), "postgres")); err == nil {
			return filepath.Dir(p), nil
		}
	}
	found, _ := filepath.Glob("/usr/lib/postgresql/*/bin/postgres")
	if len(found) == 0 {
		return "", errNotInstalled
	}
	newest := slices.MaxFunc(found, func(a, b string) int { return major(a) - major(b) })
	return filepath.Dir(newest), nil
}

func major(path string) int {
	n, _ := strconv.Atoi(filepath.Base(filepath.Dir(filepath.Dir(path))))
	return n
}
