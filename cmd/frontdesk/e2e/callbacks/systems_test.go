package callbacks

import (
	"bytes"
	"database/sql"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"

	_ "github.com/go-sql-driver/mysql"
	_ "github.com/jackc/pgx/v5/stdlib"
	"github.com/stretchr/testify/require"

	"frontdesk/backend/legacy/legacytest"
	"frontdesk/backend/remote/remotetest"
	"frontdesk/cmd/frontdesk/desk"
	"frontdesk/cmd/frontdesk/rig"
	"frontdesk/cmd/frontdesk/rig/must"
	"frontdesk/gateway/webhook/jobstore"
)

// system is what is behind frontdesk while that is killed and stopped.
type system struct {
	options            rig.Options // but for webhooks
	jobs               string      // the database that they are in
	username, password string      // of who asks
	backups            bool
	// again tells that a job which was cut off is done again, once. Else nobody knows
	// whether it was done, and it is not sent again.
	again bool
	// effects tells how often the system did what it was asked for, by the reference of an
	// order or the name that a contact got, and by what else tells of it.
	effects func() map[string]int
}

// systems are all that jobs are kept for: the built-in administration, an HTTP service and
// a database behind mapping sheets, this one with its own table of answers and without.
var systems = []struct {
	name  string
	start func(*testing.T) system
}{
	{"sqlite", func(t *testing.T) system { return builtIn(t, 0, "sqlite") }},
	{"postgres", func(t *testing.T) system { return builtIn(t, 1, "pgx") }},
	{"remote", garageCloud},
	{"legacy", func(t *testing.T) system {
		dsn := legacytest.Postgres(t)
		return dealerpak(t, "postgres", dsn, openSQL(t, "pgx", dsn), "SET lock_timeout = 60000")
	}},
	{"legacy with answers", func(t *testing.T) system {
		dsn := legacytest.MariaDB(t)
		db := openSQL(t, "mysql", dsn+"?sql_mode=%27ANSI_QUOTES%27")
		_, err := db.ExecContext(t.Context(), "CREATE TABLE ANTWOORD (client_id INT, idem_key VARCHAR(400), request_sum VARCHAR(64), answer LONGTEXT, created_at BIGINT, PRIMARY KEY (client_id, idem_key))")
		require.NoError(t, err)
		s := dealerpak(t, "mariadb", dsn, db, "SET innodb_lock_wait_timeout = 60", "time_zone: Europe", "    idempotency: ANTWOORD\ntime_zone: Europe")
		s.again = true
		return s
	}},
}

func openSQL(t *testing.T, driver, dsn string) *sql.DB {
	t.Helper()
	db := must.Have(sql.Open(driver, dsn))(t)
	t.Cleanup(func() { require.NoError(t, db.Close()) })
	return db
}

func builtIn(t *testing.T, engine int, driver string) system {
	dsn := rig.Engines[engine].DSN(t)
	db := openSQL(t, driver, strings.TrimPrefix(dsn, "sqlite:"))
	return system{options: rig.Options{DSN: dsn}, jobs: dsn, username: "demo", password: "demo", backups: true, again: true, effects: func() map[string]int {
		return done(t, db, `SELECT reference, COUNT(*) FROM "order" WHERE reference IS NOT NULL GROUP BY reference`, `SELECT name, 1 FROM contact`)
	}}
}

// marked finds the reference of an order, and the name that a contact got, in these tests.
var marked = regexp.MustCompile(`\bC\d+-\d+-\d+\b`)

// done is what some statements tell of how often something was done.
func done(t *testing.T, db *sql.DB, queries ...string) map[string]int {
	all := map[string]int{}
	for _, query := range queries {
		rows := must.Have(db.QueryContext(t.Context(), query))(t)
		for rows.Next() {
			var what string
			var n int
			require.NoError(t, rows.Scan(&what, &n))
			if marked.MatchString(what) || strings.HasPrefix(what, "DELETE ") {
				all[what] += n
			}
		}
		require.NoError(t, rows.Err())
	}
	return all
}

// keep is the database where a desk behind a sheet keeps its jobs.
func keep(t *testing.T, o rig.Options) string {
	t.Helper()
	sheet := regexp.MustCompile(`sheet: "([^"]+)"`).FindStringSubmatch(o.Backend)[1]
	kept := regexp.MustCompile(`(?m)^keep: (.+)$`).FindStringSubmatch(rig.Read(t, sheet))[1]
	if strings.HasPrefix(kept, "postgres:") {
		return kept
	}
	return filepath.Join(filepath.Dir(sheet), kept)
}

// garageCloud counts the writes that come in, whatever becomes of them.
func garageCloud(t *testing.T) system {
	var mu sync.Mutex
	came := map[string]int{}
	service := remotetest.NewJSON(remotetest.Options{})
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		r.Body = io.NopCloser(bytes.NewReader(body))
		what := string(marked.Find(body))
		if what == "" && r.Method == http.MethodDelete {
			what = "DELETE " + r.URL.Path
		}
		mu.Lock()
		came[what]++
		mu.Unlock()
		service.ServeHTTP(w, r)
	}))
	t.Cleanup(server.Close)
	options := rig.GarageCloud(t, server.URL, remotetest.ClientSecret)
	options.Backend += ", timeout: 60s"
	return system{options: options, jobs: keep(t, options), username: "demo", password: "demo", effects: func() map[string]int {
		mu.Lock()
		defer mu.Unlock()
		delete(came, "") // which is no such write
		return came
	}}
}

// dealerpak counts what was done: orders by their reference, changes and deletions of
// contacts by the number that every change of a row adds one to. Its statements wait for locks.
func dealerpak(t *testing.T, engine, dsn string, db *sql.DB, waits string, values ...string) system {
	const pool = "    connections: 16\n"
	options := rig.DealerPak(t, engine, dsn, append(values, pool, pool+"    session: ["+waits+"]\n")...)
	options.Backend += ", timeout: 60s"
	return system{options: options, jobs: keep(t, options), username: "sanne.bos", password: "Welkom01", backups: true, effects: func() map[string]int {
		return done(t, db, `SELECT "REF", COUNT(*) FROM "ORDKOP" WHERE "REF" IS NOT NULL GROUP BY "REF"`,
			`SELECT "NAAM", "MUTNR" - 1 FROM "REL"`,
			`SELECT CONCAT('DELETE ', "RELNR"), "MUTNR" - 1 FROM "REL" WHERE "NAAM" = 'To go' AND "MUTNR" > 1`)
	}}
}

// results names the results of the jobs in a database, with those being written.
func results(t *testing.T, dsn string) (names []string) {
	t.Helper()
	if !strings.HasPrefix(dsn, "postgres:") {
		found, err := os.ReadDir(desk.ResultsFolder(strings.TrimPrefix(dsn, "sqlite:")))
		require.True(t, err == nil || os.IsNotExist(err), "%v", err)
		for _, e := range found {
			names = append(names, e.Name())
		}
		return names
	}
	rig.OnJobs(t, dsn, func(s *jobstore.Store) {
		names = must.Have(must.Have(s.NewResults())(t).Names(t.Context()))(t)
	})
	return names
}
