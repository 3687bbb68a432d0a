package legacy

import (
	"context"
	"fmt"
	"reflect"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"frontdesk/auth"
	"frontdesk/backend/drivertest"
	"frontdesk/backend/sqlrecord"
	"frontdesk/mapping"
	"frontdesk/mapping/sheet"
)

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
