package legacy

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"frontdesk/backend"
	"frontdesk/mapping"
)

// TestTablesOfAnotherSchema: what is known of a table is known of that one. Before, it was
// that of the table of the same name in the source's schema: a sheet did not start, good
// values were refused, and what the database refused was judged again until it was busy.
func TestTablesOfAnotherSchema(t *testing.T) {
	for _, engine := range []string{"mariadb", "postgres"} {
		t.Run(engine, func(t *testing.T) {
			dsn := engines[engine](t)
			base := openOn(t, engine, dsn)
			in := "verkoop"
			use := func(schema string) string { return "SET search_path TO " + schema }
			own := "public"
			if engine == "mariadb" { // where schemas are databases, and the server is shared
				require.NoError(t, base.db.QueryRowContext(t.Context(), "SELECT DATABASE()").Scan(&own))
				in, use = own+"_verkoop", func(schema string) string { return "USE " + schema }
			}
			base.db.SetMaxOpenConns(1)
			run := func(statement string) {
				t.Helper()
				_, err := base.db.ExecContext(t.Context(), statement)
				require.NoError(t, err, statement)
			}
			run("CREATE SCHEMA " + in)
			run(use(in))
			makeTables(t, base, strictTables...)
			run(use(own)) // where there are others of these names
			run("CREATE TABLE r_rel (id integer NOT NULL PRIMARY KEY, naam varchar(2), kvk varchar(2), nota varchar(99))")
			run("CREATE TABLE r_ord (id integer NOT NULL PRIMARY KEY, rel integer REFERENCES r_rel (id) ON DELETE CASCADE)")
			run("CREATE TABLE r_lijn (id integer NOT NULL PRIMARY KEY)")
			require.NoError(t, base.Close())
			sheet := strings.ReplaceAll(fmt.Sprintf(strictSheet, engine, "gateway", ""), "table: r_", "table: "+in+".r_")
			x, r, calls := onMade(t, engine, dsn, sheet)
			_, err := x.tryUpdate(one, 1, x.record("contact", "note", "abcdef"))
			requireTold(t, err, mapping.TextTooLong, []string{"note", "6", "5"})
			x.update(one, 1, x.record("contact", "name", "Longer"))
			_, err = x.tryCreate(one, x.record("contact", "name", "New", "company_number", "11"))
			requireTold(t, err, mapping.DuplicateValue, []string{"company_number", "11"})
			requireTold(t, x.tryDelete(one, "contact", 2), mapping.InUse, []string{"id", "elsewhere"})
			requireTold(t, x.tryDelete(one, "contact", 1), mapping.InUse, []string{"id", "order"})
			require.Empty(t, x.list(backend.Query{Client: one, Filters: []backend.Filter{{Field: x.model.Resource("contact").Field("payment_days"), Value: mapping.IntValue(40000)}}}, "contact").Records)
			require.LessOrEqual(t, r.written("INSERT"), 2)
			require.NotContains(t, calls.all, backend.Busy)
			require.NotContains(t, calls.all, backend.Unexpected)
			require.NotContains(t, calls.all, backend.Failed)

			// Of the others the sheet says nothing, and all is as before.
			schema, err := x.Inspect(t.Context(), in+".r_rel")
			require.NoError(t, err)
			require.Nil(t, schema.Table("r_rel").Column("adm"))
			require.NotNil(t, schema.Table(in+".r_rel").Column("adm"))
			require.NotNil(t, schema.Table(own+".r_lijn"))
		})
	}
}
