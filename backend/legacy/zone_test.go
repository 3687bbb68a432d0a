package legacy

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"frontdesk/backend"
)

// zonedSheet is of a table of contacts, with a session and the settings of a column.
const zonedSheet = `format: 2
source: {sql: {engine: ENGINE, dsn: "${DSN}", session: [%s]}}
time_zone: Europe/Amsterdam
rules: backend
resources:
  contact: {table: zoned, key: {columns: id, generated: max+1}, client: "", shared: true,
    fields: {kind: {constant: person}, name: name, modified_at: {column: changed, readonly: true, %s}}}
`

// TestSessionOfAnotherZone: what a database shows or writes by the clock of its session
// is compared at the start with what the sheet says. Before, a record that was changed
// at 08:59Z was answered as of 07:59Z, and modified_since did not find it.
func TestSessionOfAnotherZone(t *testing.T) {
	columns := map[string]string{"TIMESTAMP": "changed TIMESTAMP NOT NULL DEFAULT CURRENT_TIMESTAMP ON UPDATE CURRENT_TIMESTAMP", "DEFAULT": "changed %s NOT NULL DEFAULT CURRENT_TIMESTAMP", "TIMESTAMPTZ": "changed timestamptz NOT NULL DEFAULT now()", "ZONED": "changed timestamp NOT NULL DEFAULT (now() AT TIME ZONE 'Europe/Amsterdam')"}
	const shown = `resource contact: field modified_at: zoned.changed is shown in the zone of the session, as `
	const filled = `resource contact: field modified_at: zoned.changed is filled by the database with the time of the session, `
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
			column := columns[c.column]
			if strings.Contains(column, "%s") {
				column = fmt.Sprintf(column, map[string]string{"mariadb": "DATETIME", "postgres": "timestamp", "sqlite": "DATETIME"}[c.engine])
			}
			dsn := made(t, c.engine, "CREATE TABLE zoned (id int PRIMARY KEY, name varchar(40), "+column+")")
			x, err := tryMade(t, c.engine, dsn, fmt.Sprintf(zonedSheet, c.session, c.settings), nil)
			if c.refused != "" {
				require.ErrorContains(t, err, c.refused)
				require.ErrorContains(t, err, ": expected "+c.cure)
				return
			}
			require.NoError(t, err)

			// A record that the database has the time of: it is now, or when we say.
			if c.column == "TIMESTAMP" {
				x.exec("INSERT INTO zoned VALUES (1, 'A', FROM_UNIXTIME(1782900000))")
				require.Equal(t, "2026-07-01T10:00:00.000Z", x.get(one, "contact", 1).Get("modified_at").String())
			}
			began := time.Now().Truncate(time.Second)
			created := x.create(one, x.record("contact", "kind", "person", "name", "B")).Get("modified_at")
			require.WithinRange(t, created.Time(), began.Add(-time.Second), time.Now().Add(time.Second))
			page, err := x.List(t.Context(), x.model.Resource("contact"), backend.Query{Client: one, ModifiedSince: created})
			require.NoError(t, err)
			require.Len(t, page.Records, 1)
		})
	}
}
