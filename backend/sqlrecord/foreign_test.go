package sqlrecord

import (
	"context"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"zombiezen.com/go/sqlite"
	"zombiezen.com/go/sqlite/sqlitex"

	"frontdesk/backend/legacy/legacytest"
	"frontdesk/backend/sqlrecord/sqltest"
	"frontdesk/mapping"
)

// foreigner is an engine with a new database that frontdesk has not made.
type foreigner struct {
	name string
	dsn  func(t testing.TB) string
}

var foreigners = []foreigner{
	{"sqlite", func(t testing.TB) string {
		path := filepath.Join(t.TempDir(), "theirs.db")
		conn, err := sqlite.OpenConn(path, sqlite.OpenReadWrite|sqlite.OpenCreate)
		require.NoError(t, err)
		require.NoError(t, sqlitex.ExecuteTransient(conn, "CREATE TABLE there (x)", nil))
		require.NoError(t, conn.Close())
		return path
	}},
	{"postgres", func(t testing.TB) string { return sqltest.Postgres(t) }},
	{"mariadb", func(t testing.TB) string { return legacytest.EmptyMariaDB(t, "utf8mb4") }},
}

// foreignDSN is a new database of an engine.
func foreignDSN(t testing.TB, engine string) string {
	t.Helper()
	for _, e := range foreigners {
		if e.name == engine {
			return e.dsn(t)
		}
	}
	t.Fatal(engine)
	return ""
}

// onForeigners runs a test on a database of each engine, which run prepares.
func onForeigners(t *testing.T, prepare []string, f func(t *testing.T, o ForeignOptions, db DB)) {
	for _, e := range foreigners {
		t.Run(e.name, func(t *testing.T) {
			o := ForeignOptions{Engine: e.name, DSN: e.dsn(t), Connections: 4, LockWait: 300 * time.Millisecond}
			f(t, o, openForeign(t, o, prepare...))
		})
	}
}

func openForeign(t testing.TB, o ForeignOptions, prepare ...string) DB {
	t.Helper()
	db, err := OpenForeign(t.Context(), o)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, db.Close()) })
	for _, text := range prepare {
		change(t, db, text)
	}
	return db
}

// shownAs is a value as a test writes it.
func shownAs(v mapping.Value) string {
	if v.IsAbsent() {
		return "absent"
	}
	if v.Kind() == mapping.KindBytes {
		return fmt.Sprintf("%x", v.Text())
	}
	return v.String()
}

var amsterdam = func() *time.Location {
	loc, err := time.LoadLocation("Europe/Amsterdam")
	if err != nil {
		panic(err)
	}
	return loc
}()

// columns by a word, as tests write them.
var foreignColumns = map[string]Column{
	"int4": {Type: mapping.Int4}, "text": {Type: mapping.Text}, "bytea": {Type: mapping.Bytea}, "float": {Type: mapping.Float8, Scale: -1},
	"float2": {Type: mapping.Float8, Scale: 2}, "time": {Type: mapping.Timestamp, Zone: amsterdam}, "utc": {Type: mapping.Timestamp},
	"epoch": {Type: mapping.Timestamp, Kind: Epoch, Zone: amsterdam}, "millis": {Type: mapping.Timestamp, Kind: EpochMillis},
}

// shownCase is an expression, and what is read of it as each kind of column.
type shownCase struct {
	sql  string
	want string // "int4: 1; text: 1"
}

