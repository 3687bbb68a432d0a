package legacy

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"frontdesk/backend"
	"frontdesk/mapping"
)

// shownCase is a table whose values have more than one form for what clients see. In its
// statements, and its sheet, TYPE is that of the engine.
type shownCase struct {
	name   string
	types  map[string]string // by engine
	tables []string
	sheet  string // the resources
	judge  func(t *testing.T, x *fixture)
}

var shownCases = []shownCase{
	{"one number for two texts", nil, []string{
		"CREATE TABLE v_art (nr integer NOT NULL PRIMARY KEY, code varchar(8) NOT NULL, num integer)",
		"INSERT INTO v_art VALUES (1, '00000012', NULL)",
		"CREATE TABLE v_rel (nr integer NOT NULL PRIMARY KEY, num integer NOT NULL)",
		"INSERT INTO v_rel VALUES (1, 12)",
	}, `
  article:
    table: v_art
    key: {columns: nr, generated: max+1}
    client: ""
    fields: {number: {from: code, pad: zero, width: 8}, description: {constant: x}, article_kind: {constant: part}, unit_type: {constant: piece}, turnover_group_id: {absent: true}, price: {constant: 1}}
  contact:
    table: v_rel
    key: {columns: nr, generated: max+1}
    client: ""
    fields: {number: {from: num, type: integer}, kind: {constant: person}, name: {constant: x}}
`, func(t *testing.T, x *fixture) {
		for resource, reason := range map[string]mapping.Reason{"article": mapping.DuplicateValue, "contact": mapping.DuplicateValue} {
			_, err := x.tryCreate(one, x.record(resource, "number", "12"))
			require.True(t, mapping.Is(err, reason), "%s: %v", resource, err)
			_, err = x.tryCreate(one, x.record(resource, "number", "012"))
			require.True(t, mapping.Is(err, mapping.VarcharInvalid), "%s: %v", resource, err)
			require.Len(t, x.all(one, resource), 1)
			made := x.create(one, x.record(resource, "number", "13"))
			_, err = x.tryUpdate(one, made.ID(), x.record(resource, "number", "0012"))
			require.True(t, mapping.Is(err, mapping.VarcharInvalid), "%s: %v", resource, err)
			require.Equal(t, "13", x.get(one, resource, made.ID()).Get("number").Text())
		}
	}},
	{"an ID in a text", nil, []string{
		"CREATE TABLE v_pad (nr varchar(6) NOT NULL PRIMARY KEY, naam varchar(8) NOT NULL)",
		"INSERT INTO v_pad VALUES ('0007', 'a'), ('0042', 'b'), ('0100', 'c')",
		"CREATE TABLE v_padbon (nr char(6) NOT NULL PRIMARY KEY, klant integer, auto varchar(4))",
		"INSERT INTO v_padbon VALUES ('0001', 42, '0003'), ('0002', 7, NULL), ('0003', NULL, '0003')",
		"CREATE TABLE v_padauto (nr varchar(4) NOT NULL PRIMARY KEY)",
		"INSERT INTO v_padauto VALUES ('0003')",
		"CREATE TABLE v_padplek (b integer NOT NULL, n varchar(4) NOT NULL, PRIMARY KEY (b, n))",
		"INSERT INTO v_padplek VALUES (1, '0041')",
	}, `
  contact:
    table: v_pad
    key: {columns: nr, pad: zero, width: 4, generated: max+1}
    client: ""
    fields: {kind: {constant: person}, name: naam}
  vehicle:
    table: v_padauto
    key: {columns: nr, pad: zero, width: 4}
    client: ""
    operations: {only: [get, list]}
    fields: {remark: {constant: x}}
  order:
    table: v_padbon
    key: {columns: nr, pad: zero, width: 4, generated: max+1}
    client: ""
    fields: {contact_id: {from: klant, required: false}, vehicle_id: {from: auto, pad: zero, width: 4}, kind: {constant: sales}, order_status: {constant: open}, order_date: {constant: "2026-01-01T00:00:00Z"}}
  turnovergroup:
    table: v_padplek
    key: {columns: [b, n], pad: zero, width: 4, generated: max+1}
    client: ""
    fields: {code: {from: n, readonly: true, required: false}, description: {constant: x}, vat_kind: {constant: high}, ledger_account: {constant: x}}
    constants: {b: 1}
`, func(t *testing.T, x *fixture) {
		require.Equal(t, []int32{7, 42, 100}, ids(x.all(one, "contact")))
		require.Equal(t, []int32{100}, ids(x.list(backend.Query{Client: one, Keyset: true, After: 42, Limit: 5}, "contact").Records))
		require.Equal(t, []int32{42}, x.by("contact", "id", mapping.AnyOf, mapping.IntValue(42)))
		require.Equal(t, "b", x.get(one, "contact", 42).Get("name").Text())
		require.Equal(t, "d", x.update(one, 42, x.record("contact", "name", "d")).Get("name").Text())
		made := x.create(one, x.record("contact", "name", "e"))
		require.EqualValues(t, 101, made.ID())
		require.Equal(t, "0101", x.row("SELECT nr FROM v_pad WHERE naam = 'e'"))

		require.Equal(t, []int32{1}, x.by("order", "contact_id", mapping.Equals, mapping.IntValue(42)))
		require.Equal(t, []int32{1, 3}, x.by("order", "vehicle_id", mapping.Equals, mapping.IntValue(3)))
		order := x.create(one, x.record("order", "contact_id", "101", "vehicle_id", "3"))
		require.Equal(t, "0004 101 0003", x.row("SELECT CONCAT(RTRIM(nr), ' ', klant, ' ', auto) FROM v_padbon WHERE klant = 101"))
		require.EqualValues(t, 101, x.get(one, "order", order.ID()).Get("contact_id").Int())
		_, err := x.tryCreate(one, x.record("order", "contact_id", "43"))
		require.True(t, mapping.Is(err, mapping.RelatedIDNotFound), "%v", err)
		err = x.tryDelete(one, "contact", 101)
		require.True(t, mapping.Is(err, mapping.InUse), "%v", err)
		require.NoError(t, x.tryDelete(one, "contact", 100))
		require.Equal(t, []int32{7, 42, 101}, ids(x.all(one, "contact")))

		require.Equal(t, "0042", x.create(one, mapping.NewRecord(x.model.Resource("turnovergroup"))).Get("code").Text())

		_, err = x.db.ExecContext(t.Context(), "INSERT INTO v_pad VALUES ('42', 'x')")
		require.NoError(t, err)
		_, err = x.front.List(t.Context(), x.model.Resource("contact"), backend.Query{Client: one})
		require.ErrorContains(t, err, `has "42": not written as pad and width say`)

		// Numbers end where the texts do.
		_, err = x.db.ExecContext(t.Context(), "UPDATE v_pad SET nr = '9999' WHERE nr = '42'")
		require.NoError(t, err)
		_, err = x.tryCreate(one, x.record("contact", "name", "f"))
		require.ErrorIs(t, err, backend.ErrUnexpected)
		for _, last := range []int32{9999, 10000} {
			require.Empty(t, x.list(backend.Query{Client: one, Keyset: true, After: last, Limit: 5}, "contact").Records, last)
		}
		_, err = x.front.Get(t.Context(), x.model.Resource("contact"), backend.Query{Client: one, ID: 10000})
		require.True(t, mapping.Is(err, mapping.RecordNotFound), "%v", err)
		_, err = x.db.ExecContext(t.Context(), "INSERT INTO v_pad VALUES ('10000', 'x')")
		require.NoError(t, err)
		_, err = x.front.List(t.Context(), x.model.Resource("contact"), backend.Query{Client: one})
		require.ErrorContains(t, err, `has "10000": not written as pad and width say`)
	}},
	{"a text in another case", nil, []string{
		"CREATE TABLE v_hoofd (nr integer NOT NULL PRIMARY KEY, code varchar(8) NOT NULL, lang varchar(8) NOT NULL DEFAULT '0000ab01')",
		"INSERT INTO v_hoofd (nr, code) VALUES (1, 'AB'), (2, 'ab'), (3, 'Ab'), (4, 'cd'), (5, 'CD')",
	}, `
  article:
    table: v_hoofd
    key: {columns: nr, generated: max+1}
    client: ""
    operations: {only: [get, list]}
    fields: {number: {from: code, case: upper}, description: {from: lang, case: upper, pad: zero, width: 8}, article_kind: {constant: part}, unit_type: {constant: piece}, turnover_group_id: {absent: true}}
`, func(t *testing.T, x *fixture) {
		for _, rec := range x.all(one, "article") {
			shown := rec.Get("number")
			found := x.by("article", "number", mapping.Equals, shown)
			require.Contains(t, found, rec.ID(), "%s is not found by what it shows", shown)
			require.Contains(t, found, map[byte]int32{'A': 1, 'C': 5}[strings.ToUpper(shown.Text())[0]], "what is written of %s", shown)
			require.Equal(t, found, x.by("article", "number", mapping.AnyOf, shown))
			require.Contains(t, x.by("article", "description", mapping.Equals, rec.Get("description")), rec.ID())
		}
	}},
	{"a number in a boolean", map[string]string{"mariadb": "tinyint(1)", "postgres": "boolean", "sqlite": "boolean"}, []string{
		"CREATE TABLE v_flag (nr integer NOT NULL PRIMARY KEY, naam varchar(8) NOT NULL, dagen TYPE)",
		"INSERT INTO v_flag VALUES (1, 'one', NULL)",
	}, `
  contact:
    table: v_flag
    key: {columns: nr, generated: max+1}
    client: ""
    fields: {kind: {constant: person}, name: naam, payment_days: {from: dagen, type: boolean}}
`, func(t *testing.T, x *fixture) {
		for _, days := range []string{"30", "-1"} {
			_, err := x.tryCreate(one, x.record("contact", "name", "two", "payment_days", days))
			require.True(t, mapping.Is(err, mapping.Int4Invalid), "%v", err)
			_, err = x.tryUpdate(one, 1, x.record("contact", "payment_days", days))
			require.True(t, mapping.Is(err, mapping.Int4Invalid), "%v", err)
		}
		require.Len(t, x.all(one, "contact"), 1)
		x.update(one, 1, x.record("contact", "payment_days", "1"))
		if x.engine == "postgres" {
			return // it takes no other
		}
		_, err := x.db.ExecContext(t.Context(), "UPDATE v_flag SET dagen = 3")
		require.NoError(t, err)
		x.update(one, 1, x.record("contact", "name", "three"))
		require.Equal(t, "3", x.row("SELECT dagen + 0 FROM v_flag"))
	}},
	{"yes as -1", nil, []string{
		"CREATE TABLE v_yes (nr integer NOT NULL PRIMARY KEY, naam varchar(8) NOT NULL, geblok integer)",
		"INSERT INTO v_yes VALUES (1, 'one', -1), (2, 'two', 0), (3, 'three', 2)",
	}, `
  contact:
    table: v_yes
    key: {columns: nr, generated: max+1}
    client: ""
    fields: {kind: {constant: person}, name: naam, is_blocked: geblok}
`, func(t *testing.T, x *fixture) {
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
  article:
    table: v_sum
    read: v_sums
    key: {columns: nr, generated: max+1}
    client: ""
    operations: {only: [get, list]}
    fields: {number: {constant: x}, description: {constant: x}, article_kind: {constant: part}, unit_type: {constant: piece}, turnover_group_id: {absent: true}, price: som, purchase_price: {sql: aantal * prijs}, stock: {sql: aantal + 1, type: integer, readonly: true}}
`, func(_ *testing.T, x *fixture) { x.findsShown("article", "price", "purchase_price", "stock") }},
	{"a zero with decimals", nil, []string{
		"CREATE TABLE v_nul (nr integer NOT NULL PRIMARY KEY, code varchar(8) NOT NULL, inkpr numeric(12,2), af integer NOT NULL)",
		"INSERT INTO v_nul VALUES (1, 'a', NULL, 0), (2, 'b', 0.00, -5), (3, 'c', 1, 3), (4, 'd', -1, -1)",
	}, `
  article:
    table: v_nul
    key: {columns: nr, generated: max+1}
    client: ""
    fields: {number: code, description: {constant: x}, article_kind: {constant: part}, unit_type: {constant: piece}, turnover_group_id: {absent: true}, price: {constant: 1}, purchase_price: {from: inkpr, zero: 0}}
`, func(t *testing.T, x *fixture) {
		null := func() []int32 { return x.by("article", "purchase_price", mapping.IsNull, mapping.IntValue(1)) }
		require.False(t, x.get(one, "article", 2).Get("purchase_price").IsSet())
		require.Equal(t, []int32{1, 2}, null())
		require.Equal(t, []int32{3, 4}, x.by("article", "purchase_price", mapping.IsNull, mapping.IntValue(0)))
		x.findsShown("article", "purchase_price")
		x.update(one, 3, x.record("article", "purchase_price", "null"))
		require.False(t, x.get(one, "article", 3).Get("purchase_price").IsSet())
		require.Equal(t, []int32{1, 2, 3}, null())
	}},
	{"a day", nil, []string{
		"CREATE TABLE v_dag (nr integer NOT NULL PRIMARY KEY, d date, e date)",
		"INSERT INTO v_dag VALUES (1, '2026-07-01', '2026-07-01'), (2, '2026-07-02', '2026-07-02'), (3, '2026-06-30', '2026-06-30'), (4, NULL, NULL)",
	}, `
  order:
    table: v_dag
    key: {columns: nr, generated: max+1}
    client: ""
    fields: {contact_id: {absent: true}, kind: {constant: sales}, order_status: {constant: open}, order_date: {from: d, required: false}, delivery_date: {from: e, type: date}}
`, func(t *testing.T, x *fixture) {
		x.findsShown("order", "order_date", "delivery_date")
		made := x.create(one, x.record("order", "order_date", "2026-07-03T00:00:00+02:00", "delivery_date", "2026-07-04T00:00:00+02:00"))
		x.findsShown("order", "order_date", "delivery_date")
		require.Equal(t, "2026-07-03T22:00:00.000Z", x.get(one, "order", made.ID()).Get("delivery_date").String())
		if x.engine == "sqlite" {
			require.Equal(t, "text 2026-07-04", x.row(fmt.Sprintf("SELECT typeof(e) || ' ' || e FROM v_dag WHERE nr = %d", made.ID())), "as others write a day")
		}
	}},
	{"blanks on both sides", nil, []string{
		"CREATE TABLE v_trim (nr integer NOT NULL PRIMARY KEY, code varchar(8), vast char(8))",
		"INSERT INTO v_trim VALUES (1, '  12', '      12'), (2, '12  ', '12'), (3, ' 12 ', ' 12'), (4, '13', '13'), (5, NULL, NULL)",
	}, `
  article:
    table: v_trim
    key: {columns: nr, generated: max+1}
    client: ""
    fields: {number: {from: code, trim: both}, description: {from: vast, trim: both}, article_kind: {constant: part}, unit_type: {constant: piece}, turnover_group_id: {absent: true}, price: {constant: 1}}
`, func(t *testing.T, x *fixture) {
		for _, field := range []string{"number", "description"} {
			require.Equal(t, []int32{1, 2, 3}, x.by("article", field, mapping.Equals, mapping.TextValue("12")), field)
			require.Equal(t, []int32{1, 2, 3}, x.by("article", field, mapping.AnyOf, mapping.TextValue("12")), field)
			require.Equal(t, []int32{1, 2, 3}, x.by("article", field, mapping.Equals, mapping.TextValue(" 12 ")), field)
		}
		_, err := x.tryCreate(one, x.record("article", "number", "12", "description", "x"))
		require.True(t, mapping.Is(err, mapping.DuplicateValue), "%v", err)
	}},
	{"a price in a text", nil, []string{
		"CREATE TABLE v_prs (nr integer NOT NULL PRIMARY KEY, prijs varchar(12) NOT NULL)",
		"INSERT INTO v_prs VALUES (1, '12,50'), (2, '12,5'), (3, '12,5000'), (4, '12'), (5, '-0,05'), (6, '0'), (7, '1000'), (8, '12,0')",
	}, `
  article:
    table: v_prs
    key: {columns: nr, generated: max+1}
    client: ""
    fields: {number: {constant: x}, description: {constant: x}, article_kind: {constant: part}, unit_type: {constant: piece}, turnover_group_id: {absent: true}, price: {from: prijs, decimal_comma: true}}
`, func(t *testing.T, x *fixture) {
		f := x.model.Resource("article").Field("price")
		for _, want := range [][]int32{{1, 2, 3}, {4, 8}, {5}, {6}, {7}} {
			v := x.get(one, "article", want[0]).Values[f.Index]
			require.Equal(t, want, x.by("article", "price", mapping.Equals, v), v.String())
			require.Equal(t, want, x.by("article", "price", mapping.AnyOf, v), v.String())
		}
	}},
	{"a blank reference", nil, []string{
		"CREATE TABLE v_klant (code varchar(8) NOT NULL PRIMARY KEY, naam varchar(8) NOT NULL)",
		"INSERT INTO v_klant VALUES ('A', 'one'), ('B', 'two')",
		"CREATE TABLE v_plek (b varchar(4) NOT NULL, n integer NOT NULL, naam varchar(8) NOT NULL, PRIMARY KEY (b, n))",
		"INSERT INTO v_plek VALUES ('X', 1, 'one')",
		"CREATE TABLE v_bon (nr integer NOT NULL PRIMARY KEY, klant varchar(8), mb varchar(4), mn integer)",
		"INSERT INTO v_bon VALUES (1, NULL, NULL, NULL), (2, '', 'X', NULL), (3, '  ', '', 1), (4, 'A', 'X', 1), (5, 'B', NULL, 1)",
	}, `
  contact:
    table: v_klant
    key: {columns: code, id: kept, generated: supplied}
    client: ""
    operations: {only: [get, list]}
    fields: {kind: {constant: person}, name: naam}
  employee:
    table: v_plek
    key: {columns: [b, n], generated: supplied}
    client: ""
    operations: {only: [get, list]}
    fields: {username: {absent: true}, last_name: naam}
  order:
    table: v_bon
    key: {columns: nr, generated: max+1}
    client: ""
    operations: {only: [get, list]}
    fields: {contact_id: klant, employee_id: [mb, mn], kind: {constant: sales}, order_status: {constant: open}, order_date: {constant: "2026-01-01T00:00:00Z"}}
`, func(t *testing.T, x *fixture) {
		for field, want := range map[string][]int32{"contact_id": {1, 2, 3}, "employee_id": {1, 2, 3, 5}} {
			f := x.model.Resource("order").Field(field)
			var null, set []int32
			for _, rec := range x.all(one, "order") {
				if v := rec.Values[f.Index]; v.IsSet() {
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
	}},
	{"a zero among negative numbers", nil, []string{
		"CREATE TABLE v_neg (nr integer NOT NULL PRIMARY KEY, dagen integer NOT NULL, ref integer NOT NULL)",
		"INSERT INTO v_neg VALUES (1, 3, 0), (2, -5, 0), (3, 0, 0), (4, 1, 0)",
	}, `
  contact:
    table: v_neg
    key: {columns: nr, generated: max+1}
    client: ""
    fields: {kind: {constant: person}, name: {constant: x}, payment_days: {from: dagen, zero: 0}}
`, func(t *testing.T, x *fixture) {
		by := []backend.Order{{Field: x.model.Resource("contact").Field("payment_days")}}
		require.Equal(t, []int32{3, 2, 4, 1}, ids(x.list(backend.Query{Client: one, Sort: by}, "contact").Records))
	}},
	{"the client in an array", map[string]string{"mariadb": ":client", "postgres": "ANY (ARRAY[:client::integer])", "sqlite": ":client"}, []string{
		"CREATE TABLE v_arr (nr integer NOT NULL PRIMARY KEY, adm integer NOT NULL)",
		"INSERT INTO v_arr VALUES (1, 1), (2, 2)",
	}, `
  contact:
    table: v_arr
    key: {columns: nr, generated: max+1}
    client: ""
    where: adm = TYPE
    fields: {kind: {constant: person}, name: {constant: x}}
`, func(t *testing.T, x *fixture) {
		require.Equal(t, []int32{1}, ids(x.all(one, "contact")))
		require.Equal(t, []int32{2}, ids(x.all(two, "contact")))
	}},
}

// by lists the records of a filter.
func (x *fixture) by(resource, field string, o mapping.Operator, v mapping.Value) []int32 {
	x.t.Helper()
	f := x.model.Resource(resource).Field(field)
	by := backend.Filter{Field: f, Op: o, Value: v}
	if o == mapping.AnyOf {
		by = backend.Filter{Field: f, Op: o, Values: []mapping.Value{v}}
	}
	page := x.list(backend.Query{Client: one, Total: true, Filters: []backend.Filter{by}}, resource)
	require.EqualValues(x.t, len(page.Records), page.Total)
	return ids(page.Records)
}

// TestWhatIsShownIsFound: before, each of these was shown as one thing and looked for, or stored,
// as another.
func TestWhatIsShownIsFound(t *testing.T) {
	eachEngine(t, func(t *testing.T, engine string) {
		dsn := engines[engine](t)
		base := openOn(t, engine, dsn)
		defer func() { require.NoError(t, base.Close()) }()
		for _, c := range shownCases {
			t.Run(c.name, func(t *testing.T) {
				for _, statement := range c.tables {
					makeTables(t, base, strings.ReplaceAll(statement, "TYPE", c.types[engine]))
				}
				x, _, _ := onMade(t, engine, dsn, fmt.Sprintf(shownSheet, engine)+strings.ReplaceAll(c.sheet, "TYPE", c.types[engine]))
				c.judge(t, x)
			})
		}
	})
}

const shownSheet = `
format: 1
source: {sql: {engine: %s, dsn: "${DEALERPAK_DSN}"}}
time_zone: Europe/Amsterdam
keep: keep.db
accounts: {users: []}
without_rules: [license_plate, published]
resources:`
