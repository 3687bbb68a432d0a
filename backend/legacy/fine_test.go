package legacy

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"frontdesk/backend"
	"frontdesk/mapping"
)

// fineSheet has moments and numbers that are finer than clients see them, and a price
// that is each client's own.
const fineSheet = `
format: 1
source: {sql: {engine: ENGINE, dsn: "${DEALERPAK_DSN}"}}
time_zone: UTC
accounts: {users: []}
without_rules: []
resources:
  article:
    table: w_fine
    key: {columns: nr}
    client: ""
    operations: {only: [get, list]}
    fields:
      number: code
      description: {constant: x}
      article_kind: {constant: part}
      unit_type: {constant: piece}
      turnover_group_id: {absent: true}
      purchase_price: cost
      stock: {from: stock, readonly: true}
      price: {sql: "(SELECT amount FROM w_price p WHERE p.nr = w_fine.nr AND p.adm = :client)"}
      created_at: {from: made, type: datetime}
      modified_at: {from: iso, format: iso8601}
  contact:
    table: w_flag
    key: {columns: nr}
    client: ""
    operations: {only: [get, list]}
    fields:
      number: nr
      kind: {constant: person}
      name: {constant: x}
      language: {constant: nl}
      payment_days: {from: flag, type: boolean}
`

func openFine(t *testing.T, engine string) *fixture {
	t.Helper()
	moment, double := map[string]string{"mariadb": "datetime(6)", "postgres": "timestamp(6)", "sqlite": "datetime"}[engine], "double precision"
	single := map[string]string{"mariadb": "float", "postgres": "real", "sqlite": "real"}[engine]
	return openTables(t, engine, strings.Replace(fineSheet, "ENGINE", engine, 1),
		"CREATE TABLE w_fine (nr integer NOT NULL PRIMARY KEY, code varchar(4) NOT NULL, cost "+double+", stock "+single+", made "+moment+", iso "+moment+")",
		"CREATE TABLE w_price (nr integer NOT NULL, adm integer NOT NULL, amount numeric(12,2))",
		`INSERT INTO w_fine (nr, code, cost, stock, made) VALUES (1, 'A', 3.33333333, 1234.56, '2026-07-01 10:00:00.123456'), (2, 'B', 3.33335, 1234.56, '2026-07-01 10:00:00.123999'), (3, 'C', 3.33325, 6, '2026-07-01 10:00:00.124'),
			(4, 'D', -3.33333333, 0, '2026-07-01 10:00:00.122999'), (5, 'E', -3.33335, -4321.1, '2026-07-01 10:00:00'), (6, 'F', 0.00001, 0.00005, '2026-07-01 10:00:01'),
			(7, 'G', -0.00001, 0.1, NULL), (8, 'H', 0, 123456789, NULL), (9, 'I', NULL, NULL, '2026-07-01 09:59:59.999999')`,
		"UPDATE w_fine SET iso = "+map[string]string{"mariadb": "made", "postgres": "made", "sqlite": "REPLACE(made, ' ', 'T')"}[engine],
		"CREATE TABLE w_flag (nr integer NOT NULL PRIMARY KEY, flag "+map[string]string{"mariadb": "tinyint(1)", "postgres": "smallint", "sqlite": "boolean"}[engine]+")",
		"INSERT INTO w_flag VALUES (1, 0), (2, 1), (3, 3), (4, -1)",
		"INSERT INTO w_price VALUES (1, 1, 30), (2, 1, 20), (3, 1, 10), (1, 2, 10), (2, 2, 20)")
}

// TestFilterFindsWhatIsShown: before, a filter by a moment or a number as it is shown
// found nothing where the database has more digits, or counts in 32 bits.
func TestFilterFindsWhatIsShown(t *testing.T) {
	eachEngine(t, func(t *testing.T, engine string) {
		x := openFine(t, engine)
		require.Len(t, x.all(one, "article"), 9)
		x.findsShown("article", "purchase_price", "stock", "created_at", "modified_at")
		since := x.get(one, "article", 5).Get("modified_at") // of a whole second
		require.Equal(t, []int32{1, 2, 3, 4, 5, 6}, ids(x.list(backend.Query{Client: one, ModifiedSince: since}, "article").Records))
		if engine != "postgres" {
			x.findsFlags()
		}
	})
}

// findsShown filters by each value that is shown of some fields: by itself, and by the ranges that
// begin and end at it.
func (x *fixture) findsShown(resource string, fields ...string) {
	x.t.Helper()
	all := x.all(one, resource)
	for _, name := range fields {
		f := x.model.Resource(resource).Field(name)
		for _, rec := range all {
			v := rec.Values[f.Index]
			for _, o := range []mapping.Operator{mapping.Equals, mapping.AtLeast, mapping.Above, mapping.AtMost, mapping.Below} {
				if !v.IsSet() && o != mapping.Equals {
					continue
				}
				by := backend.Filter{Field: f, Op: o, Value: v}
				var want, got []int32
				for _, other := range all {
					of := other.Values[f.Index]
					if o == mapping.Equals && of == v || o != mapping.Equals && of.IsSet() && by.Matches(of) {
						want = append(want, other.ID())
					}
				}
				for _, found := range x.list(backend.Query{Client: one, Filters: []backend.Filter{by}}, resource).Records {
					got = append(got, found.ID())
				}
				require.Equal(x.t, want, got, "%s %v %s", name, o, v)
			}
		}
	}
}

// findsFlags: a boolean column of an engine that has none holds numbers, and each is found as it is
// shown.
func (x *fixture) findsFlags() {
	x.t.Helper()
	f := x.model.Resource("contact").Field("payment_days")
	shown := map[int32]mapping.Value{}
	for _, rec := range x.all(one, "contact") {
		shown[rec.ID()] = rec.Values[f.Index]
	}
	require.Equal(x.t, map[int32]mapping.Value{1: mapping.IntValue(0), 2: mapping.IntValue(1), 3: mapping.IntValue(3), 4: mapping.IntValue(-1)}, shown)
	for id, v := range shown {
		for _, by := range []backend.Filter{{Field: f, Value: v}, {Field: f, Op: mapping.AnyOf, Values: []mapping.Value{v, mapping.IntValue(7)}}} {
			found := x.list(backend.Query{Client: one, Filters: []backend.Filter{by}}, "contact").Records
			require.Len(x.t, found, 1, "%v %s", by.Op, v)
			require.Equal(x.t, id, found[0].ID())
		}
	}
}

// TestClientInComputedField: before, SQL of the sheet that asks for the client could be
// read, and failed where it was sorted or filtered by.
func TestClientInComputedField(t *testing.T) {
	eachEngine(t, func(t *testing.T, engine string) {
		x := openFine(t, engine)
		price := x.model.Resource("article").Field("price")
		ids := func(q backend.Query) (ids []int32) {
			for _, rec := range x.list(q, "article").Records {
				ids = append(ids, rec.ID())
			}
			return ids
		}
		by := []backend.Order{{Field: price, Descending: true}}
		require.Equal(t, []int32{1, 2, 3}, ids(backend.Query{Client: one, Sort: by, Limit: 3}))
		require.Equal(t, []int32{2, 1}, ids(backend.Query{Client: two, Sort: by, Limit: 2}))
		ten := []backend.Filter{{Field: price, Value: mapping.DecimalValue(100000, 4)}}
		require.Equal(t, []int32{3}, ids(backend.Query{Client: one, Filters: ten}))
		require.Equal(t, []int32{1}, ids(backend.Query{Client: two, Filters: ten}))
	})
}
