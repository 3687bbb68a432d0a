package legacy

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"frontdesk/auth"
	"frontdesk/backend"
	"frontdesk/backend/drivertest"
	"frontdesk/backend/sqlrecord"
	"frontdesk/mapping"
	"frontdesk/mapping/sheet"
)

// alike compares values as databases do: without regard to case, and to blanks behind, where the collation says so.
func alike(f *mapping.Field, a, b mapping.Value) bool {
	if f.IgnoreDashes {
		return mapping.BarePlate(a.Text()) == mapping.BarePlate(b.Text())
	}
	return a == b || a.Kind() == mapping.KindText && strings.EqualFold(strings.TrimRight(a.Text(), " "), strings.TrimRight(b.Text(), " "))
}

func TestEveryFilterFindsWhatIsShown(t *testing.T) {
	onDealerpak(t, func(t *testing.T, x *tables) {
		for _, r := range x.model.Resources {
			all := x.list(one, r.Name)
			for i := range r.Fields {
				f := &r.Fields[i]
				if !f.Filterable() {
					continue
				}
				seen := map[string]bool{}
				for _, rec := range all {
					v := rec.Values[i]
					if seen[v.String()] || len(seen) > 5 {
						continue
					}
					seen[v.String()] = true
					q := backend.Query{Client: one, Total: true, Filters: []backend.Filter{{Field: f, Value: v}}}
					if f.ReferenceBy != "" {
						by := r.Field(f.ReferenceBy)
						q.Filters = append(q.Filters, backend.Filter{Field: by, Value: rec.Values[by.Index]})
					}
					want := 0
					for _, other := range all {
						if alike(f, other.Values[i], v) && (f.ReferenceBy == "" || other.Get(f.ReferenceBy) == rec.Get(f.ReferenceBy)) {
							want++
						}
					}
					page := x.page(q, r.Name)
					require.EqualValues(t, want, page.Total, "%s.%s = %s", r.Name, f.Name, v)
					require.Len(t, page.Records, want, "%s.%s = %s", r.Name, f.Name, v)
				}
			}
		}
	})
}

func TestListWithoutVersions(t *testing.T) {
	x := dealerpak(t, "sqlite")
	for _, r := range x.model.Resources {
		all, bare := x.list(one, r.Name), x.page(backend.Query{Client: one, Unversioned: true}, r.Name).Records
		require.Len(t, bare, len(all))
		for i, rec := range bare {
			require.NotZero(t, all[i].Version)
			require.Zero(t, rec.Version)
			rec.Version = all[i].Version
			require.Equal(t, all[i], rec)
		}
	}
}

// requirePages puts a list together of its pages, four or more.
func requirePages(t testing.TB, x *tables, resource string, q backend.Query, whole []mapping.Record) {
	t.Helper()
	var got []int32
	q.Limit = max(1, len(whole)/4)
	for more := true; more; q.Offset += q.Limit {
		page := x.page(q, resource)
		got, more = append(got, ids(page.Records)...), page.More
	}
	require.Equal(t, ids(whole), got, "%s by %s", resource, q.Sort[0].Field.Name)
}

// TestListsEndWhereThereIsNoRoom: a page by ID ends before, and another one is refused.
func TestListsEndWhereThereIsNoRoom(t *testing.T) {
	errFull := errors.New("no room")
	onDealerpak(t, func(t *testing.T, x *tables) {
		q := backend.Query{Client: one, Keyset: true, Limit: 1000, Room: func(bytes, _ int) error {
			if bytes > 300 {
				return errFull
			}
			return nil
		}}
		var got []int32
		for pages := 1; ; pages++ {
			page := x.page(q, "contact")
			got = append(got, ids(page.Records)...)
			if !page.More {
				require.Greater(t, pages, 5)
				break
			}
			q.After = got[len(got)-1]
		}
		require.Equal(t, ids(x.list(one, "contact")), got)
		q.Keyset, q.After = false, 0
		_, err := x.front.List(t.Context(), x.model.Resource("contact"), q)
		require.ErrorIs(t, err, errFull)
	})
}

// walksInOrder reads all records page by page, up and down by a field, and compares them with what the field shows.
// Those of one value are by their IDs, unless the database has them finer.
func (x *tables) walksInOrder(r *mapping.Resource, f *mapping.Field, finer bool) {
	x.t.Helper()
	for _, descending := range []bool{false, true} {
		compare := func(a, b mapping.Record) int {
			c := compareValues(f, a.Values[f.Index], b.Values[f.Index])
			if descending {
				c = -c
			}
			return c
		}
		q := backend.Query{Client: one, Sort: []backend.Order{{Field: f, Descending: descending}}}
		want := x.list(one, r.Name)
		if slices.SortStableFunc(want, compare); finer {
			want = x.page(q, r.Name).Records
			require.True(x.t, slices.IsSortedFunc(want, compare), "%s by %s", r.Name, f.Name)
		}
		requirePages(x.t, x, r.Name, q, want)
	}
}

