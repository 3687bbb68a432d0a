package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
)

// part is something real that tests want and that a machine may not have. Its name
// is what FRONTDESK_REQUIRE calls it: the tests skip what they cannot do without it,
// and fail instead where that names it.
type part struct {
	name string
	what string // what is left out without it

	programs []string // which it takes; alternatives, in the PATH or as a pattern of paths, are separated by a bar
	look     func() error
	debian   string // packages of Debian
	brew     string // packages of Homebrew; none: it is for Linux

	// ready makes what is there fit to be used, or tells why it cannot be; what it
	// does that takes a while it says first. cure is what it lacks then.
	ready func(ctx context.Context, out io.Writer) error
	cure  string
}

var parts = []part{
	{name: "postgres", what: "whatever runs on PostgreSQL", programs: []string{"initdb|/usr/lib/postgresql/*/bin/initdb"}, debian: "postgresql", brew: "postgresql"},
	{name: "pgbouncer", what: "PostgreSQL behind a pooler", programs: []string{"pgbouncer|/usr/sbin/pgbouncer"}, debian: "pgbouncer", brew: "pgbouncer"},
	// Of MariaDB the core packages: mariadb-server would add a service. That of the
	// client holds a program which mariadb-install-db calls.
	{name: "mariadb", what: "a system on MariaDB behind a mapping sheet", programs: []string{"mariadbd|/usr/sbin/mariadbd", "mariadb-install-db", "my_print_defaults"},
		debian: "mariadb-server-core mariadb-client-core", brew: "mariadb"},
	// Of Redis the tools: one of them is the server's program under another name.
	{name: "redis", what: "what several gateways share in Redis", programs: []string{"redis-server|redis-check-rdb", "redis-cli"}, debian: "redis-tools", brew: "redis"},
	{name: "aiosmtpd", what: "mail to a real server", programs: []string{"python3|/usr/bin/python3"}, look: aiosmtpd, debian: "python3-aiosmtpd", brew: "python", cure: "pip install aiosmtpd"},
	{name: "python3", what: "the service in Python behind a mapping sheet, and the kit in Python", programs: []string{"python3"}, debian: "python3", brew: "python"},
	{name: "tryton", what: "an ERP on PostgreSQL behind a mapping sheet",
		programs: []string{"trytond-admin", "/usr/bin/python3", "/usr/lib/python3/dist-packages/trytond/modules/sale/sale.py", "/usr/lib/python3/dist-packages/psycopg2/__init__.py", "pg_dump", "psql"},
		debian:   "tryton-server tryton-modules-sale python3-psycopg2 postgresql-client"},
	// Of sql-ledger the modules and the schema alone are installed: the package wants a
	// web server.
	{name: "sql-ledger", what: "a bookkeeping on PostgreSQL behind a mapping sheet",
		programs: []string{"perl", "/usr/lib/*/perl5/*/DBD/Pg.pm", "/usr/share/sql-ledger/SL/Form.pm|/usr/local/share/sql-ledger/SL/Form.pm"}, debian: "sql-ledger libdbd-pg-perl"},
	// So are of kraft the scripts that make its database: the package wants a desktop.
	{name: "kraft", what: "an office on MariaDB behind a mapping sheet",
		programs: []string{"mariadbd|/usr/sbin/mariadbd", "/usr/share/kraft/dbinit/mysql/create_schema.sql|/usr/local/share/kraft/dbinit/mysql/create_schema.sql"},
		debian:   "kraft mariadb-server-core mariadb-client-core"},
	{name: "chromium", what: "the pages in a browser", programs: []string{"chromium"}, debian: "chromium fonts-dejavu-core", brew: "--cask chromium"},
	{name: "npm", what: "the linters of the description and the client kits", programs: []string{"node", "npm"}, debian: "nodejs npm", brew: "node", ready: kits, cure: "the network, once"},
	{name: "foreign", what: "services that nobody here wrote, behind a mapping sheet", programs: []string{"node", "npm", "go"}, debian: "nodejs npm", brew: "node", ready: foreign, cure: "the network, once"},
	{name: "curl", what: "the commands of the pages for integrators", programs: []string{"curl"}, debian: "curl", brew: "curl"},
	{name: "bash", what: "the tutorial for integrators and the health check of the Compose file", programs: []string{"bash"}, debian: "bash", brew: "bash"},
	{name: "openssl", what: "the tutorial for integrators", programs: []string{"openssl"}, debian: "openssl", brew: "openssl"},
	{name: "php", what: "the check of a signature in PHP, and the kit in PHP", programs: []string{"php"}, look: pdo, debian: "php-cli php-sqlite3", brew: "php"},
	{name: "mono", what: "the program in C#", programs: []string{"mcs", "mono"}, debian: "mono-mcs mono-runtime libmono-system-net-http4.0-cil", brew: "mono"},
	{name: "psql", what: "the SQL that sets up the database of the Compose file, and dumps", programs: []string{"psql", "pg_dump"}, debian: "postgresql-client", brew: "libpq"},
	{name: "prlimit", what: "a full disk under the database", programs: []string{"prlimit"}, debian: "util-linux"},
	{name: "mount", what: "a full disk", programs: []string{"mount", "umount"}, debian: "mount", ready: mountable, cure: "root, and leave to mount"},
	{name: "systemd-analyze", what: "the units before systemd", programs: []string{"systemd-analyze"}, debian: "systemd"},
	{name: "systemd-socket-activate", what: "a socket that systemd hands over", programs: []string{"systemd-socket-activate"}, debian: "systemd"},
	{name: "packages", what: "the Debian package, the manifests of Kubernetes and the Compose file, the licences of what is linked on other systems", programs: []string{"go"}, ready: modules, cure: "the network, once"},
	{name: "dpkg", what: "the Debian package", programs: []string{"dpkg"}, debian: "dpkg", ready: asRoot, cure: "root"},
	{name: "buildah", what: "the container image", programs: []string{"buildah"}, debian: "buildah", ready: rootless, cure: "root, or subordinate ids for this account: subuid(5)"},
	// Of Debian's prometheus the tool alone is installed: the package has a service.
	{name: "promtool", what: "the alerts before Prometheus", programs: []string{"promtool"}, debian: "prometheus", brew: "prometheus"},
	{name: "haproxy", what: "gateways behind HAProxy", programs: []string{"haproxy|/usr/sbin/haproxy"}, debian: "haproxy", brew: "haproxy"},
}

