package main

import (
	"context"
	"encoding/json"
	"fmt"
	"net/url"
	"os/exec"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"
	"zombiezen.com/go/sqlite"
	"zombiezen.com/go/sqlite/sqlitex"

	"frontdesk/backend"
)

// patience is how long a test waits for what must happen soon.
const patience = 30 * time.Second

// logged returns the log line of a failed request, which may come a little late.
func (d *desk) logged(requestID string) (line string) {
	d.t.Helper()
	require.Eventually(d.t, func() bool {
		for candidate := range strings.Lines(d.log.String()) {
			if strings.Contains(candidate, requestID) && strings.Contains(candidate, `"request failed"`) {
				line = candidate
				return true
			}
		}
		return false
	}, patience, 10*time.Millisecond, "nothing is logged under %s", requestID)
	return line
}

// requireFailure checks that an answer says nothing of its cause, and the log does.
func (d *desk) requireFailure(a answer, reason, cause string) {
	d.t.Helper()
	require.Equal(d.t, 500, a.Status, "%s", a.Body)
	e := a.failure(d.t)
	require.Equal(d.t, "Internal server error", e.Message)
	require.Equal(d.t, reason, e.Reason)
	require.NotContains(d.t, string(a.Body), cause)
	require.Contains(d.t, d.logged(e.RequestID), cause)
}

// ready asks for the desk's readiness.
func (d *desk) ready() (status int, circuit string) {
	d.t.Helper()
	a := d.askOps("/readyz")
	var body struct{ Circuit string }
	require.NoError(d.t, json.Unmarshal(a.Body, &body))
	return a.Status, body.Circuit
}

// panicking panics inside of transactions, where the store has its own nets.
type panicking struct {
	fullDriver
	armed *atomic.Bool
}

func (p panicking) InTx(ctx context.Context, f func(backend.Driver) error) error {
	return p.fullDriver.InTx(ctx, func(tx backend.Driver) error {
		if p.armed.Load() {
			panic("a secret that panics")
		}
		return f(tx)
	})
}

func TestLimitsPanic(t *testing.T) {
	onEngines(t, func(t *testing.T, dsn string) {
		var f faults
		var armed atomic.Bool
		d := startDesk(t, deskOptions{dsn: dsn, wrap: func(driver backend.Driver) backend.Driver {
			return panicking{fullDriver: f.wrap(driver).(fullDriver), armed: &armed}
		}})
		token := d.login(fullKey, "demo")
		f.set(func(context.Context) error { panic("a secret that panics") })
		for range 3 {
			a := d.call("GET", "/contact/1", token, "", "X-Request-Id", "panic-1")
			d.requireFailure(a, "internal_error", "a secret that panics")
			require.Contains(t, d.logged("panic-1"), "limits_backend_test.go", "the stack")
		}
		f.none()
		armed.Store(true)
		a := d.call("POST", "/contact", token, newContact, "Idempotency-Key", "k")
		require.Equal(t, 500, a.Status)
		require.NotContains(t, string(a.Body), "secret")
		require.Contains(t, d.logged(a.failure(t).RequestID), "limits_backend_test.go", "the stack")
		armed.Store(false)
		require.Equal(t, 201, d.call("POST", "/contact", token, newContact, "Idempotency-Key", "k").Status)
		require.Equal(t, 200, d.call("GET", "/contact/1", token, "").Status)
	})
}

func TestLimitsDeadline(t *testing.T) {
	var f faults
	d := onSQLite(t, deskOptions{wrap: f.wrap, backend: ", timeout: 2s"})
	token := d.login(fullKey, "demo")
	f.set(func(ctx context.Context) error {
		<-ctx.Done()
		return fmt.Errorf("a secret that waited: %w", ctx.Err())
	})
	for _, r := range []rival{
		{method: "GET", path: "/contact/1"},
		{method: "GET", path: "/contact"},
		{method: "POST", path: "/contact", body: newContact},
		{method: "PUT", path: "/contact/1", body: `{"note":"x"}`},
		{method: "DELETE", path: "/contact/1"},
	} {
		d.requireFailure(d.call(r.method, r.path, token, r.body), "backend_timeout", "a secret that waited")
	}
	f.none()
	require.Equal(t, 200, d.call("GET", "/contact/1", token, "").Status)
}

