package legacy

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"frontdesk/backend"
	"frontdesk/backend/legacy/foreigntest"
	"frontdesk/backend/sqlrecord"
	"frontdesk/backend/sqlrecord/sqltest"
	"frontdesk/mapping"
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

// indexed counts the filters, by a value and by a range, that a column is behind, and those of
// which the engine says that an index over that column does not serve them, as it would serve a
// comparison with the column itself.
type indexed struct {
	all  int
	lost []string
}

// count makes an index for each field, and asks for plans.
func (i *indexed) count(t *testing.T, x *fixture) {
	t.Helper()
	for _, r := range x.model.Resources {
		tab := x.view.Load().tables[r]
		if tab.Target == nil {
			continue
		}
		page, err := x.front.List(t.Context(), r, backend.Query{Client: one, Limit: 100})
		require.NoError(t, err, r.Name)
		for at := range r.Fields {
			f := &r.Fields[at]
			column := columnBehind(tab, at)
			if column == "" || !f.Filterable() {
				continue
			}
			values := slices.DeleteFunc(slices.Collect(func(yield func(mapping.Value) bool) {
				for _, rec := range page.Records {
					if !yield(rec.Values[at]) {
						return
					}
				}
			}), func(v mapping.Value) bool { return !v.IsSet() || v.IsEmpty() })
			if len(values) == 0 {
				continue
			}
			i.ask(t, x, tab, f, column, values[0])
		}
	}
}

func (i *indexed) ask(t *testing.T, x *fixture, tab *Mapped, f *mapping.Field, column string, v mapping.Value) {
	t.Helper()
	on, owner := Qualified(x.d, x.source.Schema, tab.Target.Name), x.dsn
	name := fmt.Sprint("i_asked_", i.all)
	create := fmt.Sprintf("CREATE INDEX %s ON %s (%s)", name, on, x.d.Quote(column))
	if x.engine == "postgres" { // no other one can serve
		alone := "UPDATE pg_index SET indisvalid = (indexrelid = '" + name + "'::regclass) WHERE indrelid = '" + on + "'::regclass"
		require.NoError(t, sqltest.Execute(owner, create, alone))
		defer func() {
			require.NoError(t, sqltest.Execute(owner, "DROP INDEX "+name, "UPDATE pg_index SET indisvalid = true WHERE indrelid = '"+on+"'::regclass"))
		}()
	} else {
		run(t, x.engine, owner, create)
	}
	ops := []mapping.Operator{mapping.Equals}
	if f.FilterableBy(mapping.AtLeast) {
		ops = append(ops, mapping.AtLeast)
	}
	for _, op := range ops {
		i.all++
		if !serves(t, x, tab, name, backend.Filter{Field: f, Op: op, Value: v}) {
			i.lost = append(i.lost, fmt.Sprint(tab.Name, ".", f.Name, " ", op))
		}
	}
}

// serves asks the engine whether an index serves a filter. Of MariaDB those count that it
// could take: which one it takes depends on how much there is in the table.
func serves(t *testing.T, x *fixture, tab *Mapped, index string, f backend.Filter) (yes bool) {
	t.Helper()
	explain := map[string]string{"postgres": "EXPLAIN (FORMAT JSON) ", "mariadb": "EXPLAIN FORMAT=JSON "}[x.engine]
	require.NoError(t, x.db.Read(t.Context(), func(c sqlrecord.Conn) error {
		if x.engine == "postgres" {
			if _, err := c.Exec(t.Context(), "SET enable_seqscan = off"); err != nil {
				return err
			}
		}
		asked, _, _, err := session{Store: x.Store, conn: c}.translated(t.Context(), tab, backend.Query{Client: one, Filters: []backend.Filter{f}})
		require.NoError(t, err)
		text, args := tab.Rows.Count(x.d, x.Params(tab, one), asked)
		return c.Query(t.Context(), explain+text, []sqlrecord.Column{foreignText}, args, func(row []mapping.Value) error {
			said := row[0].Text()
			yes = yes || planned(index).MatchString(said)
			return nil
		})
	}))
	return yes
}

// planned finds the index in a plan, with what is looked up in it.
func planned(index string) *regexp.Regexp {
	return regexp.MustCompile(`"Index Name": "` + index + `",[^{}]*"Index Cond":|"possible_keys": \[[^]]*"` + index + `"`)
}

// columnBehind is the one column that a field is made of; "" where there is none, or several.
func columnBehind(t *Mapped, at int) string {
	c := &t.SQL.Fields[at]
	switch {
	case len(c.Names) == 1:
		return c.Names[0]
	case len(c.Names) > 1 || c.Read == "" || strings.Contains(strings.ToLower(c.Read), "select"):
		return ""
	}
	found := ""
	for _, col := range t.Target.Columns {
		if regexp.MustCompile(`(?i)(^|[^\w.])"?` + regexp.QuoteMeta(col.Name) + `"?($|[^\w(])`).MatchString(c.Read) {
			if found != "" {
				return ""
			}
			found = col.Name
		}
	}
	return found
}

// report wants at most one filter in five to lose its index.
func (i *indexed) report(t *testing.T) {
	t.Helper()
	t.Logf("%d of %d lose their index: %v", len(i.lost), i.all, i.lost)
	require.NotZero(t, i.all)
	require.LessOrEqual(t, 5*len(i.lost), i.all)
}

// TestFiltersKeepTheirIndexes asks the engines about the sheets of DEALERPAK.
func TestFiltersKeepTheirIndexes(t *testing.T) {
	onServers(t, func(t *testing.T, x *tables) {
		var i indexed
		i.count(t, x.fixture)
		i.report(t)
	})
}

// TestForeignFiltersKeepTheirIndexes asks the engines about the sheets of systems that nobody here wrote.
func TestForeignFiltersKeepTheirIndexes(t *testing.T) {
	for name, system := range map[string]func(testing.TB) *foreigntest.System{"northwind": foreigntest.Northwind, "sqlledger": foreigntest.SQLLedger, "tryton": foreigntest.Tryton, "kraft": foreigntest.Kraft} {
		t.Run(name, func(t *testing.T) {
			var i indexed
			i.count(t, openForeign(t, system(t)))
			i.report(t)
		})
	}
}
