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
	"frontdesk/backend/legacy"
	"frontdesk/backend/legacy/legacytest"
	"frontdesk/backend/sqlrecord"
	"frontdesk/backend/sqlrecord/sqltest"
	"frontdesk/mapping"
)

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

// onProved opens tables for which a sheet holds, with words of it replaced.
func onProved(t *testing.T, engine string, replace ...string) *provedStore {
	t.Helper()
	dsn := emptyEngines[engine](t)
	if engine == "sqlite" {
		require.NoError(t, os.WriteFile(dsn, nil, 0o600))
	}
	of := loaded(t, sheetFile(t, "proved", append(replace, "ENGINE", engine)...), dsn).Sheet
	theirs, err := legacy.Connect(t.Context(), of.Source.SQL, 0, zap.NewNop())
	require.NoError(t, err)
	kind := map[string]string{"postgres": "timestamp"}[engine]
	for _, text := range statements(t, "proved.sql") {
		_, err := sqlrecord.Change(t.Context(), theirs, strings.ReplaceAll(text, "DT", cmp.Or(kind, "datetime")))
		require.NoError(t, err, text)
	}
	require.NoError(t, theirs.Close())
	_, kept := idStore(t, of)
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
		x := onProved(t, engine)
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
		x := onProved(t, engine)
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
	x := onProved(t, "postgres", "first_name: {column: nick, length: 5}", "vat_number: {read: CAST(CAST(nick AS integer) AS text)}")
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
	x := onProved(t, "mariadb", " name: name\n", " name: {read: TRIM(name), write: {name: \":value\"}, find: name = :value}\n")
	x.exec("ALTER TABLE con CONVERT TO CHARACTER SET utf8mb4 COLLATE utf8mb4_unicode_520_ci")
	require.Empty(t, x.findings())
	x.exec("UPDATE con SET name = ' n' WHERE id = 1")
	require.Equal(t, map[string]int{"contact.name missed": 1}, x.findings())
}

// TestPlan: an index that narrows a list is seen in its plan, and so is an order without one.
func TestPlan(t *testing.T) {
	eachEngine(t, func(t *testing.T, engine string) {
		x := onProved(t, engine)
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
