package sqltest

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
)

// Node is a PostgreSQL server on data of its own, in a new folder.
type Node struct {
	bin, dir string
	port     int
	settings []string // name=value
	running  *Server  // nil while it is stopped
}

// Primary starts a server for a test that must not disturb others, with settings as name=value. It ends with the test.
func Primary(t testing.TB, settings ...string) *Node {
	t.Helper()
	n, err := newPrimary(settings)
	installed(t, err)
	t.Cleanup(n.remove)
	return n
}

// Unrelated is Primary for a server of another system: all others may have the same
// identifier, as the data of a server and of its copies have.
func Unrelated(t testing.TB) *Node {
	t.Helper()
	n, err := newNode(nil)
	installed(t, err)
	t.Cleanup(n.remove)
	if err := n.initialize(n.data()); err != nil {
		t.Fatal(err)
	}
	n.Restart(t)
	return n
}

// Standby starts a server that follows this one, which it knows as name. It ends
// with the test.
func (n *Node) Standby(t testing.TB, name string, settings ...string) *Node {
	t.Helper()
	s, err := newNode(settings)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.remove)
	from := fmt.Sprintf("host=127.0.0.1 port=%d user=%s sslmode=disable application_name=%s", n.port, superuser, name)
	if err := s.run("pg_basebackup", "-D", s.data(), "-R", "-X", "stream", "-c", "fast", "--no-sync", "-d", from); err != nil {
		t.Fatal(err)
	}
	s.Restart(t)
	return s
}

const superuser = "frontdesk"

// newPrimary makes a new cluster and starts its server.
func newPrimary(settings []string) (n *Node, err error) {
	if n, err = newNode(settings); err != nil {
		return nil, err
	}
	if err = Shared("postgres", n.data(), n.initialize); err == nil {
		err = n.launch()
	}
	if err != nil {
		n.remove()
		return nil, err
	}
	return n, nil
}

// initialize makes a new cluster in a folder, whose parent it gives to the server.
func (n *Node) initialize(data string) error {
	if err := handOver(filepath.Dir(data)); err != nil {
		return err
	}
	return n.run("initdb", "-D", data, "-U", superuser, "-A", "trust", "-E", "UTF8", "--locale=C.UTF-8", "--no-sync")
}

// newNode makes the folder of a server that has no data yet.
func newNode(settings []string) (n *Node, err error) {
	n = &Node{settings: settings}
	if n.bin, err = findBinaries(); err != nil {
		return nil, err
	}
	if n.port, err = FreePort(); err != nil {
		return nil, err
	}
	if n.dir, err = os.MkdirTemp("", "frontdesk-postgres-"); err != nil {
		return nil, err
	}
	if err := handOver(n.dir); err != nil {
		n.remove()
		return nil, err
	}
	return n, nil
}

func (n *Node) data() string { return filepath.Join(n.dir, "data") }

// run runs one of PostgreSQL's programs to its end.
func (n *Node) run(program string, args ...string) error {
	cmd := exec.Command(filepath.Join(n.bin, program), args...)
	if err := unprivileged(cmd, n.dir); err != nil {
		return err
	}
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("%s: %w\n%s", program, err, out)
	}
	return nil
}

// launch starts the server on its existing data.
func (n *Node) launch() (err error) {
	args := []string{"-D", n.data(), "-p", strconv.Itoa(n.port), "-k", n.dir}
	settings := []string{"listen_addresses=127.0.0.1", "shared_buffers=64MB", "lc_messages=C", "log_destination=stderr"}
	if flag.Lookup("test.bench").Value.String() == "" { // no test ends the machine, but figures are those of a disk
		settings = append(settings, "fsync=off")
	}
	for _, setting := range append(settings, n.settings...) {
		args = append(args, "-c", setting)
	}
	server := exec.Command(filepath.Join(n.bin, "postgres"), args...)
	if err := unprivileged(server, n.dir); err != nil {
		return err
	}
	n.running, err = Start(server, "ready to accept") // connections, or read-only ones
	return err
}

func (n *Node) remove() {
	n.Stop() // at once: its data goes, too
	_ = os.RemoveAll(n.dir)
}

// Stop takes the server away from everybody, as a crash would.
func (n *Node) Stop() {
	if n.running != nil {
		n.running.Stop(syscall.SIGQUIT)
		n.running = nil
	}
}

// Restart brings a server back that was stopped, with all that it had promised to
// keep.
func (n *Node) Restart(t testing.TB) {
	t.Helper()
	if err := n.launch(); err != nil {
		t.Fatal(err)
	}
}

// Address is where the server listens.
func (n *Node) Address() string { return fmt.Sprintf("127.0.0.1:%d", n.port) }

// DSN leads to a database of the server.
func (n *Node) DSN(database string) string {
	return fmt.Sprintf("postgres://%s@%s/%s?sslmode=disable", superuser, n.Address(), database)
}

// Configure sets settings, as name=value with the value as SHOW writes it, and
// returns when the server goes by them: whatever a connection that is open sends
// from then on is done under them, too.
func (n *Node) Configure(t testing.TB, settings ...string) {
	t.Helper()
	for _, setting := range settings {
		name, value, _ := strings.Cut(setting, "=")
		n.Ask(t, "ALTER SYSTEM SET "+name+" = '"+value+"'")
	}
	n.Ask(t, "SELECT pg_reload_conf()")
	for _, setting := range settings {
		name, value, _ := strings.Cut(setting, "=")
		for polls := 0; n.Ask(t, "SHOW "+name) != value; polls++ {
			if polls == 10_000 {
				t.Fatalf("%s does not become %q", name, value)
			}
		}
	}
}

// Ask runs a statement in the database postgres, as one who may do anything, and
// returns the first value of its answer as text; "" where there is none.
func (n *Node) Ask(t testing.TB, sql string) (answer string) {
	t.Helper()
	err := connected(n.DSN("postgres"), func(ctx context.Context, conn *pgx.Conn) error {
		read := conn.PgConn().ExecParams(ctx, sql, nil, nil, nil, nil).Read()
		if len(read.Rows) > 0 && len(read.Rows[0]) > 0 {
			answer = string(read.Rows[0][0])
		}
		return read.Err
	})
	if err != nil {
		t.Fatal(err)
	}
	return answer
}

// Execute runs scripts in a database.
func Execute(dsn string, scripts ...string) error {
	return connected(dsn, func(ctx context.Context, conn *pgx.Conn) error {
		for _, script := range scripts {
			if _, err := conn.Exec(ctx, script); err != nil {
				return err
			}
		}
		return nil
	})
}

func connected(dsn string, f func(context.Context, *pgx.Conn) error) error {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	conn, err := pgx.Connect(ctx, dsn)
	if err != nil {
		return err
	}
	return errors.Join(f(ctx, conn), conn.Close(ctx))
}
