package sqlrecord

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestTypesOf(t *testing.T) {
	tables := map[string]string{
		"sqlite":   "CREATE TABLE kinds (i INTEGER PRIMARY KEY, d NUMERIC(12, 2), v VARCHAR(20) NOT NULL, m DATETIME, u UNSIGNED BIG INT)",
		"postgres": "CREATE TABLE kinds (i INTEGER PRIMARY KEY, d NUMERIC(12, 2), v VARCHAR(20) NOT NULL, m TIMESTAMP WITH TIME ZONE, u NUMERIC)",
		"mariadb":  "CREATE TABLE kinds (i INTEGER PRIMARY KEY, d NUMERIC(12, 2), v VARCHAR(20) NOT NULL, m DATETIME, u BIGINT UNSIGNED)",
	}
	want := map[string][]ResultColumn{
		"sqlite": {{Name: "i"}, {Name: "amount"}, {Name: "v"}, {Name: "m"}, {Name: "u"}, {Name: "e"}},
		"postgres": {{Name: "i", Type: "integer"}, {Name: "amount", Type: "numeric", Precision: 12, Scale: 2}, {Name: "v", Type: "character varying"}, {Name: "m", Type: "timestamp with time zone"},
			{Name: "u", Type: "numeric"}, {Name: "e", Type: "text"}},
		"mariadb": {{Name: "i", Type: "int"}, {Name: "amount", Type: "decimal", Precision: 12, Scale: 2}, {Name: "v", Type: "varchar"}, {Name: "m", Type: "datetime"},
			{Name: "u", Type: "bigint unsigned"}, {Name: "e", Type: "varchar"}},
	}
	onForeigners(t, nil, func(t *testing.T, o ForeignOptions, db DB) {
		for _, text := range []string{tables[o.Engine], "INSERT INTO kinds (i, v) VALUES (1, 'x')"} {
			change(t, db, text)
		}
		look := func(c Conn) error {
			got, err := TypesOf(t.Context(), c, "SELECT i, d AS amount, v, m, u, LOWER(NULLIF(v, '?')) AS e FROM kinds ORDER BY i")
			require.Equal(t, want[o.Engine], got)
			return err
		}
		require.NoError(t, db.Read(t.Context(), look))
		if o.Engine == "sqlite" {
			o.Session = []string{"ATTACH '" + foreignDSN(t, "sqlite") + "' AS beside"}
			require.NoError(t, openForeign(t, o).Read(t.Context(), func(c Conn) error {
				got, err := TypesOf(t.Context(), c, "SELECT x FROM beside.there")
				require.Equal(t, []ResultColumn{{Name: "x"}}, got)
				return err
			}))
		}
		require.NoError(t, db.Snapshot(t.Context(), look))
		for _, wrong := range []string{"SELECT gone FROM kinds", "SELECT 1 AS x FROM gone"} {
			require.NoError(t, db.Read(t.Context(), func(c Conn) error {
				_, err := TypesOf(t.Context(), c, wrong)
				f, ok := FaultOf(err)
				require.True(t, ok)
				require.Equal(t, FaultSchema, f.Class)
				return nil
			}))
		}
	})
}