// everyEngine are expressions that all engines have.
var everyEngine = []shownCase{
	{"NULL", "int4: null; text: null; bytea: null; float: null; float2: null; time: null; epoch: null"},
	{"1", "int4: 1; text: 1; float: 1; float2: 1; time: absent; bytea: absent; epoch: 1970-01-01T00:00:01.000Z; millis: 1970-01-01T00:00:00.001Z"},
	{"-2147483648", "int4: -2147483648"}, {"2147483648", "int4: absent; text: 2147483648; float2: 2147483648"},
	{"9223372036854775807", "int4: absent; text: 9223372036854775807; float2: absent; epoch: absent; millis: absent"},
	{"999999999999999", "float2: absent; float: 9.99999999999999e+14"}, {"'12.345'", "int4: absent; float2: 12.35; float: 12.345"},
	{"'-12.345'", "float2: -12.35; text: -12.345"}, {"' 12.00 '", "int4: 12; float2: 12; float: 12"}, {"'1e3'", "int4: 1000; float2: 1000; float: 1000"},
	{"'123456789012345678901234'", "int4: absent; float2: absent; text: 123456789012345678901234"}, {"'0.000000000000000000001'", "int4: absent; float2: 0; float: 1e-21"},
	{"'NaN'", "int4: absent; float: absent; float2: absent; time: absent; text: NaN"}, {"'0x10'", "float: absent; float2: absent"}, {"'inf'", "float: absent"},
	{"''", "int4: absent; float: absent; float2: absent; time: absent; text: ; epoch: absent"}, {"'1_000'", "int4: absent; float: absent"},
	{"'é 漢 🙂'", "text: é 漢 🙂; bytea: absent"}, {"'aGk='", "bytea: 6869; text: aGk="},
	{"1700000000.5", "epoch: 2023-11-14T22:13:20.500Z"}, {"'1700000000'", "epoch: 2023-11-14T22:13:20.000Z"}, {"1700000000123", "millis: 2023-11-14T22:13:20.123Z; epoch: absent"},
	{"'253402300800'", "epoch: absent"}, {"'253402300799'", "epoch: 9999-12-31T23:59:59.000Z"},
	{"'2026-07-01'", "time: 2026-06-30T22:00:00.000Z; utc: 2026-07-01T00:00:00.000Z"}, {"'2026-01-01 10:11'", "time: 2026-01-01T09:11:00.000Z"},
	{"'2026-01-01T10:11:12.3456789'", "time: 2026-01-01T09:11:12.345Z"}, {"'2026-01-01 10:11:12,5'", "time: 2026-01-01T09:11:12.500Z"},
	{"'2026-01-01T10:11:12Z'", "time: 2026-01-01T10:11:12.000Z"}, {"'2026-01-01 10:11:12 +02'", "time: 2026-01-01T08:11:12.000Z"},
	{"'2026-01-01 10:11:12-0530'", "time: 2026-01-01T15:41:12.000Z"}, {"'2026-01-01 10:11+05:30'", "time: 2026-01-01T04:41:00.000Z"},
	{"'2026-01-01 10:11:12.5 +0200 CEST m=+0.1'", "time: 2026-01-01T08:11:12.500Z"}, {"' 2026-01-01 '", "time: 2025-12-31T23:00:00.000Z"},
	{"'0000-00-00'", "time: absent; text: 0000-00-00"}, {"'2026-02-29'", "time: absent"}, {"'2024-02-29'", "time: 2024-02-28T23:00:00.000Z"}, {"'2026-13-01'", "time: absent"},
	{"'2026-00-10'", "time: absent"}, {"'0001-01-01'", "utc: 0001-01-01T00:00:00.000Z; time: absent"}, {"'2026-01-01 24:00:00'", "time: absent"}, {"'2026-01-01 10'", "time: absent"},
	{"'2026-01-01 10:00:60'", "time: absent"}, {"'2026-01-01 10:00 CET'", "time: absent"}, {"'2026-01-01x'", "time: absent"}, {"'2026-01-01 10:00:00.'", "time: absent"}, {"'20260101'", "time: absent"},
	{"'-026-01-01'", "time: absent"}, {"'2026-01-01 10:00:00+2'", "time: absent"}, {"'infinity'", "time: absent; text: infinity"},
	// An hour that no clock in Amsterdam shows, and one that it shows twice.
	{"'2026-03-29 02:30:00'", "time: 2026-03-29T01:30:00.000Z"}, {"'2026-03-29 01:59:59'", "time: 2026-03-29T00:59:59.000Z"}, {"'2026-03-29 03:00:00'", "time: 2026-03-29T01:00:00.000Z"},
	{"'2026-10-25 02:30:00'", "time: 2026-10-25T01:30:00.000Z"}, {"'2026-10-25 01:59:59'", "time: 2026-10-24T23:59:59.000Z"}, {"'2026-10-25 03:00:00'", "time: 2026-10-25T02:00:00.000Z"},
}

