package legacy

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"frontdesk/backend"
	"frontdesk/mapping"
	"frontdesk/mapping/sheet"
)

var update = flag.Bool("update", false, "write the golden files of Explain anew")

// explained is a Store without a connection.
func explained(t *testing.T, engine string) *Store {
	t.Helper()
	from := map[string]string{"sqlserver": "mariadb", "mysql": "mariadb"}[engine]
	if from == "" {
		from = engine
	}
	s := loadSheet(t, from, "not opened", newClock().Now)
	s.Source.SQL.Engine = engine
	if engine == "sqlserver" {
		s.Source.SQL.Schema = "dbo"
		for _, r := range s.Resources { // what MariaDB computes otherwise
			for i, p := range r.Places {
				if p.SQL != "" {
					r.Places[i].SQL = "CONVERT(char(64), HASHBYTES('SHA2_256', INHOUD), 2)"
				}
			}
		}
	}
	x, err := Explainer(Options{Sheet: s, IDStore: openIDStore(t, time.Now), Now: time.Now})
	require.NoError(t, err)
	return x
}

func TestExplain(t *testing.T) {
	for _, engine := range []string{"mariadb", "postgres", "sqlite", "sqlserver"} {
		t.Run(engine, func(t *testing.T) {
			x := explained(t, engine)
			var out strings.Builder
			for _, r := range x.sheet.Model.Resources {
				for _, op := range []mapping.Scope{mapping.OpGet, mapping.OpList, mapping.OpCreate, mapping.OpUpdate, mapping.OpDelete} {
					if !x.Supports(r, op) {
						continue
					}
					texts, err := x.Explain(r, op)
					require.NoError(t, err)
					fmt.Fprintf(&out, "-- %s %s\n%s;\n\n", op, r.Name, strings.Join(texts, ";\n"))
				}
			}
			requireGolden(t, filepath.Join("testdata", "explain", engine+".sql"), out.String())
		})
	}
}

func requireGolden(t *testing.T, file, got string) {
	t.Helper()
	if *update {
		require.NoError(t, os.MkdirAll(filepath.Dir(file), 0o755))
		require.NoError(t, os.WriteFile(file, []byte(got), 0o644))
	}
	want, err := os.ReadFile(file)
	require.NoError(t, err)
	require.Equal(t, string(want), got)
}

// TestSQLServerText shows what only SQL Server has a form of its own for, and
// what no server here tries: locks, pages, keys of new rows, out parameters.
func TestSQLServerText(t *testing.T) {
	x := explained(t, "sqlserver")
	d := x.d
	r := x.sheet.Model.Resource("order")
	tab := x.tables[r]
	s := session{Store: x}
	var out strings.Builder
	show := func(what string, b *statement) { fmt.Fprintf(&out, "-- %s\n%s;\n-- %v\n\n", what, b, b.args) }

	b := newStatement(d)
	tab.selected(b, one, false)
	q := backend.Query{Client: one, Limit: 10, Offset: 20, Filters: []backend.Filter{
		{Field: r.Field("order_status"), Value: mapping.TextValue("open")}, {Field: r.Field("reference"), Value: mapping.NullValue()},
		{Field: r.Field("order_date"), Value: mapping.TimeValue(newClock().Now())},
	}, ModifiedSince: mapping.TimeValue(newClock().Now())}
	possible, err := tab.match(b, q, nil, []sheet.Raw{intRaw(24001)})
	require.NoError(t, err)
	require.True(t, possible)
	tab.sorted(b, backend.Query{Sort: []backend.Order{{Field: r.Field("order_date"), Descending: true}}})
	d.page(b, q.Limit, q.Offset)
	show("list", b)

	show("held", s.byKeyText(tab, one, []sheet.Raw{intRaw(24001)}, true))
	b = newStatement(d)
	require.True(t, d.insert(b, "[dbo].[ORDRGL]", []string{"[BEDRNR]", "[OMS]", "[INHOUD]"}, []sheet.Raw{intRaw(1), textRaw("Één"), bytesRaw([]byte{0, 1})}, []string{"[BEDRNR]", "[RGLNR]"}))
	show("insert", b)
	b = newStatement(d)
	d.nextOf(b, "[dbo].[SEQ]")
	show("sequence", b)
	lines := &write{session: s, t: x.tables[x.sheet.Model.Resource("orderline")], client: one}
	show("highest", lines.nextText([]sheet.Raw{intRaw(1), intRaw(24001), {}}, 2))
	show("procedure", sqlserver{}.callText(call{name: "[dbo].[SP]", args: []sheet.Raw{intRaw(1), textRaw("W")}, out: []string{"ORDNR", "SRT"}, from: []int{-1, 1}}))
	show("procedure without out", sqlserver{}.callText(call{name: "[dbo].[SP]", args: []sheet.Raw{intRaw(1)}}))
	requireGolden(t, filepath.Join("testdata", "explain", "sqlserver_forms.sql"), out.String())
}