// TestLimitsBreaker opens the circuit, and waits for it to close by itself.
func TestLimitsBreaker(t *testing.T) {
	var f faults
	d := onSQLite(t, deskOptions{wrap: f.wrap})
	token := d.login(fullKey, "demo")
	calls := 0
	broken := func(context.Context) error {
		calls++
		return errBroken
	}
	// What a working administration refuses is no failure, nor are failures
	// that are not in a row.
	for range 15 {
		require.Equal(t, 404, d.call("GET", "/contact/999999", token, "").Status)
		require.Equal(t, 404, d.call("POST", "/order", token, fmt.Sprintf(newOrder, 999999, "")).Status)
		require.Equal(t, 406, d.call("DELETE", "/contact/1", token, "").Status)
	}
	fail := func(times int) (last answer) {
		for range times {
			last = d.call("GET", "/contact/1", token, "")
			require.Equal(t, 500, last.Status)
			require.Empty(t, last.Header.Get("Retry-After"))
		}
		return last
	}
	for range 3 {
		f.set(broken)
		fail(9)
		f.none()
		require.Equal(t, 200, d.call("GET", "/contact/1", token, "").Status)
	}
	f.set(broken)
	calls = 0
	failed := fail(10)
	refused := d.call("POST", "/contact", token, newContact)
	require.Equal(t, "5", refused.Header.Get("Retry-After"))
	require.Equal(t, 10, calls, "the driver was asked while the circuit was open")
	status, circuit := d.ready()
	require.Equal(t, 503, status)
	require.Equal(t, "open", circuit)
	// What needs no backend is served.
	require.Equal(t, 200, d.call("GET", "/authenticate/acces", token, "").Status)

	d.requireFailure(failed, "backend_unavailable", errBroken.Error())
	d.requireFailure(refused, "backend_unavailable", "circuit breaker is open")

	f.none()
	require.Eventually(t, func() bool { return d.call("GET", "/contact/1", token, "").Status == 200 }, patience, 50*time.Millisecond)
	status, circuit = d.ready()
	require.Equal(t, 200, status)
	require.Equal(t, "closed", circuit)
}

// TestLimitsLostTable takes a table away while the desk serves.
func TestLimitsLostTable(t *testing.T) {
	onEngines(t, func(t *testing.T, dsn string) {
		d := startDesk(t, deskOptions{dsn: dsn})
		token := d.login(fullKey, "demo")
		alter := func(sql string) {
			if path, ok := strings.CutPrefix(dsn, "sqlite:"); ok {
				askSQLite(t, path, sql)
				return
			}
			askPostgres(t, dsn, sql)
		}
		alter("ALTER TABLE employee RENAME TO lost")
		d.requireFailure(d.call("GET", "/employee", token, ""), "backend_unavailable", "employee")
		d.requireFailure(d.call("POST", "/employee", token, `{"username":"lost","last_name":"Visser"}`), "backend_unavailable", "employee")
		alter("ALTER TABLE lost RENAME TO employee")
		require.Equal(t, 200, d.call("GET", "/employee", token, "").Status)
		require.Equal(t, 201, d.call("POST", "/employee", token, `{"username":"lost","last_name":"Visser"}`).Status)
	})
}