// ofEngine are the types that an engine has.
var ofEngine = map[string][]shownCase{
	"sqlite": {
		{"x'c3a9'", "text: é; bytea: c3a9"}, {"x'ff'", "text: absent; bytea: ff"}, {"CAST(x'ff' AS TEXT)", "text: absent"}, {"x'3132'", "int4: 12"},
		{"1.5", "int4: absent; text: 1.5; float: 1.5; float2: 1.5"}, {"2.0", "int4: 2; text: 2"}, {"0.1 + 0.2", "float: 0.30000000000000004; float2: 0.3"},
		{"1.005", "float2: 1.01"}, {"9e999", "float: absent; float2: absent; text: absent; int4: absent"}, {"1e300", "float: 1e+300; float2: absent"}, {"TRUE", "int4: 1; text: 1"},
		{"datetime(0, 'unixepoch')", "utc: 1970-01-01T00:00:00.000Z"}, {"julianday('2026-01-01')", "time: absent"},
	},
	"mariadb": {
		{"TRUE", "int4: 1; text: 1"}, {"CAST(18446744073709551615 AS UNSIGNED)", "int4: absent; text: 18446744073709551615; float2: absent"}, {"CAST(5 AS UNSIGNED)", "int4: 5"},
		{"CAST(12.345 AS DECIMAL(9,3))", "int4: absent; text: 12.345; float: 12.345; float2: 12.35"}, {"CAST(12 AS DECIMAL(9,2))", "int4: 12; text: 12.00"}, {"-0.005", "float2: -0.01"},
		{"1.005E0", "float2: 1.01; text: 1.005; int4: absent"}, {"0.1E0 + 0.2E0", "float: 0.30000000000000004; float2: 0.3"}, {"b'101'", "text: \x05"},
		{"x'c3a9'", "text: é; bytea: c3a9"}, {"x'ff'", "text: absent; bytea: ff"}, {"CAST('12' AS BINARY)", "int4: 12; float2: 12; bytea: 3132; text: 12"},
		{"CAST('2026-07-01' AS DATE)", "time: 2026-06-30T22:00:00.000Z; utc: 2026-07-01T00:00:00.000Z; text: 2026-07-01; int4: absent"},
		{"CAST('2026-01-01 10:11:12.345678' AS DATETIME(6))", "time: 2026-01-01T09:11:12.345Z; text: 2026-01-01 10:11:12.345678"}, {"CAST('10:11:12' AS TIME)", "text: 10:11:12; time: absent"},
		{"CAST('2026-03-29 02:30:00' AS DATETIME)", "time: 2026-03-29T01:30:00.000Z"}, {"CAST('2026-10-25 02:30:00' AS DATETIME)", "time: 2026-10-25T01:30:00.000Z"},
		{"tiny", "int4: -5; text: -5"}, {"f", "float: 0.1; float2: 0.1; text: 0.1"}, {"flag", "int4: 1; text: 1; float2: 1"}, {"many", "text: 18446744073709551615; int4: absent"},
		{"c", "text: a"}, {"e", "text: b"}, {"s", "text: a,b"}, {"u", "text: 6f8a0c1e-0000-4000-8000-000000000001"},
		{"i", "text: 10.0.0.1"}, {"j", `text: {"a":1}`}, {"y", "int4: 2026"}, {"blobbed", "bytea: ff00; text: absent"},
		{"latin", "text: é"}, {"zero", "time: absent; text: 0000-00-00"}, {"zeros", "time: absent; text: 0000-00-00 00:00:00"},
		{"day", "time: absent; text: 1956-00-00"}, {"stamp", "time: 2026-01-01T09:00:00.000Z"}, {"fine", "time: 2026-01-01T09:00:00.123Z"},
	},
	"postgres": {
		{"1::smallint", "int4: 1; text: 1; float2: 1"}, {"1::bigint", "int4: 1; text: 1"}, {"4294967295::oid", "int4: absent; text: 4294967295"},
		{"true", "int4: 1; text: true; float2: 1; float: 1"}, {"false", "int4: 0; text: false; time: absent"},
		{"12.345::numeric", "int4: absent; text: 12.345; float: 12.345; float2: 12.35"}, {"12.00::numeric", "int4: 12; text: 12.00"}, {"'NaN'::numeric", "float: absent; float2: absent; int4: absent"},
		{"1e30::numeric", "float: 1e+30; float2: absent"}, {"-0.005::numeric", "float2: -0.01"}, {"-0.0049::numeric", "float2: 0"},
		{"0.1::real", "text: 0.1; float: 0.1; float2: 0.1"}, {"16777216::real", "text: 16777216; int4: 16777216"}, {"0.1::float8 + 0.2", "text: 0.30000000000000004; float2: 0.3"},
		{"1.005::float8", "float2: 1.01"}, {"-1.005::float8", "float2: -1.01"}, {"'NaN'::float8", "float: absent; float2: absent; text: absent; int4: absent"}, {"'-infinity'::real", "float: absent; float2: absent"},
		{"B'1'::bit(1)", "int4: 1; text: 1"}, {"'a  '::char(5)", "text: a"}, {"'a  '::varchar(5)", "text: a  "}, {"'a'::name", "text: a"}, {"'12  '::char(6)", "int4: 12; float2: 12"},
		{"'6f8a0c1e-0000-4000-8000-000000000001'::uuid", "text: 6f8a0c1e-0000-4000-8000-000000000001"}, {`'{"a": 1}'::json`, `text: {"a": 1}`}, {`'{"a":1}'::jsonb`, `text: {"a": 1}`},
		{"'<a/>'::xml", "text: <a/>"}, {"'10.0.0.1'::inet", "text: 10.0.0.1"}, {"'b'::mood", "text: b"}, {"'x'::word", "text: x"}, {"ARRAY[1,2]", "text: {1,2}"}, {"'1 day'::interval", "text: 1 day"},
		{"'10:11:12'::time", "text: 10:11:12; time: absent"}, {"'\\xff00'::bytea", "bytea: ff00; text: absent"}, {"'\\xc3a9'::bytea", "bytea: c3a9; text: é"}, {"12::money", "int4: absent"},
		{"'2026-07-01'::date", "time: 2026-06-30T22:00:00.000Z; utc: 2026-07-01T00:00:00.000Z; text: 2026-07-01; int4: absent"}, {"'infinity'::date", "time: absent; text: infinity"},
		{"'2026-01-01 10:11:12.3456'::timestamp", "time: 2026-01-01T09:11:12.345Z; text: 2026-01-01 10:11:12.345"}, {"'-infinity'::timestamp", "time: absent; text: -infinity"},
		{"'2026-03-29 02:30:00'::timestamp", "time: 2026-03-29T01:30:00.000Z"}, {"'2026-10-25 02:30:00'::timestamp", "time: 2026-10-25T01:30:00.000Z"},
		{"'2026-01-01 10:00:00+05'::timestamptz", "time: 2026-01-01T05:00:00.000Z; text: 2026-01-01 05:00:00Z"}, {"'infinity'::timestamptz", "time: absent"},
		{"'1969-12-31 23:59:59.9999'::timestamp", "utc: 1969-12-31T23:59:59.999Z"}, {"'20000-01-01'::date", "time: absent"}, {"'0044-03-15 BC'::date", "time: absent"},
	},
}

