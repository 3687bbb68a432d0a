package foreign

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"frontdesk/backend/legacy/legacytest"
	"frontdesk/backend/remote/remotetest"
	"frontdesk/cmd/frontdesk/rig"
	"frontdesk/cmd/frontdesk/rig/await"
)

// accounts are users that another system has.
type accounts struct {
	options            rig.Options
	username, password string
	atOnce             int        // logins that it is asked for: a quarter of its connections at most
	wrong              int        // logins that come meanwhile; more than may wait, where they cost little
	asked              func() int // logins that it has not answered
	hold, release      func()     // has it answer no login, and all
}

// garageAccounts are those of an HTTP service, to which there are 32 connections.
func garageAccounts(t *testing.T) accounts {
	var asked atomic.Int64
	var held sync.RWMutex
	service := remotetest.NewJSON(remotetest.Options{})
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/v3/users/verify" {
			asked.Add(1)
			defer asked.Add(-1)
			held.RLock()
			defer held.RUnlock()
		}
		service.ServeHTTP(w, r)
	}))
	t.Cleanup(server.Close)
	o := rig.GarageCloud(t, server.URL, remotetest.ClientSecret)
	return accounts{o, "demo", "demo", 8, 152, func() int { return int(asked.Load()) }, held.Lock, held.Unlock}
}

// dealerpakAccounts are those of a table, to whose database there are 16 connections.
func dealerpakAccounts(t *testing.T) accounts {
	dsn := legacytest.Postgres(t)
	o := rig.DealerPak(t, "postgres", dsn, "    connections: 16\n", "    connections: 16\n    session: [SET lock_timeout = 60000]\n")
	connect := func() *pgx.Conn {
		conn, err := pgx.Connect(t.Context(), dsn)
		require.NoError(t, err)
		t.Cleanup(func() { assert.NoError(t, conn.Close(context.Background())) })
		return conn
	}
	locks, look := connect(), connect()
	run := func(statements ...string) func() {
		return func() {
			_, err := locks.Exec(t.Context(), strings.Join(statements, "; "))
			require.NoError(t, err)
		}
	}
	asked := func() (n int) {
		text := `SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`
		require.NoError(t, look.QueryRow(t.Context(), text).Scan(&n))
		return n
	}
	return accounts{o, "sanne.bos", "Welkom01", 4, 20, asked, run("BEGIN", `LOCK TABLE "GEBRUIKER" IN ACCESS EXCLUSIVE MODE`), run("ROLLBACK")}
}

// TestLoginFloodBehindASheet: the system that verifies logins is slow, and wrong ones come
// from many addresses. They leave it connections for records, and whoever logged in well
// before has his turn.
func TestLoginFloodBehindASheet(t *testing.T) {
	t.Parallel()
	for name, start := range map[string]func(*testing.T) accounts{"remote": garageAccounts, "legacy": dealerpakAccounts} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := start(t)
			s.options.Backend += ", timeout: 60s"
			s.options.Server = "  trusted_proxies: [127.0.0.1]"
			s.flood(t, rig.Start(t, s.options))
		})
	}
}

func (s accounts) flood(t *testing.T, d *rig.Desk) {
	login := func(username, password, address string) (int, error) {
		a, err := d.Try("GET", rig.LoginPath(rig.FullKey, username, password), "", "", "X-Forwarded-For", address)
		return a.Status, err
	}
	token := d.LoginAs(rig.FullKey, s.username, s.password)
	status, err := login(s.username, s.password, "192.0.2.1")
	require.NoError(t, err)
	require.Equal(t, 200, status)

	s.hold()
	var over atomic.Bool
	release := sync.OnceFunc(func() {
		over.Store(true)
		s.release()
	})
	defer release()
	var all sync.WaitGroup
	for n := range s.wrong {
		all.Go(func() {
			for status := 429; status == 429 && !over.Load(); { // who is sent away comes again
				var err error
				status, err = login(fmt.Sprint("user", n), "wrong", fmt.Sprintf("10.0.%d.1", n))
				assert.NoError(t, err)
				assert.Contains(t, []int{401, 429}, status)
			}
		})
	}
	lined := min(s.wrong-s.atOnce, 128)
	waiting := func(n int) bool {
		return strings.Contains(d.OpsText("/metrics"), fmt.Sprintf("\nfrontdesk_passwords_waiting %d\n", n))
	}
	await.True(t, func() bool { return waiting(lined) && s.asked() == s.atOnce })
	for range 5 {
		require.Equal(t, 200, d.Call("GET", "/contact?page_size=1", token, "").Status)
	}
	all.Go(func() {
		status, err := login(s.username, s.password, "192.0.2.1")
		assert.NoError(t, err)
		assert.Equal(t, 200, status)
	})
	await.True(t, func() bool { return waiting(lined + 1) })
	require.Equal(t, s.atOnce, s.asked())
	release()
	all.Wait()
}