// lacking are the programs of a part that are not there.
func (p part) lacking() (missing []string) {
	for _, program := range p.programs {
		if !slices.ContainsFunc(strings.Split(program, "|"), installed) {
			missing = append(missing, program)
		}
	}
	return missing
}

// present tells what is not there of a part.
func (p part) present() error {
	if missing := p.lacking(); len(missing) > 0 {
		return errors.New("not found: " + strings.ReplaceAll(strings.Join(missing, ", "), "|", " or "))
	}
	if p.look != nil {
		return p.look()
	}
	return nil
}

func installed(program string) bool {
	if strings.ContainsRune(program, '/') {
		found, err := filepath.Glob(program)
		return err == nil && len(found) > 0
	}
	_, err := exec.LookPath(program)
	return err == nil
}

// pdo tells whether PHP has its databases: Debian has SQLite in a package of its own.
func pdo() error {
	modules, err := exec.Command("php", "-m").Output()
	if err == nil && !strings.Contains(string(modules), "pdo_sqlite") {
		err = errors.New("not found: pdo_sqlite of php")
	}
	return err
}

func aiosmtpd() error {
	for _, python := range []string{"python3", "/usr/bin/python3"} {
		if exec.Command(python, "-c", "import aiosmtpd").Run() == nil {
			return nil
		}
	}
	return errors.New("no aiosmtpd in Python")
}

// rootless tells whether this account may make an image: it takes more ids than one.
func rootless(ctx context.Context, _ io.Writer) error {
	if os.Geteuid() == 0 {
		return nil
	}
	ids, err := gently(ctx, "buildah", "unshare", "cat", "/proc/self/uid_map").Output()
	if err == nil && len(strings.Fields(string(ids))) <= 3 {
		err = errors.New("this account has no ids but its own")
	}
	return err
}

// asRoot tells whether this account may install a package, in whatever folder.
func asRoot(context.Context, io.Writer) error {
	if os.Geteuid() != 0 {
		return errors.New("it gives files to other accounts")
	}
	return nil
}