// typesOfTheirs make what ofEngine asks for.
var typesOfTheirs = map[string][]string{
	"postgres": {"CREATE TYPE mood AS ENUM ('a', 'b')", "CREATE DOMAIN word AS varchar(10)"},
	"mariadb": {
		"CREATE TABLE kinds (tiny TINYINT, f FLOAT, flag BIT(1), many BIT(64), c CHAR(5), e ENUM('a', 'b'), s SET('a', 'b'), u UUID, i INET4, j JSON, y YEAR, blobbed BLOB, latin VARCHAR(5) CHARACTER SET latin1, " +
			"zero DATE, zeros DATETIME, day DATE, stamp TIMESTAMP NULL, fine DATETIME(3))",
		"SET sql_mode = ''",
		"INSERT INTO kinds VALUES (-5, 0.1, b'1', x'ffffffffffffffff', 'a', 'b', 'a,b', '6f8a0c1e-0000-4000-8000-000000000001', '10.0.0.1', '{\"a\":1}', 2026, x'ff00', 'é', '0000-00-00', '0000-00-00 00:00:00', '1956-00-00', '2026-01-01 10:00:00', '2026-01-01 10:00:00.123')",
	},
}

// TestForeignValues walks each type of each engine.
func TestForeignValues(t *testing.T) {
	onForeigners(t, nil, func(t *testing.T, o ForeignOptions, db DB) {
		for _, text := range typesOfTheirs[o.Engine] {
			change(t, db, text)
		}
		if o.Engine == "mariadb" {
			// Without parameters values come as texts.
			t.Run("prepared", func(t *testing.T) { walk(t, db, o.Engine, " FROM kinds WHERE 1 = ?", mapping.IntValue(1)) })
			walk(t, db, o.Engine, " FROM kinds")
			return
		}
		if o.Engine == "postgres" {
			for _, mode := range []string{"exec", "simple_protocol"} {
				pooled := o
				pooled.DSN += "&default_query_exec_mode=" + mode
				t.Run(mode, func(t *testing.T) { walk(t, openForeign(t, pooled), o.Engine, "") })
			}
		}
		walk(t, db, o.Engine, "")
	})
}

