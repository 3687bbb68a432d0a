package check

import (
	"database/sql"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"frontdesk/backend/legacy/legacytest"
	"frontdesk/backend/sqlrecord/sqltest"
)

const plannedSheet = `
format: 2
source: {sql: {engine: %s, dsn: "${DSN}"}}
keep: keep.db
client: adm
rules: backend
accounts: {users: []}
resources:
  contact:
    table: w_contact
    key: {columns: id, generated: max+1}
    fields: {kind: {constant: person}, name: name, first_name: nick}
`

// TestPlans: of a client with many records it is told, field by field, for what the planner finds
// no index; with one nothing is told.
func TestPlans(t *testing.T) {
	const numbers = "WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 12000) "
	for engine, begin := range map[string]struct {
		dsn     func(t *testing.T) string
		analyze string
		run     func(t *testing.T, dsn string, statements ...string)
	}{
		"mariadb": {func(t *testing.T) string { return legacytest.EmptyMariaDB(t, "utf8mb4") }, "ANALYZE TABLE w_contact", func(t *testing.T, dsn string, statements ...string) {
			execute(t, opened(t, dsn), append([]string{"SET max_recursive_iterations = 20000"}, statements...)...)
		}},
		"postgres": {func(t *testing.T) string { return legacytest.Postgres(t) }, "ANALYZE w_contact", func(t *testing.T, dsn string, statements ...string) {
			require.NoError(t, sqltest.Execute(dsn, statements...))
		}},
		"sqlite": {func(t *testing.T) string { return filepath.Join(t.TempDir(), "planned.db") }, "ANALYZE w_contact", func(t *testing.T, dsn string, statements ...string) {
			db, err := sql.Open("sqlite", dsn)
			require.NoError(t, err)
			execute(t, db, statements...)
			require.NoError(t, db.Close())
		}},
	} {
		t.Run(engine, func(t *testing.T) {
			dsn := begin.dsn(t)
			text := map[string]string{"mariadb": "CONCAT('n', i)", "postgres": "'n' || i", "sqlite": "'n' || i"}[engine]
			insert := "INSERT INTO w_contact (id, adm, name, nick) " + numbers + "SELECT i, 1, " + text + ", " + text + " FROM n"
			begin.run(t, dsn, "CREATE TABLE w_contact (id int NOT NULL PRIMARY KEY, adm int NOT NULL, name varchar(100) NOT NULL, nick varchar(50) DEFAULT 'x' NOT NULL)",
				insert, "CREATE INDEX w_client ON w_contact (adm, id)", "CREATE INDEX w_name ON w_contact (adm, name, id)", begin.analyze)
			path := filepath.Join(t.TempDir(), "planned.yaml")
			require.NoError(t, os.WriteFile(path, fmt.Appendf(nil, plannedSheet, engine), 0o600))
			report := askedOf(t, path, dsn)
			found := report.has("sql.plan", "resources.contact")
			require.Len(t, found, 2, words(t, report))
			require.Equal(t, "a list filtered by first_name reads all 12000 records of the client each time: the planner uses no index for it", found[0].Seen)
			require.Equal(t, "a list sorted by first_name reads all 12000 records of the client each time: the planner uses no index for it", found[1].Seen)
			begin.run(t, dsn, "CREATE INDEX w_nick ON w_contact (adm, nick, id)", begin.analyze)
			require.NotContains(t, words(t, askedOf(t, path, dsn)), "sql.plan")
		})
	}
}
