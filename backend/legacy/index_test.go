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
		asked, _, _, err := session{Store: x.Store, conn: c}.asked(t.Context(), tab, backend.Query{Client: one, Filters: []backend.Filter{f}})
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
