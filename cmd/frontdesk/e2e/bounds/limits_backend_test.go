package bounds

import (
	"context"
	"fmt"
	"net/url"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"
	"zombiezen.com/go/sqlite"
	"zombiezen.com/go/sqlite/sqlitex"

	"frontdesk/backend"
	"frontdesk/cmd/frontdesk/rig"
	"frontdesk/cmd/frontdesk/rig/await"
)

// panicking panics inside of transactions, where the store has its own nets.
type panicking struct {
	rig.FullDriver
	armed *atomic.Bool
}

func (p panicking) Write(ctx context.Context, f func(backend.Tx) error) error {
	return p.FullDriver.Write(ctx, func(tx backend.Tx) error {
		if p.armed.Load() {
			panic("a secret that panics")
		}
		return f(tx)
	})
}

func TestLimitsPanic(t *testing.T) {
	t.Parallel()
	rig.OnEngines(t, func(t *testing.T, dsn string) {
		var f rig.Faults
		var armed atomic.Bool
		d := rig.Start(t, rig.Options{DSN: dsn, Wrap: func(driver backend.Driver) backend.Driver {
			return panicking{FullDriver: f.Wrap(driver).(rig.FullDriver), armed: &armed}
		}})
		token := d.Login(rig.FullKey, "demo")
		f.Set(func(context.Context) error { panic("a secret that panics") })
		for range 3 {
			a := d.Call("GET", "/contact/1", token, "", "X-Request-Id", "panic-1")
			d.RequireFailure(a, "internal_error", "a secret that panics")
			require.Contains(t, d.Logged("panic-1"), "limits_backend_test.go", "the stack")
		}
		f.None()
		armed.Store(true)
		a := d.Call("POST", "/contact", token, rig.NewContact, "Idempotency-Key", "k")
		require.Equal(t, 500, a.Status)
		require.NotContains(t, string(a.Body), "secret")
		require.Contains(t, d.Logged(a.Failure(t).RequestID), "limits_backend_test.go", "the stack")
		armed.Store(false)
		require.Equal(t, 201, d.Call("POST", "/contact", token, rig.NewContact, "Idempotency-Key", "k").Status)
		require.Equal(t, 200, d.Call("GET", "/contact/1", token, "").Status)
	})
}

// TestLimitsBreaker opens the circuit, which closes by itself after its pause.
func TestLimitsBreaker(t *testing.T) {
	t.Parallel()
	var f rig.Faults
	d := rig.OnSQLite(t, rig.Options{Wrap: f.Wrap, Bound: rig.Circuit(0, time.Minute)})
	token := d.Login(rig.FullKey, "demo")
	calls := 0
	broken := func(context.Context) error {
		calls++
		return rig.ErrBroken
	}
	// What a working administration refuses is no failure, nor are failures
	// that are not in a row.
	for range 15 {
		require.Equal(t, 404, d.Call("GET", "/contact/999999", token, "").Status)
		require.Equal(t, 404, d.Call("POST", "/order", token, fmt.Sprintf(rig.NewOrder, 999999, "")).Status)
		require.Equal(t, 406, d.Call("DELETE", "/contact/1", token, "").Status)
	}
	fail := func(times int) (last rig.Answer) {
		for range times {
			last = d.Call("GET", "/contact/1", token, "")
			require.Equal(t, 500, last.Status)
			require.Empty(t, last.Header.Get("Retry-After"))
		}
		return last
	}
	for range 3 {
		f.Set(broken)
		fail(9)
		f.None()
		require.Equal(t, 200, d.Call("GET", "/contact/1", token, "").Status)
	}
	f.Set(broken)
	calls = 0
	failed := fail(10)
	refused := d.Call("GET", "/contact", token, "")
	require.Equal(t, "60", refused.Header.Get("Retry-After"))
	require.Equal(t, 10, calls, "the driver was asked while the circuit was open")
	status, circuit := d.Ready()
	require.Equal(t, 503, status)
	require.Equal(t, "open", circuit)
	// What needs no backend is served.
	require.Equal(t, 200, d.Call("GET", "/authenticate/acces", token, "").Status)

	d.RequireFailure(failed, "backend_unavailable", rig.ErrBroken.Error())
	d.RequireFailure(refused, "backend_unavailable", "circuit breaker is open")

	f.None()
	require.Equal(t, 500, d.Call("GET", "/contact/1", token, "").Status, "the pause is not over")

	d = rig.OnSQLite(t, rig.Options{Wrap: f.Wrap, Bound: rig.Circuit(0, 50*time.Millisecond)})
	token = d.Login(rig.FullKey, "demo")
	f.Set(broken)
	fail(10)
	f.None()
	await.True(t, func() bool { _, circuit = d.Ready(); return circuit == "half-open" })
	require.Equal(t, 200, d.Call("GET", "/contact/1", token, "").Status)
	status, circuit = d.Ready()
	require.Equal(t, 200, status)
	require.Equal(t, "closed", circuit)
}