func walk(t *testing.T, db DB, engine, from string, args ...mapping.Value) {
	for _, r := range append(everyEngine[:len(everyEngine):len(everyEngine)], ofEngine[engine]...) {
		// A text stands on each side, so that texts share one string.
		columns, wants, sql := []Column{{Type: mapping.Text, Foreign: true}}, []string{"before"}, "SELECT 'before'"
		for one := range strings.SplitSeq(r.want, "; ") {
			name, want, _ := strings.Cut(one, ": ")
			c := foreignColumns[name]
			require.NotZero(t, c.Type, name)
			c.Foreign = true
			columns, wants, sql = append(columns, c), append(wants, want), sql+", "+r.sql
		}
		columns, wants, sql = append(columns, Column{Type: mapping.Text, Foreign: true}), append(wants, "behind"), sql+", 'behind'"+from
		require.NoError(t, db.Read(t.Context(), func(c Conn) error {
			row, err := One(t.Context(), c, sql, columns, args...)
			if err != nil {
				return err
			}
			for i, v := range row {
				assert.Equal(t, wants[i], shownAs(v), "%s as %s", r.sql, r.want)
			}
			return nil
		}), r.sql)
	}
}

// TestForeignArguments: each kind of value finds what it was stored as.
func TestForeignArguments(t *testing.T) {
	values := []mapping.Value{
		mapping.IntValue(7), mapping.DecimalValue(1250, 2), mapping.FloatValue(0.25), mapping.TextValue("a?$1"), mapping.BytesValue([]byte{0, 255}),
		mapping.TimeValue(time.Date(2026, 1, 2, 3, 4, 5, 6e6, time.UTC)), mapping.NullValue(),
	}
	onForeigners(t, nil, func(t *testing.T, o ForeignOptions, db DB) {
		table := "CREATE TABLE kept (i INTEGER, d NUMERIC(9,2), f DOUBLE PRECISION, x VARCHAR(20), b BYTEA, m TIMESTAMP(3), n INTEGER, words VARCHAR(20))"
		if o.Engine == "mariadb" {
			table = strings.NewReplacer("BYTEA", "BLOB", "TIMESTAMP", "DATETIME").Replace(table)
		}
		d := db.Dialect()
		names := []string{"i", "d", "f", "x", "b", "m", "n"}
		change(t, db, table)
		change(t, db, "INSERT INTO kept (i, d, f, x, b, m, n, words) VALUES ("+d.placeholders(1, len(values))+", '12.5')", values...)
		require.NoError(t, db.Read(t.Context(), func(c Conn) error {
			for i, v := range values[:len(values)-1] {
				row, err := One(t.Context(), c, "SELECT count(*), '?' FROM kept WHERE "+d.Quote(names[i])+" = "+d.Placeholder(1), []Column{{Type: mapping.Int4, Foreign: true}, {Type: mapping.Text, Foreign: true}}, v)
				require.NoError(t, err, names[i])
				require.Equal(t, []mapping.Value{mapping.IntValue(1), mapping.TextValue("?")}, row, names[i])
			}
			row, err := One(t.Context(), c, "SELECT i, d, f, x, b, m, n FROM kept", []Column{
				{Type: mapping.Int4, Foreign: true}, {Type: mapping.Float8, Scale: 2, Foreign: true}, {Type: mapping.Float8, Scale: -1, Foreign: true}, {Type: mapping.Text, Foreign: true},
				{Type: mapping.Bytea, Foreign: true}, {Type: mapping.Timestamp, Foreign: true}, {Type: mapping.Int4, Foreign: true},
			})
			require.Equal(t, values, row)
			return err
		}))
	})
}

