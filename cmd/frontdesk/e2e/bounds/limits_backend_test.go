package bounds

import (
	"context"
	"net/url"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"frontdesk/backend"
	"frontdesk/backend/sqlrecord/sqltest"
	"frontdesk/cmd/frontdesk/rig"
	"frontdesk/cmd/frontdesk/rig/await"
	"frontdesk/cmd/frontdesk/rig/must"
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
		a := d.Gets(500, "POST", "/contact", token, rig.NewContact, "Idempotency-Key", "k")
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
	rig.InBubble(t, rig.Options{Wrap: f.Wrap, Bound: rig.Circuit(0, time.Minute)}, func(t *testing.T, d *rig.Desk) {
		token := d.Login(rig.FullKey, "demo")
		calls := 0
		fail := func(times int) (last rig.Answer) {
			f.Set(func(context.Context) error { calls++; return rig.ErrBroken })
			for range times {
				last = d.Gets(500, "GET", "/contact/1", token, "")
				require.Empty(t, last.Header.Get("Retry-After"))
			}
			return last
		}
		d.RequireFailure(fail(10), "backend_unavailable", rig.ErrBroken.Error())
		refused := d.Call("GET", "/contact", token, "")
		require.Equal(t, "60", refused.Header.Get("Retry-After"))
		d.RequireFailure(refused, "backend_unavailable", "circuit breaker is open")
		require.Equal(t, 10, calls, "the driver was asked while the circuit was open")
		is := func(status int, circuit string) {
			t.Helper()
			code, now := d.Ready()
			require.Equal(t, []any{status, circuit}, []any{code, now})
		}
		is(503, "open")
		require.Equal(t, 200, d.Call("GET", "/authenticate/acces", token, "").Status, "what needs no backend is served")
		f.None()
		require.Equal(t, 500, d.Call("GET", "/contact/1", token, "").Status, "the pause is not over")
		time.Sleep(time.Minute)
		is(200, "half-open")
		require.Equal(t, 200, d.Call("GET", "/contact/1", token, "").Status)
		is(200, "closed")
	})
}

// TestLimitsLostTable takes a table away while the desk serves.
func TestLimitsLostTable(t *testing.T) {
	t.Parallel()
	rig.OnEngines(t, func(t *testing.T, dsn string) {
		d := rig.Start(t, rig.Options{DSN: dsn})
		token, behind := d.Login(rig.FullKey, "demo"), &rig.Practice{T: t, DSN: dsn}
		behind.Alter("ALTER TABLE employee RENAME TO lost")
		d.RequireFailure(d.Call("GET", "/employee", token, ""), "backend_unavailable", "employee")
		d.RequireFailure(d.Call("POST", "/employee", token, `{"username":"lost","last_name":"Visser"}`), "backend_unavailable", "employee")
		behind.Alter("ALTER TABLE lost RENAME TO employee")
		require.Equal(t, 200, d.Call("GET", "/employee", token, "").Status)
		require.Equal(t, 201, d.Call("POST", "/employee", token, `{"username":"lost","last_name":"Visser"}`).Status)
	})
}

// TestLimitsLockedFile has another process hold the write lock of the file:
// reading goes on, writing ends in time.
func TestLimitsLockedFile(t *testing.T) {
	t.Parallel()
	d := rig.OnSQLite(t, rig.Options{Backend: ", timeout: 6s"}) // a write waits for the lock for 10 s itself
	token, release := d.Login(rig.FullKey, "demo"), rig.Lock(t, d.DSN, "")
	d.RequireFailure(d.Call("POST", "/contact", token, rig.NewContact), "backend_timeout", "wait to write")
	require.Equal(t, 200, d.Call("GET", "/contact/1", token, "").Status)
	release()
	require.Equal(t, 201, d.Call("POST", "/contact", token, rig.NewContact).Status)
}

// TestLimitsPostgresGone cuts every connection to the database and lets none in.
func TestLimitsPostgresGone(t *testing.T) {
	t.Parallel()
	dsn := rig.Engines[1].DSN(t)
	d := rig.Start(t, rig.Options{DSN: dsn})
	token := d.Login(rig.FullKey, "demo")
	address := must.Have(url.Parse(dsn))(t)
	database := strings.TrimPrefix(address.Path, "/")
	address.Path = "/postgres"
	alter := func(texts ...string) { require.NoError(t, sqltest.Execute(address.String(), texts...)) }
	cut := "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = '" + database + "'"

	// A restart of the database: the connections of the pool are gone, which
	// costs no more than the requests that met them.
	alter(cut)
	await.True(t, func() bool { return d.Call("GET", "/contact/1", token, "").Status == 200 })

	alter("ALTER DATABASE "+database+" ALLOW_CONNECTIONS false", cut)
	for range 5 {
		a := d.Gets(500, "POST", "/contact", token, rig.NewContact)
		require.NotContains(t, string(a.Body), database)
		d.Logged(a.Failure(t).RequestID)
	}
	status, _ := d.Ready()
	require.Equal(t, 503, status)
	a := d.Call("GET", rig.LoginPath(rig.FullKey, "demo", "demo"), "", "")
	require.Equal(t, 500, a.Status, "a login without a database is no wrong password")

	alter("ALTER DATABASE " + database + " ALLOW_CONNECTIONS true")
	await.True(t, func() bool { return d.Call("POST", "/contact", token, rig.NewContact).Status == 201 })
	status, _ = d.Ready()
	require.Equal(t, 200, status)
}
