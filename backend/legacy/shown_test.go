package legacy

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"frontdesk/backend"
	"frontdesk/mapping"
)

const shownSheet = `time_zone: Europe/Amsterdam
keep: keep.db
client: ""
without_rules: [license_plate, published]
resources:
`

// article and contact are the fields that both must have, and that a case does not speak of.
const (
	articleIs = "article_kind: {constant: part}, unit_type: {constant: piece}, turnover_group_id: {absent: true}"
	orderIs   = "kind: {constant: sales}, order_status: {constant: open}"
	contactIs = "kind: {constant: person}"
)

// shownCase is a table whose values have more than one form for what clients see. In its
// statements, and its sheet, TYPE is that of the engine.
type shownCase struct {
	name   string
	types  map[string]string // by engine
	tables []string
	sheet  string // the resources
	judge  func(t *testing.T, x *tables)
}

var shownCases = []shownCase{
	{"a number for a text", nil, []string{"CREATE TABLE v_num (nr integer NOT NULL PRIMARY KEY, num integer NOT NULL)", "INSERT INTO v_num VALUES (1, 12)"}, `
  article: {table: v_num, key: {columns: nr, generated: max+1},
    fields: {number: num, description: {constant: x}, price: {constant: 1}, ` + articleIs + `}}
`, func(t *testing.T, x *tables) {
		require.Equal(t, []int32{1}, x.by("article", "number", mapping.Equals, mapping.TextValue("12")))
		_, err := x.tryCreate(one, x.record("article", "number", "12"))
		require.True(t, mapping.Is(err, mapping.DuplicateValue), "%v", err)
		_, err = x.tryCreate(one, x.record("article", "number", "012"))
		require.True(t, mapping.Is(err, mapping.VarcharInvalid), "%v", err)
		require.Len(t, x.list(one, "article"), 1)
		made := x.create(one, x.record("article", "number", "13"))
		_, err = x.tryUpdate(one, made.ID(), x.record("article", "number", "0012"))
		require.True(t, mapping.Is(err, mapping.VarcharInvalid), "%v", err)
		require.Equal(t, "13", x.get(one, "article", made.ID()).Get("number").Text())
	}},
	{"a number in a boolean", map[string]string{"mariadb": "tinyint(1)", "postgres": "boolean", "sqlite": "boolean"}, []string{
		"CREATE TABLE v_flag (nr integer NOT NULL PRIMARY KEY, naam varchar(8) NOT NULL, dagen TYPE)", "INSERT INTO v_flag VALUES (1, 'one', NULL)",
	}, `
  contact: {table: v_flag, key: {columns: nr, generated: max+1},
    fields: {name: naam, payment_days: dagen, ` + contactIs + `}}
`, func(t *testing.T, x *tables) {
		x.update(one, 1, x.record("contact", "payment_days", "1"))
		require.Equal(t, []int32{1}, x.by("contact", "payment_days", mapping.Equals, mapping.IntValue(1)))
		if x.engine != "postgres" { // which takes no other
			x.exec("UPDATE v_flag SET dagen = 3")
			x.update(one, 1, x.record("contact", "name", "three"))
			require.Equal(t, "3", x.one("SELECT dagen + 0 FROM v_flag"))
			require.Equal(t, []int32{1}, x.by("contact", "payment_days", mapping.Equals, mapping.IntValue(3)))
			return
		}
		for _, days := range []string{"30", "-1"} {
			_, err := x.tryCreate(one, x.record("contact", "name", "two", "payment_days", days))
			require.True(t, mapping.Is(err, mapping.Int4Invalid), "%v", err)
			_, err = x.tryUpdate(one, 1, x.record("contact", "payment_days", days))
			require.True(t, mapping.Is(err, mapping.Int4Invalid), "%v", err)
			require.Empty(t, x.by("contact", "payment_days", mapping.Equals, x.record("contact", "payment_days", days).Get("payment_days")))
		}
		require.Len(t, x.list(one, "contact"), 1)
	}},
	{"yes as -1", nil, []string{
		"CREATE TABLE v_yes (nr integer NOT NULL PRIMARY KEY, naam varchar(8) NOT NULL, geblok integer)", "INSERT INTO v_yes VALUES (1, 'one', -1), (2, 'two', 0), (3, 'three', 2)",
	}, `
  contact: {table: v_yes, key: {columns: nr, generated: max+1},
    fields: {name: naam, is_blocked: geblok, ` + contactIs + `}}
`, func(t *testing.T, x *tables) {
		for _, id := range []int32{1, 3} {
			_, err := x.tryUpdate(one, id, x.record("contact", "name", "new"))
			require.True(t, mapping.Is(err, mapping.BlockedRecord), "%v", err)
			x.update(one, id, x.record("contact", "is_blocked", "0"))
			x.update(one, id, x.record("contact", "name", "new"))
		}
		x.update(one, 2, x.record("contact", "name", "new"))
	}},
	{"a computed number", nil, []string{
		"CREATE TABLE v_sum (nr integer NOT NULL PRIMARY KEY, aantal integer NOT NULL, prijs numeric(12,2) NOT NULL)",
		"INSERT INTO v_sum VALUES (1, 2, 2.5), (2, 1, 0.5), (3, 3, 4), (4, -1, 1234567.89), (5, 0, 7)",
		"CREATE VIEW v_sums AS SELECT nr, aantal, prijs, aantal * prijs AS som FROM v_sum",
	}, `
  article: {table: v_sum, read: v_sums, key: {columns: nr, generated: max+1}, operations: {only: [get, list]},
    fields: {number: {constant: x}, description: {constant: x}, price: som, purchase_price: {read: aantal * prijs}, stock: {read: aantal + 1}, ` + articleIs + `}}
`, func(_ *testing.T, x *tables) { x.findsShown("article", "price", "purchase_price", "stock") }},
	{"a zero with decimals", nil, []string{
		"CREATE TABLE v_nul (nr integer NOT NULL PRIMARY KEY, code varchar(8) NOT NULL, inkpr numeric(12,2))",
		"INSERT INTO v_nul VALUES (1, 'a', NULL), (2, 'b', 0.00), (3, 'c', 1), (4, 'd', -1), (5, 'e', 3)",
	}, `
  article: {table: v_nul, key: {columns: nr, generated: max+1},
    fields: {number: code, description: {constant: x}, price: {constant: 1}, purchase_price: {column: inkpr, zero: "0"}, ` + articleIs + `}}
`, func(t *testing.T, x *tables) {
		null := func() []int32 { return x.by("article", "purchase_price", mapping.IsNull, mapping.IntValue(1)) }
		require.False(t, x.get(one, "article", 2).Get("purchase_price").IsSet())
		require.Equal(t, []int32{1, 2}, null())
		require.Equal(t, []int32{3, 4, 5}, x.by("article", "purchase_price", mapping.IsNull, mapping.IntValue(0)))
		x.findsShown("article", "purchase_price")
		by := []backend.Order{{Field: x.model.Resource("article").Field("purchase_price")}}
		require.Equal(t, []int32{1, 2, 4, 3, 5}, ids(x.page(backend.Query{Client: one, Sort: by}, "article").Records), "zero is not among the numbers")
		x.update(one, 3, x.record("article", "purchase_price", "null"))
		require.False(t, x.get(one, "article", 3).Get("purchase_price").IsSet())
		require.Equal(t, []int32{1, 2, 3}, null())
	}},
	{"a day", nil, []string{
		"CREATE TABLE v_dag (nr integer NOT NULL PRIMARY KEY, d date, e date)",
		"INSERT INTO v_dag VALUES (1, '2026-07-01', '2026-07-01'), (2, '2026-07-02', '2026-07-02'), (3, '2026-06-30', '2026-06-30'), (4, NULL, NULL)",
	}, `
  order: {table: v_dag, key: {columns: nr, generated: max+1},
    fields: {contact_id: {absent: true}, order_date: {column: d, required: false}, delivery_date: {column: e, type: date}, ` + orderIs + `}}
`, func(t *testing.T, x *tables) {
		x.findsShown("order", "order_date", "delivery_date")
		made := x.create(one, x.record("order", "order_date", "2026-07-03T00:00:00+02:00", "delivery_date", "2026-07-04T00:00:00+02:00"))
		x.findsShown("order", "order_date", "delivery_date")
		require.Equal(t, "2026-07-03T22:00:00.000Z", x.get(one, "order", made.ID()).Get("delivery_date").String())
		require.Equal(t, "2026-07-04", x.one("SELECT e FROM v_dag WHERE nr = "+id(made)), "as others write a day")
	}},
	{"texts in another form", map[string]string{"mariadb": "DECIMAL(12,4)", "postgres": "numeric", "sqlite": "REAL"}, []string{
		"CREATE TABLE v_trim (nr integer NOT NULL PRIMARY KEY, code varchar(8), prijs varchar(12) NOT NULL)",
		"INSERT INTO v_trim VALUES (1, '  12', '12,50'), (2, '12  ', '12,5'), (3, ' 12 ', '-0,05'), (4, '13', '12'), (5, NULL, '12,0')",
	}, `
  article:
    table: v_trim
    key: {columns: nr, generated: max+1}
    fields:
      number: {read: TRIM(code), write: {code: ":value"}, find: TRIM(code) = :value}
      price: {read: "CAST(REPLACE(prijs, ',', '.') AS TYPE)", write: {prijs: "REPLACE(:value, '.', ',')"}, find: "CAST(REPLACE(prijs, ',', '.') AS TYPE) = :value"}
      description: {constant: x}
      ` + strings.ReplaceAll(articleIs, ", ", "\n      ") + `
`, func(t *testing.T, x *tables) {
		require.Equal(t, []int32{1, 2, 3}, x.by("article", "number", mapping.Equals, mapping.TextValue("12")))
		require.Equal(t, []int32{1, 2, 3}, x.by("article", "number", mapping.AnyOf, mapping.TextValue("12")))
		x.findsShown("article", "price")
		_, err := x.tryCreate(one, x.record("article", "number", "12", "price", "1"))
		require.True(t, mapping.Is(err, mapping.DuplicateValue), "%v", err)
	}},
	{"a blank reference", nil, []string{
		"CREATE TABLE v_klant (code varchar(8) NOT NULL PRIMARY KEY, naam varchar(8) NOT NULL)", "INSERT INTO v_klant VALUES ('A', 'one'), ('B', 'two')",
		"CREATE TABLE v_plek (b varchar(4) NOT NULL, n integer NOT NULL, naam varchar(8) NOT NULL, PRIMARY KEY (b, n))", "INSERT INTO v_plek VALUES ('X', 1, 'one')",
		"CREATE TABLE v_bon (nr integer NOT NULL PRIMARY KEY, klant varchar(8), mb varchar(4), mn integer)",
		"INSERT INTO v_bon VALUES (1, NULL, NULL, NULL), (2, '', 'X', NULL), (3, '  ', '', 1), (4, 'A', 'X', 1), (5, 'B', NULL, 1)",
	}, `
  contact: {table: v_klant, key: {columns: code, id: kept, generated: supplied}, operations: {only: [get, list]},
    fields: {name: naam, ` + contactIs + `}}
  employee: {table: v_plek, key: {columns: [b, n], generated: supplied}, operations: {only: [get, list]},
    fields: {username: {absent: true}, last_name: naam}}
  order: {table: v_bon, key: {columns: nr, generated: max+1}, operations: {only: [get, list, update]},
    fields: {contact_id: klant, employee_id: [mb, mn], order_date: {constant: "2026-01-01T00:00:00Z"}, ` + orderIs + `}}
`, func(t *testing.T, x *tables) {
		for field, want := range map[string][]int32{"contact_id": {1, 2, 3}, "employee_id": {1, 2, 3, 5}} {
			var null, set []int32
			for _, rec := range x.list(one, "order") {
				if rec.Get(field).IsSet() {
					set = append(set, rec.ID())
				} else {
					null = append(null, rec.ID())
				}
			}
			require.Equal(t, want, null, field)
			require.Equal(t, null, x.by("order", field, mapping.IsNull, mapping.IntValue(1)), field)
			require.Equal(t, set, x.by("order", field, mapping.IsNull, mapping.IntValue(0)), field)
			require.Equal(t, null, x.by("order", field, mapping.Equals, mapping.NullValue()), field)
		}
		x.update(one, 4, x.record("order", "employee_id", "null", "contact_id", id(x.list(one, "contact")[1])))
		require.Equal(t, "B", x.one("SELECT klant FROM v_bon WHERE nr = 4 AND mb IS NULL AND mn IS NULL"))
	}},
	{"what is finer than it is shown", map[string]string{"mariadb": "double, stock float, made datetime(6)", "postgres": "double precision, stock real, made timestamp(6)", "sqlite": "double, stock real, made datetime"}, []string{
		"CREATE TABLE w_fine (nr integer NOT NULL PRIMARY KEY, code varchar(4) NOT NULL, cost TYPE, epoch numeric(16,6))",
		`INSERT INTO w_fine (nr, code, cost, stock, made) VALUES (1, 'A', 3.33333333, 1234.56, '2026-07-01 10:00:00.123456'), (2, 'B', 3.33335, 1234.56, '2026-07-01 10:00:00.123999'), (3, 'C', 3.33325, 6, '2026-07-01 10:00:00.124'),
			(4, 'D', -3.33333333, 0, '2026-07-01 10:00:00.122999'), (5, 'E', -3.33335, -4321.1, '2026-07-01 10:00:00'), (6, 'F', 0.00001, 0.00005, '2026-07-01 10:00:01'),
			(7, 'G', -0.00001, 0.1, NULL), (8, 'H', 0, 123456789, NULL), (9, 'I', NULL, NULL, '2026-07-01 09:59:59.999999')`,
		"UPDATE w_fine SET epoch = 1782900000 + nr / 2000.0",
	}, `
  article: {table: w_fine, key: {columns: nr}, operations: {only: [get, list]},
    fields: {number: code, description: {constant: x}, purchase_price: cost, stock: stock, created_at: {column: epoch, type: epoch}, modified_at: {column: made, type: datetime}, ` + articleIs + `}}
`, func(t *testing.T, x *tables) {
		require.Len(t, x.list(one, "article"), 9)
		x.findsShown("article", "purchase_price", "stock", "created_at", "modified_at")
		since := x.get(one, "article", 5).Get("modified_at") // of a whole second
		require.Equal(t, []int32{1, 2, 3, 4, 5, 6}, ids(x.page(backend.Query{Client: one, ModifiedSince: since}, "article").Records))
	}},
	{"each client's own price", nil, []string{
		"CREATE TABLE w_art (nr integer NOT NULL PRIMARY KEY)", "CREATE TABLE w_price (nr integer NOT NULL, adm integer NOT NULL, amount numeric(12,2))",
		"INSERT INTO w_art VALUES (1), (2), (3)", "INSERT INTO w_price VALUES (1, 1, 30), (2, 1, 20), (3, 1, 10), (1, 2, 10), (2, 2, 20)",
	}, `
  article: {table: w_art, key: {columns: nr}, operations: {only: [get, list]},
    fields: {number: {constant: x}, description: {constant: x}, price: {read: "(SELECT amount FROM w_price p WHERE p.nr = w_art.nr AND p.adm = :client)"}, ` + articleIs + `}}
`, func(t *testing.T, x *tables) {
		price := x.model.Resource("article").Field("price")
		found := func(q backend.Query) []int32 { return ids(x.page(q, "article").Records) }
		by := []backend.Order{{Field: price, Descending: true}}
		require.Equal(t, []int32{1, 2, 3}, found(backend.Query{Client: one, Sort: by, Limit: 3}))
		require.Equal(t, []int32{2, 1}, found(backend.Query{Client: two, Sort: by, Limit: 2}))
		ten := []backend.Filter{{Field: price, Value: mapping.DecimalValue(100000, 4)}}
		require.Equal(t, []int32{3}, found(backend.Query{Client: one, Filters: ten}))
		require.Equal(t, []int32{1}, found(backend.Query{Client: two, Filters: ten}))
	}},
}