// TestQuotedNames: names of others have any letters.
func TestQuotedNames(t *testing.T) {
	onForeigners(t, nil, func(t *testing.T, _ ForeignOptions, db DB) {
		name := db.Dialect().Quote("a \"b\" `c` ?")
		change(t, db, "CREATE TABLE "+name+" ("+name+" INTEGER)")
		change(t, db, "INSERT INTO "+name+" ("+name+") VALUES ("+db.Dialect().Placeholder(1)+")", mapping.IntValue(1))
	})
}

// TestForeignSession: each connection begins with the session's statements, also one beside the
// pools; and one that fails is told by its number, without its text.
func TestForeignSession(t *testing.T) {
	for engine, session := range map[string][]string{
		"postgres": {"CREATE SCHEMA IF NOT EXISTS theirs", "SET search_path = theirs"}, "sqlite": {"PRAGMA case_sensitive_like=ON"}, "mariadb": {"SET @theirs = 5"},
	} {
		t.Run(engine, func(t *testing.T) {
			o := ForeignOptions{Engine: engine, DSN: foreignDSN(t, engine), Connections: 2, LockWait: time.Second, Session: session}
			db := openForeign(t, o)
			ask := map[string]string{
				"postgres": "SELECT CASE WHEN current_schema() = 'theirs' THEN 1 END", "sqlite": "SELECT CASE WHEN NOT 'a' LIKE 'A' THEN 1 END", "mariadb": "SELECT CASE WHEN @theirs = 5 THEN 1 END",
			}[engine]
			look := func(c Conn) error {
				row, err := One(t.Context(), c, ask, []Column{{Type: mapping.Int4, Foreign: true}})
				require.Equal(t, []mapping.Value{mapping.IntValue(1)}, row)
				return err
			}
			for _, run := range []func(context.Context, func(Conn) error) error{
				db.Read, db.Snapshot, db.Write, Reserved(db).Read, func(ctx context.Context, f func(Conn) error) error { return LongSnapshot(ctx, db, f) },
			} {
				require.NoError(t, run(t.Context(), look))
			}
			o.Session = append(o.Session, "SELECT secret FROM nowhere")
			_, err := OpenForeign(t.Context(), o)
			require.ErrorContains(t, err, "statement 4 of a new connection")
			require.False(t, Away(err))
		})
	}
}

func TestJudgeForeign(t *testing.T) {
	for dsn, want := range map[string]string{
		"sqlite:file:x.db?_pragma=key('geheim')&mode=ro": "", "sqlite:/x/y.db": "", "sqlite:file:x.db?_loc=geheim": "the DSN has a parameter _loc, which there is not",
		"sqlite::memory:": "the DSN names no file", "sqlite:": "the DSN names no file", "sqlite:file:x?mode=memory": "the DSN names no file", "sqlite:file:%zz": errNoSQLite.Error(),
		"mysql:u:geheim@tcp(h:1)/db": "", "mariadb:u:geheim@h:1": errNoMySQL.Error(),
		"postgres:postgres://u:geheim@h/db": "", "postgres:postgres://u:geheim@h:port/db": "the DSN cannot be read", "db2:x": `there is no engine "db2"`,
	} {
		engine, dsn, _ := strings.Cut(dsn, ":")
		err := JudgeForeign(engine, dsn)
		if want == "" {
			require.NoError(t, err, dsn)
			continue
		}
		require.ErrorContains(t, err, want)
		require.NotContains(t, err.Error(), "geheim")
	}
}

