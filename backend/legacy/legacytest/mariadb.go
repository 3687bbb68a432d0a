package legacytest

import (
	"context"
	"database/sql"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"

	_ "github.com/go-sql-driver/mysql" // the driver "mysql"

	"frontdesk/backend/sqlrecord/sqltest"
)

// server is the one MariaDB server of a test binary. It lives in a new folder and
// is started by the first test that wants it.
type server struct {
	once sync.Once
	err  error
	dir  string
	port int
	stop func()
	next atomic.Int64
}

var maria server

// MariaDB returns the DSN, for github.com/go-sql-driver/mysql, of a new MariaDB
// database with DEALERPAK, which is dropped when the test ends. Its user owns that
// database and sees no other. The server has no strict mode and keeps Dutch time,
// as DEALERPAK's manual says. Where MariaDB is not installed the test is skipped;
// with FRONTDESK_REQUIRE=mariadb in the environment it fails instead.
func MariaDB(t testing.TB) string {
	t.Helper()
	dsn := EmptyMariaDB(t, "latin1")
	if err := loadMariaDB(dsn); err != nil {
		t.Fatal(err)
	}
	return dsn
}

// EmptyMariaDB is MariaDB for a database that is empty, in a character set.
func EmptyMariaDB(t testing.TB, charset string) string {
	t.Helper()
	install, daemon := sqltest.Tool(t, "mariadb", "mariadb-install-db"), sqltest.Tool(t, "mariadb", "mariadbd")
	maria.once.Do(func() { maria.err = maria.start(install, daemon) })
	if maria.err != nil {
		t.Fatal(maria.err)
	}
	name := fmt.Sprintf("test_%d", maria.next.Add(1))
	err := maria.admin(
		"CREATE DATABASE "+name+" CHARACTER SET "+charset,
		"CREATE USER "+name+"@'127.0.0.1' IDENTIFIED BY '"+password+"'",
		"GRANT ALL ON `"+name+"%`.* TO "+name+"@'127.0.0.1'")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := maria.admin("DROP DATABASE "+name, "DROP USER "+name+"@'127.0.0.1'"); err != nil {
			t.Error(err)
		}
	})
	return maria.dsn(name+":"+password, name)
}

const password = "dealerpak"

func (s *server) dsn(account, database string) string {
	return fmt.Sprintf("%s@tcp(127.0.0.1:%d)/%s", account, s.port, database)
}

func (s *server) admin(statements ...string) error {
	return execute(s.dsn("root", ""), statements)
}

func loadMariaDB(dsn string) error {
	statements, err := dealerpak()
	if err != nil {
		return err
	}
	return execute(dsn+"?multiStatements=true", statements)
}

// dealerpak is what makes DEALERPAK's database.
var dealerpak = sync.OnceValues(func() (statements []string, err error) {
	scripts, err := read("mariadb/schema.sql", "data.sql", "mariadb/programs.sql")
	for _, script := range scripts {
		statements = append(statements, batches(script)...)
	}
	return statements, err
})

// execute runs statements, or batches of them, on one connection.
func execute(dsn string, statements []string) error {
	db, err := sql.Open("mysql", dsn)
	if err != nil {
		return err
	}
	defer db.Close()
	ctx := context.Background()
	conn, err := db.Conn(ctx)
	if err != nil {
		return err
	}
	defer conn.Close()
	for _, s := range statements {
		if _, err := conn.ExecContext(ctx, s); err != nil {
			return fmt.Errorf("%w in %.200s", err, s)
		}
	}
	return nil
}

// batches divides a script for the mariadb program into what the server takes at
// once: DELIMITER is a word of that program, not of the server.
func batches(script string) []string {
	var all []string
	var text strings.Builder
	delimiter := ";"
	add := func() {
		parts := []string{text.String()}
		if delimiter != ";" {
			parts = strings.Split(text.String(), delimiter)
		}
		for _, p := range parts {
			if strings.TrimSpace(p) != "" {
				all = append(all, p)
			}
		}
		text.Reset()
	}
	for line := range strings.Lines(script) {
		if to, ok := strings.CutPrefix(line, "DELIMITER "); ok {
			add()
			delimiter = strings.TrimSpace(to)
			continue
		}
		text.WriteString(line)
	}
	add()
	return all
}

func (s *server) start(install, daemon string) (err error) {
	if s.dir, err = os.MkdirTemp("", "frontdesk-mariadb-"); err != nil {
		return err
	}
	defer func() {
		if err != nil {
			_ = os.RemoveAll(s.dir)
		}
	}()
	data := filepath.Join(s.dir, "data")
	common := []string{"--no-defaults", "--innodb-log-file-size=4M",
		"--tmpdir=" + s.dir} // no other server tidies up here, not even that of the installation
	if os.Geteuid() == 0 {
		common = append(common, "--user=root") // it refuses to run as root unless told to
	}
	err = sqltest.Shared("mariadb", data, func(data string) error {
		out, err := exec.Command(install, append(common, "--datadir="+data, "--auth-root-authentication-method=normal", "--skip-test-db")...).CombinedOutput()
		if err != nil {
			return fmt.Errorf("mariadb-install-db: %w\n%s", err, out)
		}
		return nil
	})
	if err != nil {
		return err
	}
	if s.port, err = sqltest.FreePort(); err != nil {
		return err
	}
	cmd := exec.Command(daemon, append(common, "--datadir="+data, "--port="+strconv.Itoa(s.port), "--bind-address=127.0.0.1", "--skip-name-resolve",
		"--socket=mariadb.sock", "--pid-file=mariadb.pid", "--innodb-buffer-pool-size=32M",
		"--innodb-flush-log-at-trx-commit=0", "--innodb-flush-method=nosync", "--innodb-doublewrite=0", "--innodb-file-per-table=0", "--skip-innodb-buffer-pool-dump-at-shutdown",
		"--sql-mode=NO_ENGINE_SUBSTITUTION", "--character-set-server=latin1")...)
	cmd.Env = append(os.Environ(), "TZ=Europe/Amsterdam")
	running, err := sqltest.Start(cmd, "ready for connections")
	if err != nil {
		return err
	}
	s.stop = func() {
		running.Stop(syscall.SIGKILL) // its data goes, too
		_ = os.RemoveAll(s.dir)
	}
	return nil
}
