package check

import (
	"cmp"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/zap"

	"frontdesk/auth"
	"frontdesk/backend"
	"frontdesk/backend/idstore"
	"frontdesk/backend/legacy"
	"frontdesk/backend/legacy/legacytest"
	"frontdesk/backend/sqlrecord"
	"frontdesk/backend/sqlrecord/sqltest"
	"frontdesk/mapping"
	"frontdesk/mapping/sheet"
)

const provedSheet = `
format: 2
source: {sql: {engine: ENGINE, dsn: "${DSN}"}}
keep: keep.db
client: adm
without_rules: [prefered_email]
accounts:
  table: usr
  columns: {username: login, password: pass, email: mail, client_id: adm, client_name: login}
  hash: [bcrypt]
resources:
  contact:
    table: con
    key: {columns: id, generated: max+1}
    fields:
      kind: {column: srt, codes: {P: person, B: company}, write: {srt: "CASE :value WHEN 'company' THEN 'B' ELSE 'P' END"}}
      name: name
      first_name: {column: nick, length: 5}
      payment_days: {column: days, write: {days: "COALESCE(:value, 14)"}}
      is_blocked: {column: stat, codes: {A: 0, H: 0, B: 1}}
      initials: {column: ini, empty: "null"}
      modified_at: changed
  contactcommunication:
    table: com
    key: {columns: [con, nr], generated: max+1}
    client: {through: contact_id}
    fields: {contact_id: con, type: {constant: 1}, value: val}
  article:
    table: art
    read: v_art
    key: {columns: code, id: kept, generated: supplied}
    where: gone = 0 AND adm = :client
    fields:
      number: {column: code, immutable: true}
      description: {read: TRIM(descr), write: {descr: ":value"}}
      article_kind: {constant: part}
      unit_type: {constant: piece}
      turnover_group_id: {absent: true}
      price: {read: cents / 100.0, write: {cents: "ROUND(:value * 100)"}, ordered: true}
      purchase_price: {read: ABS(cost), write: {cost: ":value"}, ordered: true, find: "cost = :value"}
      stock: {column: weight, readonly: true}
      supplier_id: con
      ean: {column: bar, zero: "0"}
`

var provedTables = []string{
	"CREATE TABLE usr (login varchar(20), pass varchar(80), mail varchar(80), adm integer)",
	"CREATE TABLE con (id bigint NOT NULL PRIMARY KEY, adm integer, srt varchar(1), name varchar(200), nick varchar(200), days bigint, stat varchar(1), ini varchar(9), changed DT)",
	"CREATE INDEX con_name ON con (name)",
	"CREATE TABLE com (con integer NOT NULL, nr integer NOT NULL, val varchar(80), PRIMARY KEY (con, nr))",
	"CREATE TABLE art (code varchar(9), adm integer, descr varchar(80), cents integer, cost integer, weight double precision, con integer, bar varchar(20), gone integer)",
	"CREATE VIEW v_art AS SELECT code, adm, descr, cents, cost, weight, con, bar, gone FROM art",
	"INSERT INTO usr VALUES ('a', '$2a$04$abcdefghijklmnopqrstuu6JwZkTpyFmvDCeEJpZiVRfyxKzY5pWe', 'a@example.nl', 1), ('b', '$2a$04$abcdefghijklmnopqrstuu6JwZkTpyFmvDCeEJpZiVRfyxKzY5pWe', 'b@example.nl', 2)",
	"INSERT INTO con VALUES (1, 1, 'P', 'Ünal', 'x', 14, 'A', '', '2026-03-29 02:30:00'), (2, 1, 'B', 'O''Neil', NULL, 30, 'H', 'J', '2026-10-25 02:30:00'), (3, 2, 'P', 'C', 'y', 0, 'B', NULL, '2026-01-01')",
	"INSERT INTO com VALUES (1, 1, 'x'), (3, 1, 'y')",
	"INSERT INTO art VALUES ('P1', 1, 'a', 1275, 5, 0.1, 1, '0', 0), ('P2', 1, 'B', 50, 7, 1234.5678, NULL, '', 0), ('P1', 2, 'c', 0, 0, 0.3333, 3, NULL, 0), ('P3', 1, 'gone', 1, 1, 1, 9, NULL, 1)",
}

