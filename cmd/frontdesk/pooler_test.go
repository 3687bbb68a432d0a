package main

import (
	"encoding/json"
	"fmt"
	"regexp"
	"sync"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"frontdesk/auth/redis/redistest"
	"frontdesk/backend/sqlrecord/sqltest"
	"frontdesk/gateway/webhook/jobstore"
)

// leftBehind looks for what gateways leave, when they start, on connections that
// others are given next: locks, and settings of a session.
func leftBehind(t *testing.T, dsn string) {
	t.Helper()
	for range 3 { // as many as the pooler has, each held until all are
		conn, err := pgx.Connect(t.Context(), dsn)
		require.NoError(t, err)
		defer conn.Close(t.Context())
		tx, err := conn.Begin(t.Context())
		require.NoError(t, err)
		defer tx.Rollback(t.Context())
		var timeouts string
		var locks int
		require.NoError(t, tx.QueryRow(t.Context(), "SELECT current_setting('lock_timeout') || ' ' || current_setting('statement_timeout')").Scan(&timeouts))
		require.Equal(t, "0 0", timeouts)
		require.NoError(t, tx.QueryRow(t.Context(), "SELECT count(*) FROM pg_locks WHERE locktype = 'advisory'").Scan(&locks))
		require.Zero(t, locks)
	}
}

// lifeOfAContact makes a contact, finds it, and changes it. It may run concurrently.
func (d *desk) lifeOfAContact(token string) {
	expect := func(status int, method, path, body string) []byte {
		a, err := d.try(method, path, token, body)
		if err != nil || a.Status != status {
			d.t.Errorf("%s %s: %v %d %s", method, path, err, a.Status, a.Body)
		}
		return a.Body
	}
	var made struct{ Data struct{ ID int } }
	if err := json.Unmarshal(expect(201, "POST", "/contact", newContact), &made); err != nil {
		d.t.Error(err)
	}
	path := fmt.Sprint("/contact/", made.Data.ID)
	expect(200, "GET", path, "")
	expect(200, "GET", "/contact?total=1&sort=-id", "")
	expect(200, "GET", "/contact?name=Jansen&modified_since=2026-01-01T00:00:00Z", "")
	expect(200, "GET", "/order/1", "")
	expect(200, "PUT", path, `{"name":"Jansen"}`)
}

// TestBehindAPooler: gateways of one service work behind a PgBouncer that gives a
// connection away after each transaction.
func TestBehindAPooler(t *testing.T) {
	direct := engines[1].dsn(t)
	onJobs(t, direct, func(*jobstore.Store) {}) // makes its tables, as frontdesk migrate does
	dsn := sqltest.PgBouncer(t, direct) + "&default_query_exec_mode=exec"
	h, options := newHooks(t, nil)
	options.dsn = dsn + "&pool_max_conns=8"
	options.extra = regexp.MustCompile(`, folder: "[^"]*"`).ReplaceAllString(options.extra, "")
	options.extra += fmt.Sprintf("sessions: {store: %q}\n", redistest.Start(t).URL())
	desks := []*desk{startDesk(t, options), startDesk(t, options)}
	leftBehind(t, dsn)
	token := desks[0].login(hookedKey, "demo")
	var working sync.WaitGroup
	for n := range 8 {
		working.Go(func() {
			for range 20 {
				desks[n%len(desks)].lifeOfAContact(token)
			}
		})
	}
	working.Wait()
	first := desks[0].call("POST", "/contact", token, newContact, "Idempotency-Key", "pooled-1")
	again := desks[1].call("POST", "/contact", token, newContact, "Idempotency-Key", "pooled-1")
	require.Equal(t, string(first.Body), string(again.Body))
	promise := desks[0].call("POST", "/backup/owner", token, h.body()).promise(t)
	require.Equal(t, promise, h.next(t))
	require.Equal(t, 200, desks[1].download(desks[1].collect(token, promise)).Status)
}