// compareValues orders two values of a field, of which null is the least.
func compareValues(f *mapping.Field, a, b mapping.Value) int {
	above := func(a, b mapping.Value) int {
		return b2i(backend.Filter{Field: f, Op: mapping.Above, Value: b}.Matches(a))
	}
	switch {
	case !a.IsSet() || !b.IsSet():
		return b2i(a.IsSet()) - b2i(b.IsSet())
	case a.Kind() == mapping.KindText:
		return strings.Compare(a.Text(), b.Text())
	default:
		return above(a, b) - above(b, a)
	}
}

// findsShown filters by each value that is shown of some fields, and reads all in their order.
func (x *tables) findsShown(resource string, fields ...string) {
	x.t.Helper()
	all := x.list(one, resource)
	for _, name := range fields {
		x.walksInOrder(all[0].Resource, all[0].Resource.Field(name), true)
		for _, rec := range all {
			f := rec.Resource.Field(name)
			x.findsBy(f, rec.Values[f.Index], all)
		}
	}
}

// findsBy filters by a value itself, and by the ranges that begin and end at it.
func (x *tables) findsBy(f *mapping.Field, v mapping.Value, all []mapping.Record) {
	x.t.Helper()
	resource := all[0].Resource
	for _, o := range []mapping.Operator{mapping.Equals, mapping.AtLeast, mapping.Above, mapping.AtMost, mapping.Below} {
		if o != mapping.Equals && (!v.IsSet() || !f.FilterableBy(o)) {
			continue
		}
		var want []int32
		for _, other := range all {
			if (backend.Filter{Field: f, Op: o, Value: v}).Matches(other.Values[f.Index]) {
				want = append(want, other.ID())
			}
		}
		require.Equal(x.t, want, x.by(resource.Name, f.Name, o, v), fmt.Sprint(f.Name, o, v))
	}
}

const stockSheet = `keep: keep.db
without_rules: []
resources:
  turnovergroup: {table: w_groep, key: {columns: nr, id: kept, generated: supplied}, client: "", operations: {only: [get, list, delete]},
    fields: {code: code, description: oms, vat_kind: {constant: high}, ledger_account: {constant: "8000"}}}
  article: {table: w_art, key: {columns: nr, id: kept, generated: supplied}, client: adm, where: weg <> 'J', operations: {only: [get, list]},
    fields: {number: nr, description: oms, turnover_group_id: groep, article_kind: {constant: part}, unit_type: {constant: piece}}}
`

// stock is a database with articles by a text: hidden ones in a row, first, last, and all of a
// group; and others' between them. It is the oracle of itself.
type stock struct{ *tables }

func openStock(t *testing.T, engine string) stock {
	t.Helper()
	text := "varchar(20) NOT NULL"
	if engine == "mariadb" { // compared by its letters, as the walk does
		text = "varchar(20) CHARACTER SET utf8mb4 COLLATE utf8mb4_nopad_bin NOT NULL"
	}
	statements := []string{
		"CREATE TABLE w_groep (nr " + text + " PRIMARY KEY, code " + text + ", oms " + text + ")",
		"CREATE TABLE w_art (nr " + text + " PRIMARY KEY, oms " + text + ", groep " + text + ", adm integer NOT NULL, weg char(1) NOT NULL)",
		"INSERT INTO w_groep VALUES ('A', 'A', 'group'), ('B', 'B', 'group'), ('C', 'C', 'group')",
		"INSERT INTO w_art VALUES ('M000', 'D9', 'C', 1, 'J'), ('Z999', 'D9', 'C', 1, 'N')",
	}
	for i := range 60 {
		adm, groep, weg := 1, "A", "N"
		if i < 15 || i%4 == 0 || i > 52 {
			weg = "J"
		}
		if i%11 == 5 {
			adm, weg = 2, "N"
		}
		if i == 3 {
			groep = "B"
		}
		statements = append(statements, fmt.Sprintf("INSERT INTO w_art VALUES ('N%03d', 'D%d', '%s', %d, '%s')", i*37%60, i%7, groep, adm, weg))
	}
	return stock{onTables(t, engine, stockSheet, statements...)}
}