// TestSQLiteFileOfOthers: it is not made, and neither its journal nor its rights change.
func TestSQLiteFileOfOthers(t *testing.T) {
	path := filepath.Join(t.TempDir(), "none.db")
	_, err := OpenForeign(t.Context(), ForeignOptions{Engine: "sqlite", DSN: path, LockWait: time.Second})
	require.ErrorIs(t, err, os.ErrNotExist)
	require.NoFileExists(t, path)

	dsn := foreignDSN(t, "sqlite")
	db := openForeign(t, ForeignOptions{Engine: "sqlite", DSN: dsn, LockWait: time.Second}, "INSERT INTO there VALUES (1)")
	require.Equal(t, "delete", ask(t, db, "PRAGMA journal_mode"))
	require.ErrorContains(t, db.Read(t.Context(), func(c Conn) error {
		_, err := c.Exec(t.Context(), "DELETE FROM there")
		return err
	}), "readonly")

	// A commit waits for who reads, and another program may alter a table.
	reading, written := make(chan struct{}), make(chan error, 1)
	require.NoError(t, db.Snapshot(t.Context(), func(c Conn) error {
		_, err := One(t.Context(), c, "SELECT x FROM there", []Column{Number})
		require.NoError(t, err)
		go func() {
			close(reading)
			_, err := Change(t.Context(), db, "ALTER TABLE there ADD COLUMN y")
			written <- err
		}()
		<-reading
		return nil
	}))
	require.NoError(t, <-written)
	ask(t, db, "SELECT y FROM there")
}

// TestAlteredColumn: on PostgreSQL a prepared statement whose result has another type by now is
// prepared anew.
func TestAlteredColumn(t *testing.T) {
	onForeigners(t, []string{"CREATE TABLE altered (x INTEGER)", "INSERT INTO altered VALUES (5)"}, func(t *testing.T, o ForeignOptions, db DB) {
		look := "SELECT x FROM altered WHERE x = " + db.Dialect().Placeholder(1)
		require.Equal(t, "5", ask(t, db, look, mapping.IntValue(5)))
		if alter := map[string]string{"postgres": "ALTER TABLE altered ALTER COLUMN x TYPE varchar(10)", "mariadb": "ALTER TABLE altered MODIFY x VARCHAR(10)"}[o.Engine]; alter != "" {
			change(t, db, alter)
		}
		require.Equal(t, "5", ask(t, db, look, mapping.IntValue(5)))
	})
}

// TestForeignWritesAreSerializable: of two that each count what the other adds, one is run again.
func TestForeignWritesAreSerializable(t *testing.T) {
	onForeigners(t, []string{"CREATE TABLE counted (x INTEGER)"}, func(t *testing.T, _ ForeignOptions, db DB) {
		const writers = 2
		runs, results := make(chan struct{}, 100), make(chan error, writers)
		for range writers {
			go func() {
				results <- db.Write(t.Context(), func(c Conn) error {
					runs <- struct{}{}
					row, err := One(t.Context(), c, "SELECT count(*) FROM counted", []Column{{Type: mapping.Int4, Foreign: true}})
					if err != nil {
						return err
					}
					_, err = c.Exec(t.Context(), "INSERT INTO counted VALUES ("+db.Dialect().Placeholder(1)+")", row[0])
					return err
				})
			}()
		}
		for range writers {
			require.NoError(t, <-results)
		}
		require.Equal(t, fmt.Sprint(writers), ask(t, db, "SELECT count(DISTINCT x) FROM counted"))
		require.Equal(t, fmt.Sprint(writers-1), ask(t, db, "SELECT max(x) FROM counted"))
	})
}