// emptyEngines are those with a server here, each with an empty database.
var emptyEngines = map[string]func(testing.TB) string{
	"sqlite": func(t testing.TB) string { return filepath.Join(t.TempDir(), "theirs.db") }, "postgres": func(t testing.TB) string { return sqltest.Postgres(t) },
	"mariadb": func(t testing.TB) string { return legacytest.EmptyMariaDB(t, "latin1") },
}

// eachEngine runs f for each engine.
func eachEngine(t *testing.T, f func(t *testing.T, engine string)) {
	for engine := range emptyEngines {
		t.Run(engine, func(t *testing.T) { f(t, engine) })
	}
}

// provedStore is a database that is served by a sheet.
type provedStore struct {
	*legacy.Store
	t *testing.T
}

// onProved opens tables for which a sheet holds.
func onProved(t *testing.T, engine, text string) *provedStore {
	t.Helper()
	dsn, file := emptyEngines[engine](t), filepath.Join(t.TempDir(), "sheet.yaml")
	if engine == "sqlite" {
		require.NoError(t, os.WriteFile(dsn, nil, 0o600))
	}
	require.NoError(t, os.WriteFile(file, []byte(strings.ReplaceAll(text, "ENGINE", engine)), 0o600))
	model, err := mapping.LoadModel("")
	require.NoError(t, err)
	of, err := sheet.Load(file, model, sheet.Options{
		Env:        func(string) (string, bool) { return dsn, true },
		RuleFields: func(rule string) []string { fields, _ := backend.RuleFields(rule); return fields },
	})
	require.NoError(t, err)
	theirs, err := legacy.Connect(t.Context(), of.Source.SQL, 0, zap.NewNop())
	require.NoError(t, err)
	kind := map[string]string{"postgres": "timestamp"}[engine]
	for _, text := range provedTables {
		_, err := sqlrecord.Change(t.Context(), theirs, strings.ReplaceAll(text, "DT", cmp.Or(kind, "datetime")))
		require.NoError(t, err, text)
	}
	require.NoError(t, theirs.Close())
	db, err := sqlrecord.OpenSQLite(filepath.Join(t.TempDir(), "keep.db"), sqlrecord.Options{})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, db.Close()) })
	kept, err := idstore.Open(t.Context(), db, idstore.Options{Now: time.Now, IgnoreCase: of.KeysWithoutCase()})
	require.NoError(t, err)
	s, err := legacy.Open(t.Context(), legacy.Options{Sheet: of, IDStore: kept, Now: time.Now, Hasher: auth.NewHasher()})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, s.Close()) })
	return &provedStore{s, t}
}

// exec changes the database behind the gateway's back.
func (x *provedStore) exec(text string) {
	x.t.Helper()
	_, err := sqlrecord.Change(x.t.Context(), x.DB(), text)
	require.NoError(x.t, err, text)
}

// findings are what is proved wrong, as words.
func (x *provedStore) findings() map[string]int {
	x.t.Helper()
	clients, err := clientsOf(x.t.Context(), x, 10)
	require.NoError(x.t, err)
	all := map[string]int{}
	for _, r := range x.Sheet().Model.Resources {
		rows, found, err := prove(x.t.Context(), x, r, clients)
		require.NoError(x.t, err)
		require.Positive(x.t, rows)
		for _, f := range found {
			require.NoError(x.t, f.err, f.at)
			all[r.Name+"."+f.at+" "+string(f.what)] = f.records
		}
	}
	return all
}

