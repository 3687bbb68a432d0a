package callbacks

import (
	"bytes"
	"context"
	"database/sql"
	"io"
	"maps"
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
	"frontdesk/backend/sqlrecord"
	"frontdesk/cmd/frontdesk/desk"
	"frontdesk/cmd/frontdesk/rig"
	"frontdesk/gateway/webhook/jobstore"
)

// system is what is behind frontdesk while that is killed and stopped.
type system struct {
	options  rig.Options // but for webhooks
	jobs     string      // the database that they are in
	username string      // who asks
	password func(username string) string
	backups  bool
	// again tells that a job which was cut off is done again, once. Else nobody knows
	// whether it was done, and it is not sent again.
	again bool
	// effects tells how often the system did what it was asked for, by the reference of an
	// order or the name that a contact got, and by what else tells of it. nil where the
	// interface tells it.
	effects func() map[string]int
}

// systems are all that jobs are kept for: the built-in administration, an HTTP service and
// a database behind mapping sheets, this one with its own table of answers and without.
var systems = []struct {
	name  string
	start func(*testing.T) system
}{
	{"sqlite", func(t *testing.T) system { return builtIn(rig.Engines[0].DSN(t)) }},
	{"postgres", func(t *testing.T) system { return builtIn(rig.Engines[1].DSN(t)) }},
	{"remote", garageCloud},
	{"legacy", func(t *testing.T) system { return dealerpak(t, "postgres", legacytest.Postgres(t)) }},
	{"legacy with answers", dealerpakWithAnswers},
}

func samePassword(username string) string { return username }

func builtIn(dsn string) system {
	return system{options: rig.Options{DSN: dsn}, jobs: dsn, username: "demo", password: samePassword, backups: true, again: true}
}

// bySheet are the options of a desk behind a sheet, and the database of what it keeps.
func bySheet(t *testing.T, driver, file string, values ...string) (o rig.Options, keep string) {
	t.Helper()
	sheet := rig.Read(t, file)
	o, folder := rig.BySheet(t, driver, sheet, values...)
	o.Backend += ", timeout: 60s"
	return o, filepath.Join(folder, regexp.MustCompile(`(?m)^keep: (.+)$`).FindStringSubmatch(sheet)[1])
}

// marked finds the reference of an order, and the name that a contact got, in these tests.
var marked = regexp.MustCompile(`\b[CF]\d+-\d+-\d+\b`)

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
		if what != "" {
			came[what]++
		}
		mu.Unlock()
		service.ServeHTTP(w, r)
	}))
	t.Cleanup(server.Close)
	options, keep := bySheet(t, "remote", rig.RemoteSheets(t, "garagecloud.yaml"),
		"${GARAGE_URL}", server.URL, "${GARAGE_SECRET}", remotetest.ClientSecret, "timeout: 5s", "timeout: 60s")
	return system{
		options: options, jobs: keep, username: "demo", password: samePassword,
		effects: func() map[string]int {
			mu.Lock()
			defer mu.Unlock()
			return maps.Clone(came)
		},
	}
}

// dealerpak counts what was done: orders by their reference, changes and deletions of
// contacts by the number that every change of a row adds one to.
func dealerpak(t *testing.T, engine, dsn string, values ...string) system {
	files, err := legacytest.Files()
	require.NoError(t, err)
	options, keep := bySheet(t, "legacy", filepath.Join(files, engine+".yaml"), append(values, "${DEALERPAK_DSN}", dsn,
		"    connections: 16\n", "    connections: 16\n    session: ["+map[string]string{"postgres": "SET lock_timeout = 60000", "mariadb": "SET innodb_lock_wait_timeout = 60"}[engine]+"]\n")...)
	driver, own := "pgx", dsn
	if engine == "mariadb" {
		driver, own = "mysql", dsn+"?sql_mode=%27ANSI_QUOTES%27"
	}
	db, err := sql.Open(driver, own)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, db.Close()) })
	return system{
		options: options, jobs: keep, username: "sanne.bos", password: func(string) string { return "Welkom01" }, backups: true,
		effects: func() map[string]int {
			done := map[string]int{}
			for _, query := range []string{
				`SELECT "REF", COUNT(*) FROM "ORDKOP" WHERE "REF" IS NOT NULL GROUP BY "REF"`,
				`SELECT "NAAM", "MUTNR" - 1 FROM "REL"`,
				`SELECT CONCAT('DELETE ', "RELNR"), "MUTNR" - 1 FROM "REL" WHERE "NAAM" = 'To go' AND "MUTNR" > 1`,
			} {
				rows, err := db.QueryContext(t.Context(), query)
				require.NoError(t, err)
				for rows.Next() {
					var what string
					var n int
					require.NoError(t, rows.Scan(&what, &n))
					if marked.MatchString(what) || strings.HasPrefix(what, "DELETE ") {
						done[what] += n
					}
				}
				require.NoError(t, rows.Err())
			}
			return done
		},
	}
}

// dealerpakWithAnswers has a table for the answers to requests under an idempotency key.
func dealerpakWithAnswers(t *testing.T) system {
	dsn := legacytest.MariaDB(t)
	db, err := sql.Open("mysql", dsn)
	require.NoError(t, err)
	defer db.Close()
	_, err = db.ExecContext(t.Context(), "CREATE TABLE ANTWOORD (client_id INT, idem_key VARCHAR(400), request_sum VARCHAR(64), answer LONGTEXT, created_at BIGINT, PRIMARY KEY (client_id, idem_key))")
	require.NoError(t, err)
	s := dealerpak(t, "mariadb", dsn, "time_zone: Europe", "    idempotency: ANTWOORD\ntime_zone: Europe")
	s.again = true
	return s
}

// resultsOf names the results of the jobs in a database, with those being written.
func resultsOf(t *testing.T, dsn string) func(context.Context) ([]string, error) {
	t.Helper()
	if !strings.HasPrefix(dsn, "postgres:") {
		return func(context.Context) (names []string, err error) {
			found, err := os.ReadDir(desk.ResultsFolder(strings.TrimPrefix(dsn, "sqlite:")))
			for _, e := range found {
				names = append(names, e.Name())
			}
			return names, err
		}
	}
	store, closed := openJobs(t, dsn)
	t.Cleanup(closed)
	results, err := store.NewResults()
	require.NoError(t, err)
	return results.Names
}

// jobOf is the job that a result is of.
func jobOf(result string) string {
	id, _, _ := strings.Cut(result, ".")
	return id
}

// onJobs has f work on the jobs of a database, beside the desk.
func onJobs(t testing.TB, dsn string, f func(*jobstore.Store)) {
	t.Helper()
	store, closed := openJobs(t, dsn)
	f(store)
	closed()
}

func openJobs(t testing.TB, dsn string) (store *jobstore.Store, closed func()) {
	t.Helper()
	var db sqlrecord.DB
	var err error
	if strings.HasPrefix(dsn, "postgres:") {
		db, err = sqlrecord.OpenPostgres(t.Context(), dsn, sqlrecord.Options{})
	} else {
		db, err = sqlrecord.OpenSQLite(strings.TrimPrefix(dsn, "sqlite:"), sqlrecord.Options{})
	}
	require.NoError(t, err)
	store, err = jobstore.Open(t.Context(), db)
	require.NoError(t, err)
	return store, func() { require.NoError(t, db.Close()) }
}