// mountable tells whether this account may mount a disk of its own.
func mountable(ctx context.Context, _ io.Writer) error {
	if os.Geteuid() != 0 {
		return errors.New("mounting takes root")
	}
	folder, err := os.MkdirTemp("", "frontdesk-mount-")
	if err != nil {
		return err
	}
	defer os.Remove(folder)
	if err := command(ctx, "", nil, "mount", "-t", "tmpfs", "tmpfs", folder); err != nil {
		return err
	}
	return command(ctx, "", nil, "umount", folder)
}

// kits has what npm installs from the lock files, and the modules of the Go kit.
func kits(ctx context.Context, out io.Writer) error {
	return scripts(ctx, out, ".ci/install-node", ".ci/kits")
}

// foreign has the services that nobody here wrote.
func foreign(ctx context.Context, out io.Writer) error {
	return scripts(ctx, out, ".ci/install-foreign")
}

// scripts runs some that install, one after the other.
func scripts(ctx context.Context, out io.Writer, paths ...string) error {
	for _, script := range paths {
		c := gently(ctx, script)
		var said strings.Builder
		c.Stdout, c.Stderr = out, &said
		if err := c.Run(); err != nil {
			return fmt.Errorf("%s: %w\n%s", script, err, strings.TrimSpace(said.String()))
		}
	}
	return nil
}

// nfpm is in deploy/debian/build, with its version.
var nfpm = regexp.MustCompile(`(?m)^nfpm=(\S+)$`)

// modules has the Go modules of the tools that make and check what is shipped. None
// of them is in go.mod.
func modules(ctx context.Context, out io.Writer) error {
	script, err := os.ReadFile("deploy/debian/build")
	if err != nil {
		return err
	}
	found := nfpm.FindSubmatch(script)
	if found == nil {
		return errors.New("deploy/debian/build names no nfpm")
	}
	cached, everywhere, err := moduleProxies(ctx)
	if err != nil {
		return err
	}
	all := func(proxy string) error {
		err := command(ctx, "", []string{proxy, "GOFLAGS=-mod=mod"}, "go", "run", "-n", string(found[1]))
		for _, folder := range []string{"deploy/compose/validate", "deploy/kubernetes/validate"} {
			err = errors.Join(err, command(ctx, folder, []string{proxy}, "go", "list", "-deps", "."))
		}
		for _, system := range []string{"darwin", "windows"} { // some modules are linked there alone
			err = errors.Join(err, command(ctx, "", []string{proxy, "GOOS=" + system}, "go", "list", "-deps", "./cmd/frontdesk"))
		}
		return err
	}
	if all(cached) == nil {
		return nil
	}
	fmt.Fprintln(out, "Fetches Go modules: nfpm for the Debian package, what checks the manifests, and what is linked on other systems.")
	return all(everywhere)
}

// moduleProxies are two settings of GOPROXY: the modules that this machine has, and
// these before what GOPROXY names. go run asks each time whether a module has been
// deprecated, and without them that takes the network.
func moduleProxies(ctx context.Context) (cached, everywhere string, err error) {
	said, err := exec.CommandContext(ctx, "go", "env", "GOMODCACHE", "GOPROXY").Output()
	if err != nil {
		return "", "", fmt.Errorf("go env: %w", err)
	}
	cache, proxy, _ := strings.Cut(strings.TrimSpace(string(said)), "\n")
	cached = "GOPROXY=file://" + filepath.ToSlash(cache) + "/cache/download"
	return cached, cached + "," + proxy, nil
}

// command runs a program in a folder, silently; where it fails, its last words are
// in the error.
func command(ctx context.Context, folder string, environment []string, name string, args ...string) error {
	c := gently(ctx, name, args...)
	c.Dir, c.Env = folder, append(os.Environ(), environment...)
	said, err := c.CombinedOutput()
	if err == nil {
		return nil
	}
	lines := strings.Split(strings.TrimSpace(string(said)), "\n")
	return fmt.Errorf("%s %s: %w: %s", name, strings.Join(args, " "), err, lines[len(lines)-1])
}

// gently is a command that is asked to end, since it may have to tidy up.
func gently(ctx context.Context, name string, args ...string) *exec.Cmd {
	c := exec.CommandContext(ctx, name, args...)
	c.Cancel = func() error { return c.Process.Signal(syscall.SIGTERM) }
	return c
}