// TestLimitsLostTable takes a table away while the desk serves.
func TestLimitsLostTable(t *testing.T) {
	t.Parallel()
	rig.OnEngines(t, func(t *testing.T, dsn string) {
		d := rig.Start(t, rig.Options{DSN: dsn})
		token := d.Login(rig.FullKey, "demo")
		alter := func(sql string) {
			if path, ok := strings.CutPrefix(dsn, "sqlite:"); ok {
				rig.AskSQLite(t, path, sql)
				return
			}
			askPostgres(t, dsn, sql)
		}
		alter("ALTER TABLE employee RENAME TO lost")
		d.RequireFailure(d.Call("GET", "/employee", token, ""), "backend_unavailable", "employee")
		d.RequireFailure(d.Call("POST", "/employee", token, `{"username":"lost","last_name":"Visser"}`), "backend_unavailable", "employee")
		alter("ALTER TABLE lost RENAME TO employee")
		require.Equal(t, 200, d.Call("GET", "/employee", token, "").Status)
		require.Equal(t, 201, d.Call("POST", "/employee", token, `{"username":"lost","last_name":"Visser"}`).Status)
	})
}

// TestLimitsLockedFile has another process hold the write lock of the file:
// reading goes on, writing ends in time.
func TestLimitsLockedFile(t *testing.T) {
	t.Parallel()
	dsn := rig.Engines[0].DSN(t)
	d := rig.Start(t, rig.Options{DSN: dsn, Backend: ", timeout: 6s"}) // a write waits for the lock for 10 s itself
	token := d.Login(rig.FullKey, "demo")
	conn, err := sqlite.OpenConn(strings.TrimPrefix(dsn, "sqlite:"), sqlite.OpenReadWrite)
	require.NoError(t, err)
	require.NoError(t, sqlitex.ExecuteTransient(conn, "BEGIN IMMEDIATE", nil))
	d.RequireFailure(d.Call("POST", "/contact", token, rig.NewContact), "backend_timeout", "wait to write")
	require.Equal(t, 200, d.Call("GET", "/contact/1", token, "").Status)
	require.NoError(t, conn.Close())
	require.Equal(t, 201, d.Call("POST", "/contact", token, rig.NewContact).Status)
}

// TestLimitsPostgresGone cuts every connection to the database and lets none in.
func TestLimitsPostgresGone(t *testing.T) {
	t.Parallel()
	dsn := rig.Engines[1].DSN(t)
	d := rig.Start(t, rig.Options{DSN: dsn})
	token := d.Login(rig.FullKey, "demo")
	address, err := url.Parse(dsn)
	require.NoError(t, err)
	database := strings.TrimPrefix(address.Path, "/")
	address.Path = "/postgres"
	cut := "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = '" + database + "'"

	// A restart of the database: the connections of the pool are gone, which
	// costs no more than the requests that met them.
	askPostgres(t, address.String(), cut)
	await.True(t, func() bool { return d.Call("GET", "/contact/1", token, "").Status == 200 })

	askPostgres(t, address.String(), "ALTER DATABASE "+database+" ALLOW_CONNECTIONS false")
	askPostgres(t, address.String(), cut)
	for range 5 {
		a := d.Call("POST", "/contact", token, rig.NewContact)
		require.Equal(t, 500, a.Status)
		require.NotContains(t, string(a.Body), database)
		d.Logged(a.Failure(t).RequestID)
	}
	status, _ := d.Ready()
	require.Equal(t, 503, status)
	a := d.Call("GET", rig.LoginPath(rig.FullKey, "demo", "demo"), "", "")
	require.Equal(t, 500, a.Status, "a login without a database is no wrong password")

	askPostgres(t, address.String(), "ALTER DATABASE "+database+" ALLOW_CONNECTIONS true")
	await.True(t, func() bool { return d.Call("POST", "/contact", token, rig.NewContact).Status == 201 })
	status, _ = d.Ready()
	require.Equal(t, 200, status)
}

// askPostgres runs statements beside the desk.
func askPostgres(t testing.TB, dsn, sql string) {
	t.Helper()
	ctx := context.Background()
	conn, err := pgx.Connect(ctx, dsn)
	require.NoError(t, err)
	_, err = conn.Exec(ctx, sql)
	require.NoError(t, err)
	require.NoError(t, conn.Close(ctx))
}
