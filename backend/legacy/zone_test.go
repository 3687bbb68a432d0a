package legacy

import (
	"crypto/rand"
	"database/sql"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"frontdesk/backend"
	"frontdesk/mapping"
)

// zonedSheet is of a table of contacts, with a session and the settings of a column.
const zonedSheet = `format: 1
source: {sql: {engine: %s, dsn: "${DEALERPAK_DSN}", session: [%s]}}
time_zone: Europe/Amsterdam
rules: backend
accounts: {users: []}
resources:
  contact:
    table: zoned
    key: {columns: id, generated: max+1}
    client: ""
    fields: {kind: {constant: person}, name: name, modified_at: {from: changed, type: datetime, readonly: true, %s}}
`

// openZoned opens the table zoned, made by statements, in place of DEALERPAK's.
func openZoned(t *testing.T, engine, dsn, session, settings string) (*Store, error) {
	t.Helper()
	sh := loadText(t, dsn, fmt.Sprintf(zonedSheet, engine, session, settings), time.Now)
	return Open(t.Context(), Options{Sheet: sh, Now: time.Now, Random: rand.Reader})
}

// TestSessionOfAnotherZone: what a database shows or writes by the clock of its session
// is compared at the start with what the sheet says. Before, a record that was changed
// at 08:59Z was answered as of 07:59Z, and modified_since did not find it.
func TestSessionOfAnotherZone(t *testing.T) {
	const changed = 1782900000 // 2026-07-01T10:00:00Z
	columns := map[string]string{"TIMESTAMP": "changed TIMESTAMP NOT NULL DEFAULT CURRENT_TIMESTAMP ON UPDATE CURRENT_TIMESTAMP", "DEFAULT": "changed %s NOT NULL DEFAULT CURRENT_TIMESTAMP", "TIMESTAMPTZ": "changed timestamptz NOT NULL DEFAULT now()", "ZONED": "changed timestamp NOT NULL DEFAULT (now() AT TIME ZONE 'Europe/Amsterdam')"}
	const shown = `resource contact: field modified_at: zoned.changed is shown in the zone of the session, as `
	const filled = `resource contact: field modified_at: zoned.changed is filled by the database with the time of the session, `
	dsns := map[string]string{}
	for engine, start := range engines {
		dsns[engine] = start(t)
	}
	for _, c := range []struct{ name, engine, column, session, settings, refused, cure string }{
		{"utc", "mariadb", "TIMESTAMP", `"SET time_zone = '+00:00'"`, "", shown, `time_zone: UTC of the field, or source.sql.session: ["SET time_zone = 'Europe/Amsterdam'"]`},
		{"utc field", "mariadb", "TIMESTAMP", `"SET time_zone = '+00:00'"`, "time_zone: UTC", "", ""},
		{"offset", "mariadb", "TIMESTAMP", `"SET time_zone = '+01:00'"`, "", shown, `source.sql.session: ["SET time_zone = 'Europe/Amsterdam'"]`},
		{"system", "mariadb", "TIMESTAMP", "", "", "", ""},
		{"default", "mariadb", "DEFAULT", `"SET time_zone = '+00:00'"`, "", filled, `time_zone: UTC of the field, or source.sql.session: ["SET time_zone = 'Europe/Amsterdam'"]`},
		{"default", "postgres", "DEFAULT", `"SET TIME ZONE 'UTC'"`, "", filled, `time_zone: UTC of the field, or source.sql.session: ["SET TIME ZONE 'Europe/Amsterdam'"]`},
		{"cured", "postgres", "DEFAULT", `"SET TIME ZONE 'Europe/Amsterdam'"`, "", "", ""},
		{"utc field", "postgres", "DEFAULT", `"SET TIME ZONE 'UTC'"`, "time_zone: UTC", "", ""},
		{"instants", "postgres", "TIMESTAMPTZ", `"SET TIME ZONE 'Asia/Tokyo'"`, "", "", ""},
		{"zone of its own", "postgres", "ZONED", `"SET TIME ZONE 'UTC'"`, "", "", ""},
		{"default", "sqlite", "DEFAULT", "", "", filled, "time_zone: UTC of the field"},
		{"utc field", "sqlite", "DEFAULT", "", "time_zone: UTC", "", ""},
	} {
		t.Run(c.engine+" "+c.name, func(t *testing.T) {
			dsn := dsns[c.engine]
			db, err := sql.Open(map[string]string{"mariadb": "mysql", "postgres": "pgx", "sqlite": "sqlite"}[c.engine], dsn)
			require.NoError(t, err)
			defer db.Close()
			column := columns[c.column]
			if strings.Contains(column, "%s") {
				column = fmt.Sprintf(column, map[string]string{"mariadb": "DATETIME", "postgres": "timestamp", "sqlite": "DATETIME"}[c.engine])
			}
			_, err = db.Exec("CREATE TABLE zoned (id int PRIMARY KEY, name varchar(40), " + column + ")")
			require.NoError(t, err)
			defer func() { _, _ = db.Exec("DROP TABLE zoned") }()
			s, err := openZoned(t, c.engine, dsn, c.session, c.settings)
			if c.refused != "" {
				require.ErrorContains(t, err, c.refused)
				require.ErrorContains(t, err, ": expected "+c.cure)
				return
			}
			require.NoError(t, err)
			defer s.Close()

			// A record that the database has the time of: it is now, or when we say.
			if c.column == "TIMESTAMP" {
				_, err = db.Exec("INSERT INTO zoned VALUES (1, 'A', FROM_UNIXTIME(?))", changed)
				require.NoError(t, err)
			}
			contact := s.sheet.Model.Resource("contact")
			began := time.Now().Truncate(time.Second)
			front, err := backend.NewClient(s, s.sheet.Model, backend.Options{Timeout: 30 * time.Second})
			require.NoError(t, err)
			rec := mapping.NewRecord(contact)
			rec.Set("kind", mapping.TextValue("person"))
			rec.Set("name", mapping.TextValue("B"))
			made, err := front.Create(t.Context(), one, mapping.BodyOf(rec), backend.Write{})
			require.NoError(t, err)
			require.WithinRange(t, made.Get("modified_at").Time(), began.Add(-time.Second), time.Now().Add(time.Second))
			page, err := s.List(t.Context(), contact, backend.Query{Client: one, ModifiedSince: made.Get("modified_at")})
			require.NoError(t, err)
			require.Len(t, page.Records, 1)
			if c.column == "TIMESTAMP" {
				old, err := s.Get(t.Context(), contact, backend.Query{Client: one, ID: 1})
				require.NoError(t, err)
				require.Equal(t, "2026-07-01T10:00:00.000Z", old.Get("modified_at").String())
			}
		})
	}
}