// Rows implements drivertest.Oracle.
func (s stock) Rows(ctx context.Context, resource string) (rows []drivertest.Row, err error) {
	query := "SELECT nr, oms, groep, adm, weg FROM w_art ORDER BY nr"
	if resource == "turnovergroup" {
		query = "SELECT nr, oms, code, 0, 'N' FROM w_groep ORDER BY nr"
	}
	texts := []sqlrecord.Column{foreignText, foreignText, foreignText, foreignText, foreignText}
	err = s.db.Read(ctx, func(c sqlrecord.Conn) error {
		return c.Query(ctx, query, texts, nil, func(v []mapping.Value) error {
			row := drivertest.Row{Key: drivertest.Key(v[0].Text()), Client: asWhole(v[3]).Int(), Hidden: v[4].Text() == "J",
				Fields: map[string]any{"number": v[0].Text(), "description": v[1].Text(), "turnover_group_id": drivertest.Key(v[2].Text())}}
			if resource == "turnovergroup" {
				row.Client, row.Fields = mapping.OfAll, map[string]any{"code": v[2].Text(), "description": v[1].Text()}
			}
			rows = append(rows, row)
			return nil
		})
	})
	return rows, err
}

// meddle inserts, deletes, hides and shows articles.
func (s stock) meddle(t *rapid.T) {
	weg := rapid.SampledFrom([]string{"J", "N", "N"}).Draw(t, "weg")
	if rapid.Bool().Draw(t, "there already") {
		s.exec(fmt.Sprintf("UPDATE w_art SET weg = '%s' WHERE nr = 'N%03d'", weg, rapid.IntRange(0, 59).Draw(t, "nr")))
		return
	}
	n := rapid.IntRange(0, 49).Draw(t, "nr")
	nr := fmt.Sprintf("%c%02d", "LZ"[n%2], n)
	s.exec("DELETE FROM w_art WHERE nr = '" + nr + "'")
	if rapid.IntRange(0, 2).Draw(t, "insert") > 0 {
		s.exec(fmt.Sprintf("INSERT INTO w_art VALUES ('%s', 'D%d', 'A', %d, '%s')", nr, rapid.IntRange(0, 9).Draw(t, "oms"), 1+n%3/2, weg))
	}
}

// TestListsAreWhole walks lists of kept IDs, of which the sheet hides rows.
func TestListsAreWhole(t *testing.T) {
	eachEngine(t, func(t *testing.T, engine string) {
		s := openStock(t, engine)
		(&drivertest.Walk{
			Client: s.front, Oracle: s, Clients: []auth.Client{one, two}, Resources: []string{"turnovergroup", "article"},
			ByKey: func(_ string, a, b drivertest.Key) int { return strings.Compare(string(a), string(b)) }, Meddle: s.meddle,
		}).Run(t)
		for _, rec := range s.list(one, "turnovergroup") {
			if err := s.tryDelete(one, "turnovergroup", rec.ID()); rec.Get("code").Text() == "C" {
				require.True(t, mapping.Is(err, mapping.InUse), "behind a hidden one: %v", err)
			}
		}
	})
}

// TestEngines: a sheet takes the engines that there are.
func TestEngines(t *testing.T) {
	var names []string
	for _, d := range sqlrecord.Engines() {
		names = append(names, d.Name)
	}
	engine, _ := reflect.TypeFor[sheet.SQL]().FieldByName("Engine")
	require.Equal(t, "required; enum="+strings.Join(names, "|"), engine.Tag.Get("schema"))
}

// TestSorts: what an engine's types are to comparisons.
func TestSorts(t *testing.T) {
	for _, c := range []struct {
		engine *sqlrecord.Dialect
		column string
		sort   sqlrecord.Sort
	}{
		{sqlrecord.Postgres(), "bit", sqlrecord.Others}, {sqlrecord.Postgres(), "timestamp", sqlrecord.Clocks}, {sqlrecord.Postgres(), "timestamp with time zone", sqlrecord.Instants}, {sqlrecord.MySQL(), "tinyint", sqlrecord.Integers}, {sqlrecord.Postgres(), "point", sqlrecord.Others},
		{sqlrecord.Postgres(), "money", sqlrecord.Others}, {sqlrecord.MySQL(), "set", sqlrecord.Texts}, {sqlrecord.Postgres(), "double precision", sqlrecord.Floats}, {sqlrecord.MySQL(), "longblob", sqlrecord.Binaries}, {sqlrecord.SQLite(), "", ""},
	} {
		require.Equal(t, c.sort, c.engine.SortOf(c.column), "%s of %s", c.column, c.engine.Name)
	}
}