// TestProve plants one fault after the other: each is found and counted, and nothing else.
func TestProve(t *testing.T) {
	eachEngine(t, func(t *testing.T, engine string) {
		x := onProved(t, engine, provedSheet)
		require.Empty(t, x.findings())
		for _, c := range []struct {
			fault, mend string
			found       map[string]int
		}{
			{"UPDATE con SET srt = 'X' WHERE id = 1", "UPDATE con SET srt = 'P' WHERE id = 1", map[string]int{"contact.kind unlisted": 1}},
			{"UPDATE con SET name = ' ' WHERE id < 3", "UPDATE con SET name = 'n'", map[string]int{"contact.name empty": 2}},
			{"UPDATE con SET name = NULL WHERE id = 1", "UPDATE con SET name = 'n'", map[string]int{"contact.name empty": 1}},
			{"UPDATE con SET days = 3000000000 WHERE id = 1", "UPDATE con SET days = 14", map[string]int{"contact.payment_days unshown": 1}},
			{"UPDATE con SET days = NULL WHERE id = 1", "UPDATE con SET days = 14", map[string]int{"contact.payment_days altered": 1}},
			{"UPDATE con SET nick = 'abcdef' WHERE id = 1", "UPDATE con SET nick = 'x'", map[string]int{"contact.first_name too long": 1}},
			{"UPDATE con SET changed = NULL WHERE id = 1", "UPDATE con SET changed = '2026-01-01'", map[string]int{"contact.modified_at undated": 1}},
			{"UPDATE con SET adm = NULL WHERE id = 3", "UPDATE con SET adm = 2 WHERE id = 3", map[string]int{"contact.client nobody's": 1, "contactcommunication.client nobody's": 1, "contactcommunication.contact_id nowhere": 1, "article.supplier_id nowhere": 1}},
			{"UPDATE con SET adm = 7 WHERE id = 2", "UPDATE con SET adm = 1 WHERE id = 2", map[string]int{"contact.client nobody's": 1}},
			{"INSERT INTO con (id, adm, srt, name, stat, days, changed) VALUES (5000000000, 1, 'P', 'n', 'A', 1, '2026-01-01')", "DELETE FROM con WHERE id = 5000000000", map[string]int{"contact.key unshown": 1}},
			{"UPDATE com SET con = 9 WHERE con = 1", "UPDATE com SET con = 1 WHERE con = 9", map[string]int{"contactcommunication.client nobody's": 1, "contactcommunication.contact_id nowhere": 1}},
			{"UPDATE art SET con = 3 WHERE code = 'P2'", "UPDATE art SET con = NULL WHERE code = 'P2'", map[string]int{"article.supplier_id nowhere": 1}},
			{"UPDATE art SET descr = ' b' WHERE code = 'P2'", "UPDATE art SET descr = 'b' WHERE code = 'P2'", map[string]int{"article.description missed": 1}},
			{"UPDATE art SET weight = 1.23456 WHERE code = 'P2'", "UPDATE art SET weight = 1 WHERE code = 'P2'", map[string]int{"article.stock rounded": 1}},
			{"UPDATE art SET cost = -9 WHERE code = 'P2'", "UPDATE art SET cost = 7 WHERE code = 'P2'", map[string]int{"article.purchase_price unordered": 1, "article.purchase_price missed": 1}},
			{"UPDATE art SET code = 'P1' WHERE code = 'P2'", "UPDATE art SET code = 'P2' WHERE cost = 7", map[string]int{"article.number twice": 1, "article.key twice": 1}},
			{"UPDATE art SET code = NULL WHERE code = 'P2'", "UPDATE art SET code = 'P2' WHERE cost = 7", map[string]int{"article.number empty": 1, "article.key keyless": 1}},
		} {
			x.exec(c.fault)
			require.Equal(t, c.found, x.findings(), c.fault)
			x.exec(c.mend)
			require.Empty(t, x.findings(), c.mend)
		}
	})
}