// TestLimitsLockedFile has another process hold the write lock of the file:
// reading goes on, writing ends in time.
func TestLimitsLockedFile(t *testing.T) {
	dsn := engines[0].dsn(t)
	d := startDesk(t, deskOptions{dsn: dsn, backend: ", timeout: 2s"})
	token := d.login(fullKey, "demo")
	conn, err := sqlite.OpenConn(strings.TrimPrefix(dsn, "sqlite:"), sqlite.OpenReadWrite)
	require.NoError(t, err)
	require.NoError(t, sqlitex.ExecuteTransient(conn, "BEGIN IMMEDIATE", nil))
	d.requireFailure(d.call("POST", "/contact", token, newContact), "backend_timeout", "wait to write")
	require.Equal(t, 200, d.call("GET", "/contact/1", token, "").Status)
	require.NoError(t, conn.Close())
	require.Equal(t, 201, d.call("POST", "/contact", token, newContact).Status)
}

// TestLimitsFullDisk gives the program no more room than its files have. The
// same happens to whoever wants to write on a full disk.
func TestLimitsFullDisk(t *testing.T) {
	prlimit, err := exec.LookPath("prlimit")
	if err != nil {
		t.Skip("prlimit is not installed")
	}
	dsn := engines[0].dsn(t)
	c := startChild(t, deskOptions{dsn: dsn})
	token := c.login(fullKey, "demo")
	limit := func(size string) {
		out, err := exec.Command(prlimit, "--pid", fmt.Sprint(c.process.Process.Pid), "--fsize="+size+":unlimited").CombinedOutput()
		require.NoError(t, err, "%s", out)
	}
	first := c.create(token, "contact", newContact)
	limit("4096")
	a := c.call("POST", "/contact", token, newContact, "Idempotency-Key", "full")
	c.requireFailure(a, "backend_unavailable", "disk")
	require.Equal(t, 200, c.call("GET", "/contact/1", token, "").Status, "reading needs no room")
	limit("unlimited")
	again := c.call("POST", "/contact", token, newContact, "Idempotency-Key", "full")
	require.Equal(t, 201, again.Status, "%s", again.Body)
	require.Equal(t, first+1, again.id(t))
	c.kill()
	require.Equal(t, []string{"ok"}, askSQLite(t, strings.TrimPrefix(dsn, "sqlite:"), "PRAGMA integrity_check"))
}

// TestLimitsPostgresGone cuts every connection to the database and lets none in.
func TestLimitsPostgresGone(t *testing.T) {
	dsn := engines[1].dsn(t)
	d := startDesk(t, deskOptions{dsn: dsn})
	token := d.login(fullKey, "demo")
	address, err := url.Parse(dsn)
	require.NoError(t, err)
	database := strings.TrimPrefix(address.Path, "/")
	address.Path = "/postgres"
	cut := "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = '" + database + "'"

	// A restart of the database: the connections of the pool are gone, which
	// costs no more than the requests that met them.
	askPostgres(t, address.String(), cut)
	require.Eventually(t, func() bool { return d.call("GET", "/contact/1", token, "").Status == 200 }, patience, 10*time.Millisecond)

	askPostgres(t, address.String(), "ALTER DATABASE "+database+" ALLOW_CONNECTIONS false")
	askPostgres(t, address.String(), cut)
	for range 5 {
		a := d.call("POST", "/contact", token, newContact)
		require.Equal(t, 500, a.Status)
		require.NotContains(t, string(a.Body), database)
		d.logged(a.failure(t).RequestID)
	}
	status, _ := d.ready()
	require.Equal(t, 503, status)
	a := d.call("GET", loginPath(fullKey, "demo", "demo"), "", "")
	require.Equal(t, 500, a.Status, "a login without a database is no wrong password")

	askPostgres(t, address.String(), "ALTER DATABASE "+database+" ALLOW_CONNECTIONS true")
	require.Eventually(t, func() bool { return d.call("POST", "/contact", token, newContact).Status == 201 }, patience, 10*time.Millisecond)
	status, _ = d.ready()
	require.Equal(t, 200, status)
}

// askPostgres runs statements beside the desk.
func askPostgres(t testing.TB, dsn, sql string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	conn, err := pgx.Connect(ctx, dsn)
	require.NoError(t, err)
	_, err = conn.Exec(ctx, sql)
	require.NoError(t, err)
	require.NoError(t, conn.Close(ctx))
}
