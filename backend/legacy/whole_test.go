package legacy

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"frontdesk/backend"
	"frontdesk/mapping"
)

// stockSheet has articles of which the sheet hides some after they were read; %s are
// the engine, and the order of its lists.
const stockSheet = `
format: 1
source: {sql: {engine: %s, dsn: "${DEALERPAK_DSN}"}}
keep: keep.db
without_rules: []
accounts: {users: []}
resources:
  turnovergroup:
    table: w_groep
    key: {columns: nr, id: kept, generated: supplied}
    client: ""
    fields: {code: code, description: oms, vat_kind: {constant: high}, ledger_account: {constant: "8000"}}
    operations: {only: [get, list, delete]}
  article:
    table: w_art
    key: {columns: nr, id: kept, generated: supplied}
    client: adm
    hidden: row.weg == 'J'
    %s
    fields: {number: nr, description: oms, turnover_group_id: groep, article_kind: {constant: part}, unit_type: {constant: piece}}
    operations: {only: [get, list]}
`

// article is a row of the stock, as the test itself knows it.
type article struct {
	nr, oms, groep string
	adm            int64
	hidden         bool
}

// stock opens a database with articles: hidden ones in a row, first, last, and all of a
// group; and others' between them.
func stock(t *testing.T, engine, order string) (*fixture, []article) {
	t.Helper()
	dsn := engines[engine](t)
	base := openOn(t, engine, dsn)
	run := func(statement string) {
		_, err := base.db.ExecContext(t.Context(), statement)
		require.NoError(t, err, statement)
	}
	run("CREATE TABLE w_groep (nr varchar(4) NOT NULL PRIMARY KEY, code varchar(4) NOT NULL, oms varchar(20) NOT NULL)")
	run("CREATE TABLE w_art (nr varchar(8) NOT NULL PRIMARY KEY, oms varchar(20) NOT NULL, groep varchar(4) NOT NULL, adm integer NOT NULL, weg char(1) NOT NULL)")
	for _, group := range []string{"A", "B", "C"} {
		run(fmt.Sprintf("INSERT INTO w_groep VALUES ('%s', '%[1]s', 'group')", group))
	}
	var all []article
	for i := range 60 {
		a := article{nr: fmt.Sprintf("N%03d", i*37%60), oms: fmt.Sprintf("D%d", i%7), groep: "A", adm: 1}
		switch {
		case i%11 == 5:
			a.adm = 2
		case i < 15 || i%4 == 0 || i > 52:
			a.hidden = true
		}
		if i == 3 || i == 16 {
			a.groep = map[bool]string{true: "B", false: "C"}[a.hidden]
		}
		all = append(all, a)
	}
	all = append(all, article{nr: "M000", oms: "D9", groep: "C", adm: 1, hidden: true}, article{nr: "Z999", oms: "D9", groep: "C", adm: 1})
	for _, a := range all {
		gone := map[bool]string{true: "J", false: "N"}[a.hidden]
		run(fmt.Sprintf("INSERT INTO w_art VALUES ('%s', '%s', '%s', %d, '%s')", a.nr, a.oms, a.groep, a.adm, gone))
	}
	require.NoError(t, base.Close())
	file := filepath.Join(t.TempDir(), "stock.yaml")
	require.NoError(t, os.WriteFile(file, fmt.Appendf(nil, stockSheet, engine, order), 0o600))
	model, err := mapping.LoadModel("")
	require.NoError(t, err)
	c := newClock()
	x := openSheet(t, engine, dsn, loadSheetFile(t, file, model, dsn, c.Now), c)
	t.Cleanup(func() { require.NoError(t, x.Close()) })
	return x, slices.DeleteFunc(all, func(a article) bool { return a.hidden || a.adm != 1 })
}

// TestListsAreWhole walks lists of which the sheet hides rows, by page and by after, in
// pages of any size. Before, rows were hidden after the LIMIT: pages were short, the last
// was said to be reached early, total counted what nobody saw, and a fixed order had
// after skip and repeat records.
func TestListsAreWhole(t *testing.T) {
	for _, engine := range []string{"mariadb", "postgres", "sqlite"} {
		for name, order := range map[string]string{"by key": "", "in an order": "order: [oms]"} {
			t.Run(engine+"/"+name, func(t *testing.T) {
				x, all := stock(t, engine, order)
				r := x.model.Resource("article")
				byKey := func(a, b article) int { return cmpText(a.nr, b.nr) }
				listed := slices.SortedFunc(slices.Values(all), byKey)
				if order != "" {
					slices.SortStableFunc(listed, func(a, b article) int { return cmpText(a.oms, b.oms) })
				}
				rapid.Check(t, func(rt *rapid.T) {
					q := backend.Query{Client: one, Limit: rapid.IntRange(1, 70).Draw(rt, "size"), Keyset: rapid.Bool().Draw(rt, "after"), Total: rapid.Bool().Draw(rt, "total")}
					want := slices.Clone(listed)
					if q.Keyset {
						slices.SortFunc(want, byKey)
					}
					if group := rapid.SampledFrom([]string{"", "D1", "D9", "D77"}).Draw(rt, "description"); group != "" {
						q.Filters = []backend.Filter{{Field: r.Field("description"), Value: mapping.TextValue(group)}}
						want = slices.DeleteFunc(want, func(a article) bool { return a.oms != group })
					}
					var got []string
					for {
						page := x.list(q, "article")
						for _, rec := range page.Records {
							got = append(got, rec.Get("number").Text())
						}
						if q.Total {
							require.EqualValues(rt, len(want), page.Total)
						}
						require.Equal(rt, len(got) < len(want), page.More)
						if !page.More {
							break
						}
						require.Len(rt, page.Records, q.Limit)
						if q.Keyset {
							q.After = page.Records[len(page.Records)-1].ID()
						} else {
							q.Offset += q.Limit
						}
					}
					require.Equal(rt, len(want), len(got))
					for i := range want {
						require.Equal(rt, want[i].nr, got[i])
					}
				})
			})
		}
	}
}

func cmpText(a, b string) int { return b2i(a > b) - b2i(a < b) }

// TestUseByWhatComesAfterTheHidden: before, the one row that was looked at was a hidden
// one, and a group in use could be deleted.
func TestUseByWhatComesAfterTheHidden(t *testing.T) {
	for _, engine := range []string{"mariadb", "postgres", "sqlite"} {
		t.Run(engine, func(t *testing.T) {
			x, _ := stock(t, engine, "")
			ids := map[string]int32{}
			for _, rec := range x.all(one, "turnovergroup") {
				ids[rec.Get("code").Text()] = rec.ID()
			}
			err := x.tryDelete(one, "turnovergroup", ids["C"])
			require.True(t, mapping.Is(err, mapping.InUse), "%v", err)
		})
	}
}