// TestForeignLockWait: no statement waits for a lock longer than it may, and one that only reads
// waits for none.
func TestForeignLockWait(t *testing.T) {
	onForeigners(t, []string{"CREATE TABLE locked (x INTEGER)", "INSERT INTO locked VALUES (1)"}, func(t *testing.T, o ForeignOptions, db DB) {
		other := openForeign(t, o)
		require.NoError(t, other.Write(t.Context(), func(c Conn) error {
			_, err := c.Exec(t.Context(), "UPDATE locked SET x = 2")
			require.NoError(t, err)
			require.Equal(t, "1", ask(t, db, "SELECT x FROM locked WHERE x > "+db.Dialect().Placeholder(1), mapping.IntValue(0)))
			wants := func() error { // with one try, unlike Write of a server
				return db.Read(t.Context(), func(c Conn) error {
					_, err := One(t.Context(), c, "SELECT x FROM locked FOR UPDATE", []Column{{Type: mapping.Int4, Foreign: true}})
					return err
				})
			}
			if o.Engine == "sqlite" {
				wants = func() error { _, err := Change(t.Context(), db, "UPDATE locked SET x = 3"); return err }
			}
			f, ok := FaultOf(wants())
			require.True(t, ok)
			require.Equal(t, FaultCollision, f.Class)
			return nil
		}))
	})
}

// wideTable is one of 20 columns, and the statement that reads a record of it.
func wideTable(t testing.TB, db DB) (get string, columns []Column) {
	t.Helper()
	table, values, names := "CREATE TABLE wide (id INTEGER PRIMARY KEY, client INTEGER", "INSERT INTO wide VALUES (1001, 7", "id, client"
	columns = []Column{{Type: mapping.Int4, Foreign: true}, {Type: mapping.Int4, Foreign: true}}
	for i, of := range []struct {
		kind, value string
		c           Column
	}{
		{"VARCHAR(40)", "'Jansen en Zonen'", Column{Type: mapping.Varchar}}, {"CHAR(10)", "'1234 AB'", Column{Type: mapping.Varchar}}, {"NUMERIC(12,2)", "1234.56", Column{Type: mapping.Float8, Scale: 2}},
		{"INTEGER", "42", Column{Type: mapping.Int4}}, {"SMALLINT", "1", Column{Type: mapping.Int4}}, {"DATE", "'2026-07-01'", Column{Type: mapping.Timestamp, Zone: amsterdam}},
		{"TIMESTAMP", "'2026-07-01 10:00:00'", Column{Type: mapping.Timestamp, Zone: amsterdam}}, {"DOUBLE PRECISION", "0.1", Column{Type: mapping.Float8, Scale: 2}}, {"TEXT", "'note'", Column{Type: mapping.Text}},
	} {
		for half := range 2 {
			name := fmt.Sprintf("c%d_%d", i, half)
			table, values, names = table+", "+name+" "+of.kind, values+", "+of.value, names+", "+name
			of.c.Foreign = true
			columns = append(columns, of.c)
		}
	}
	for _, text := range []string{table + ")", values + ")"} {
		change(t, db, text)
	}
	d := db.Dialect()
	return "SELECT " + names + " FROM wide WHERE id = " + d.Placeholder(1) + " AND client = " + d.Placeholder(2), columns
}

// TestForeignGetAllocations: the server answers by itself, so that only the connection counts.
func TestForeignGetAllocations(t *testing.T) {
	db := openForeign(t, ForeignOptions{Engine: "postgres", DSN: sqltest.Postgres(t), Connections: 4, LockWait: time.Second})
	get, columns := wideTable(t, db)
	args := []mapping.Value{mapping.IntValue(1001), mapping.TextValue("7")}
	least := math.MaxFloat64
	require.NoError(t, db.Read(t.Context(), func(c Conn) error {
		least = testing.AllocsPerRun(100, func() {
			require.NoError(t, c.Query(t.Context(), get, columns, args, func([]mapping.Value) error { return nil }))
		})
		return nil
	}))
	require.Less(t, least, 20.0)
}