// TestProveUsers counts users who cannot log in.
func TestProveUsers(t *testing.T) {
	eachEngine(t, func(t *testing.T, engine string) {
		x := onProved(t, engine, provedSheet)
		counted := func(all int, wrong map[string]int) {
			t.Helper()
			n, found, err := usersOf(t.Context(), x)
			require.NoError(t, err)
			require.Equal(t, all, n)
			require.Equal(t, wrong, found)
		}
		counted(2, map[string]int{})
		x.exec("INSERT INTO usr SELECT login, pass, '', adm FROM usr WHERE login = 'a'")
		x.exec("INSERT INTO usr VALUES ('c', 'plain', 'c@example.nl', 1), ('d', 'plain', 'd@example.nl', NULL)")
		counted(5, map[string]int{"accounts.unusable": 1, "accounts.hash": 1, "accounts.email": 1, "accounts.twice": 1})
	})
}

// TestUnproved: a claim by which the database fails is told of, and the others are counted.
func TestUnproved(t *testing.T) {
	text := strings.Replace(provedSheet, "first_name: {column: nick, length: 5}", "vat_number: {read: CAST(CAST(nick AS integer) AS text)}", 1)
	x := onProved(t, "postgres", text)
	x.exec("UPDATE con SET srt = 'X' WHERE id = 1")
	_, all, err := prove(t.Context(), x, x.Sheet().Model.Resource("contact"), nil)
	require.NoError(t, err)
	require.Len(t, all, 2)
	require.Equal(t, unproved, all[0].what)
	require.Error(t, all[0].err)
	require.Equal(t, found{what: unlisted, at: "kind", records: 1, of: 3}, all[1])
}

// TestProveCollation: a text that is read, and a column that it is looked for in, are compared
// whatever their collation is.
func TestProveCollation(t *testing.T) {
	x := onProved(t, "mariadb", strings.Replace(provedSheet, "name: name\n", "name: {read: TRIM(name), write: {name: \":value\"}, find: name = :value}\n", 1))
	x.exec("ALTER TABLE con CONVERT TO CHARACTER SET utf8mb4 COLLATE utf8mb4_unicode_520_ci")
	require.Empty(t, x.findings())
	x.exec("UPDATE con SET name = ' n' WHERE id = 1")
	require.Equal(t, map[string]int{"contact.name missed": 1}, x.findings())
}

// TestPlan: an index that narrows a list is seen in its plan, and so is an order without one.
func TestPlan(t *testing.T) {
	eachEngine(t, func(t *testing.T, engine string) {
		x := onProved(t, engine, provedSheet)
		var rows []string
		for i := range 3000 {
			rows = append(rows, "("+strconv.Itoa(100+i)+", "+strconv.Itoa(1+i%2)+", 'P', 'n"+strconv.Itoa(i)+"', 'k"+strconv.Itoa(i)+"', 1, 'A')")
		}
		x.exec("INSERT INTO con (id, adm, srt, name, nick, days, stat) VALUES " + strings.Join(rows, ", "))
		x.exec(map[string]string{"mariadb": "ANALYZE TABLE con PERSISTENT FOR ALL"}[engine] + map[string]string{"sqlite": "ANALYZE", "postgres": "ANALYZE"}[engine])
		r := x.Sheet().Model.Resource("contact")
		asked := func(q backend.Query) *plan {
			q.Client, q.Limit = auth.Client{ID: 1}, 50
			p, err := planOf(t.Context(), x, r, q)
			require.NoError(t, err)
			return p
		}
		by := func(name string, v mapping.Value) backend.Query {
			return backend.Query{Filters: []backend.Filter{{Field: r.Field(name), Value: v}}}
		}
		require.NotEmpty(t, asked(by("id", mapping.IntValue(100))).narrows)
		require.NotEmpty(t, asked(by("name", mapping.TextValue("n7"))).narrows)
		require.Empty(t, asked(by("first_name", mapping.TextValue("k7"))).narrows)
		require.False(t, asked(backend.Query{}).sorts)
		require.True(t, asked(backend.Query{Sort: []backend.Order{{Field: r.Field("first_name")}}}).sorts)
	})
}
