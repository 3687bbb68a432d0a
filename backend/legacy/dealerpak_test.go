package legacy

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"frontdesk/auth"
	"frontdesk/backend"
	"frontdesk/backend/legacy/legacytest"
	"frontdesk/mapping"
)

// dealerpaks make a database with DEALERPAK on each engine.
var dealerpaks = map[string]func(testing.TB) string{"mariadb": legacytest.MariaDB, "postgres": legacytest.Postgres, "sqlite": legacytest.SQLite}

// onDealerpak runs f against DEALERPAK on each engine.
func onDealerpak(t *testing.T, f func(t *testing.T, x *tables)) {
	eachEngine(t, func(t *testing.T, engine string) { f(t, dealerpak(t, engine)) })
}

// onServers runs f against DEALERPAK where it has triggers and procedures.
func onServers(t *testing.T, f func(t *testing.T, x *tables)) {
	for _, engine := range []string{"mariadb", "postgres"} {
		t.Run(engine, func(t *testing.T) { f(t, dealerpak(t, engine)) })
	}
}

func dealerpak(t *testing.T, engine string) *tables {
	t.Helper()
	return onDealerpakAt(t, engine, dealerpaks[engine](t))
}

func onDealerpakAt(t *testing.T, engine, dsn string) *tables {
	t.Helper()
	return onMade(t, engine, dsn, dealerpakSheet(t, engine))
}

func dealerpakSheet(t *testing.T, engine string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("testdata", "dealerpak", engine+".yaml"))
	require.NoError(t, err)
	return string(text)
}

// spelled has # in SQL stand for the quote that DEALERPAK's names in capitals need.
func (x *tables) spelled(sql string) string {
	return strings.ReplaceAll(sql, "#", map[string]string{"postgres": `"`}[x.engine])
}

// cell is one value in the database, without the blanks that pad it.
func (x *tables) cell(query string) string {
	x.t.Helper()
	return strings.TrimRight(x.one(x.spelled(query)), " ")
}

func (x *tables) tryGet(client auth.Client, resource string, id int32) (mapping.Record, error) {
	return x.front.Get(x.t.Context(), x.model.Resource(resource), backend.Query{Client: client, ID: id})
}

func (x *tables) page(q backend.Query, resource string) backend.Page {
	x.t.Helper()
	page, err := x.front.List(x.t.Context(), x.model.Resource(resource), q)
	require.NoError(x.t, err)
	return page
}

// by lists the records of a filter.
func (x *tables) by(resource, field string, o mapping.Operator, v mapping.Value) []int32 {
	x.t.Helper()
	by := backend.Filter{Field: x.model.Resource(resource).Field(field), Op: o, Value: v}
	if o == mapping.AnyOf {
		by.Value, by.Values = mapping.Value{}, []mapping.Value{v}
	}
	page := x.page(backend.Query{Client: one, Total: true, Filters: []backend.Filter{by}}, resource)
	require.EqualValues(x.t, len(page.Records), page.Total)
	return ids(page.Records)
}

func ids(records []mapping.Record) (all []int32) {
	for _, rec := range records {
		all = append(all, rec.ID())
	}
	return all
}

// newRecords are those of testdata/scripts/dealerpak.records: what a record of each resource is
// created with, and changed by.
func newRecords(x *tables) map[string][2]mapping.Record {
	text, err := os.ReadFile("testdata/scripts/dealerpak.records")
	require.NoError(x.t, err)
	p, all := &play{tables: x, t: x.t, who: one}, map[string][2]mapping.Record{}
	for line := range strings.Lines(string(text)) {
		if name, fields, _ := strings.Cut(strings.TrimSpace(line), ": "); !strings.HasPrefix(line, "#") {
			rec := x.record(name, p.pairs(strings.ReplaceAll(fields, `\n`, "\n"))...)
			first, there := all[name]
			if !there {
				first[0] = rec
			}
			all[name] = [2]mapping.Record{first[0], rec}
		}
	}
	return all
}