// TestWhatIsShownIsFound, and is stored as others store it.
func TestWhatIsShownIsFound(t *testing.T) {
	eachEngine(t, func(t *testing.T, engine string) {
		dsn := engines[engine](t)
		for _, c := range shownCases {
			t.Run(c.name, func(t *testing.T) {
				of := strings.NewReplacer("TYPE", c.types[engine])
				var statements []string
				for _, statement := range c.tables {
					statements = append(statements, of.Replace(statement))
				}
				c.judge(t, onMade(t, engine, dsn, shownSheet+of.Replace(c.sheet), statements...))
			})
		}
	})
}

// findsShown filters by each value that is shown of some fields: by itself, and by the ranges that
// begin and end at it.
func (x *tables) findsShown(resource string, fields ...string) {
	x.t.Helper()
	all := x.list(one, resource)
	for _, name := range fields {
		f := x.model.Resource(resource).Field(name)
		for _, rec := range all {
			v := rec.Values[f.Index]
			for _, o := range []mapping.Operator{mapping.Equals, mapping.AtLeast, mapping.Above, mapping.AtMost, mapping.Below} {
				if !v.IsSet() && o != mapping.Equals {
					continue
				}
				var want []int32
				for _, other := range all {
					if (backend.Filter{Field: f, Op: o, Value: v}).Matches(other.Values[f.Index]) {
						want = append(want, other.ID())
					}
				}
				require.Equal(x.t, want, x.by(resource, name, o, v), fmt.Sprint(name, o, v))
			}
		}
	}
}
