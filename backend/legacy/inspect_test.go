package legacy

import (
	"fmt"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
)

const inspectedSheet = `client: adm
rules: backend
resources:
  contact: {table: i_rel, key: {columns: id, generated: identity},
    fields: {kind: {constant: person}, name: naam}}
`

// inspected are tables with all that is read of them.
func inspected(engine string) []string {
	identity := map[string]string{"sqlite": "integer PRIMARY KEY", "postgres": "integer GENERATED ALWAYS AS IDENTITY PRIMARY KEY", "mariadb": "integer AUTO_INCREMENT PRIMARY KEY"}[engine]
	all := []string{
		"CREATE TABLE i_rel (id " + identity + ", adm integer NOT NULL, naam varchar(40) NOT NULL DEFAULT '', kvk varchar(8), saldo decimal(9, 3), CONSTRAINT ck_i CHECK (kvk <> naam), CONSTRAINT uq_i UNIQUE (adm, kvk))",
		"CREATE TABLE i_ord (adm integer NOT NULL, nr integer NOT NULL, rel integer, PRIMARY KEY (adm, nr), CONSTRAINT fk_i FOREIGN KEY (rel) REFERENCES i_rel (id))",
		"CREATE TABLE i_log (adm integer, ord integer, CONSTRAINT fk_log FOREIGN KEY (adm, ord) REFERENCES i_ord (adm, nr) ON DELETE CASCADE)",
		"CREATE VIEW i_view AS SELECT id, naam FROM i_rel",
	}
	switch engine {
	case "sqlite":
		return append(all, "CREATE TRIGGER tr_i AFTER INSERT ON i_ord BEGIN SELECT 1; END")
	case "postgres":
		return append(all, "CREATE FUNCTION i_none() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN NEW; END'", "CREATE TRIGGER tr_i AFTER INSERT ON i_ord FOR EACH ROW EXECUTE FUNCTION i_none()")
	default:
		return append(all, "CREATE TRIGGER tr_i AFTER INSERT ON i_ord FOR EACH ROW SET @i = 1")
	}
}

func TestInspect(t *testing.T) {
	eachEngine(t, func(t *testing.T, engine string) {
		x := onTables(t, engine, inspectedSheet, inspected(engine)...)
		s, err := x.inspect(t.Context())
		require.NoError(t, err)
		require.NotEmpty(t, s.version)
		require.Equal(t, s.version, x.Capabilities().Version)
		rel := s.Table("I_REL")
		require.NotNil(t, rel)
		require.Equal(t, []string{"id"}, rel.Primary)
		require.True(t, rel.Column("id").Generated)
		require.False(t, rel.Column("adm").Generated)
		name := rel.Column("naam")
		require.Equal(t, 40, name.Length)
		require.False(t, name.Nullable)
		require.NotEmpty(t, name.Default)
		require.True(t, rel.Column("kvk").Nullable)
		require.Equal(t, []int{9, 3}, []int{rel.Column("saldo").Precision, rel.Column("saldo").Scale})
		require.True(t, slices.ContainsFunc(rel.Indexes, func(i Index) bool { return i.Unique && slices.Equal(i.Columns, []string{"adm", "kvk"}) }))
		require.Len(t, rel.Checks, 1)
		require.Equal(t, "ck_i", rel.Checks[0].Name)
		require.ElementsMatch(t, []string{"kvk", "naam"}, rel.Checks[0].Columns)

		order := s.Table("i_ord")
		require.Equal(t, []string{"adm", "nr"}, order.Primary)
		require.Len(t, order.Triggers, 1)
		require.Len(t, order.Foreign, 1)
		require.Equal(t, []string{"rel"}, order.Foreign[0].Columns)
		require.Equal(t, "i_rel", order.Foreign[0].Table)
		require.True(t, order.Foreign[0].Refuses)
		log := s.Table("i_log")
		require.Equal(t, []string{"adm", "nr"}, log.Foreign[0].References)
		require.False(t, log.Foreign[0].Refuses)
		require.True(t, s.Table("i_view").View)
		require.Equal(t, 40, s.Table("i_view").Column("naam").Length)
	})
}

// TestCollationsOfSQLite: how texts of a column compare is what the engine finds equal. Before, a
// column without an index and one of a view had no collation, and one with an index that has another
// had that.
func TestCollationsOfSQLite(t *testing.T) {
	x := onTables(t, "sqlite", inspectedSheet, append(inspected("sqlite"),
		"CREATE TABLE v_soort (a varchar(8), b varchar(8) COLLATE NOCASE, c varchar(8) COLLATE RTRIM, d COLLATE RTRIM, e varchar(8) COLLATE RTRIM PRIMARY KEY)",
		"CREATE INDEX v_soort_a ON v_soort (a COLLATE NOCASE)", "CREATE INDEX v_soort_b ON v_soort (b COLLATE BINARY)", "INSERT INTO v_soort VALUES ('a', 'a', 'a', 'a', 'a')",
		"CREATE VIEW v_soorten AS SELECT a, b, c, d, e, c || '' AS f FROM v_soort")...)
	s, err := x.inspect(t.Context())
	require.NoError(t, err)
	for _, name := range []string{"v_soort", "v_soorten"} {
		for _, c := range s.Table(name).Columns {
			equal := func(text string) bool {
				return x.one(fmt.Sprintf("SELECT COUNT(*) FROM %s WHERE %s = '%s'", name, c.Name, text)) == "1"
			}
			require.Equal(t, equal("A"), c.IgnoresCase, "case in %s.%s", name, c.Name)
			require.Equal(t, !equal("a "), c.CountsBlanks, "blanks in %s.%s", name, c.Name)
		}
	}
}
