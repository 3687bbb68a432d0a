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
	"frontdesk/cmd/frontdesk/rig/must"
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
	db := must.Have(OpenForeign(t.Context(), o))(t)
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
	"int4": {Type: mapping.Int4}, "text": {Type: mapping.Text}, "varchar": {Type: mapping.Varchar}, "bytea": {Type: mapping.Bytea}, "float": {Type: mapping.Float8, Scale: -1},
	"float2": {Type: mapping.Float8, Scale: 2}, "time": {Type: mapping.Timestamp, Zone: amsterdam}, "utc": {Type: mapping.Timestamp},
	"epoch": {Type: mapping.Timestamp, Kind: Epoch, Zone: amsterdam}, "millis": {Type: mapping.Timestamp, Kind: EpochMillis},
}

// section are the lines of a part of a file of testdata.
func section(t testing.TB, file, name string) (lines []string) {
	t.Helper()
	text := must.Have(os.ReadFile(filepath.Join("testdata", file)))(t)
	in := ""
	for line := range strings.Lines(string(text)) {
		line = strings.TrimRight(line, "\n")
		if of, is := strings.CutPrefix(line, "=== "); is {
			in = of
		} else if in == name && line != "" && line[0] != '#' {
			lines = append(lines, line)
		}
	}
	return lines
}

// TestForeignValues walks each type of each engine.
func TestForeignValues(t *testing.T) {
	onForeigners(t, nil, func(t *testing.T, o ForeignOptions, db DB) {
		for _, text := range section(t, "values.txt", "types of "+o.Engine) {
			change(t, db, text)
		}
		of := append(section(t, "values.txt", "every engine"), section(t, "values.txt", o.Engine)...)
		if o.Engine == "mariadb" {
			// Without parameters values come as texts.
			t.Run("prepared", func(t *testing.T) { walk(t, db, of, true, " FROM kinds WHERE 1 = ?", mapping.IntValue(1)) })
			walk(t, db, of, true, " FROM kinds")
			return
		}
		if o.Engine == "postgres" {
			for _, mode := range []string{"exec", "simple_protocol"} {
				pooled := o
				pooled.DSN += "&default_query_exec_mode=" + mode
				t.Run(mode, func(t *testing.T) { walk(t, openForeign(t, pooled), of, true, "") })
			}
		}
		walk(t, db, of, true, "")
	})
}

func walk(t *testing.T, db DB, lines []string, foreign bool, from string, args ...mapping.Value) {
	for _, line := range lines {
		expression, shown, is := strings.Cut(line, " => ")
		require.True(t, is, line)
		// A text stands on each side, so that texts share one string.
		columns, wants, sql := []Column{{Type: mapping.Text, Foreign: true}}, []string{"before"}, "SELECT 'before'"
		for one := range strings.SplitSeq(strings.ReplaceAll(shown, `\x05`, "\x05"), "; ") {
			name, want, _ := strings.Cut(one, ": ")
			c := foreignColumns[name]
			require.NotZero(t, c.Type, name)
			c.Foreign = foreign
			columns, wants, sql = append(columns, c), append(wants, want), sql+", "+expression
		}
		columns, wants, sql = append(columns, Column{Type: mapping.Text, Foreign: true}), append(wants, "behind"), sql+", 'behind'"+from
		require.NoError(t, db.Read(t.Context(), func(c Conn) error {
			row, err := One(t.Context(), c, sql, columns, args...)
			if err != nil {
				return err
			}
			for i, v := range row {
				assert.Equal(t, wants[i], shownAs(v), line)
			}
			return nil
		}), line)
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
	require.ErrorIs(t, must.Fail(OpenForeign(t.Context(), ForeignOptions{Engine: "sqlite", DSN: path, LockWait: time.Second})), os.ErrNotExist)
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
		must.Have(One(t.Context(), c, "SELECT x FROM there", []Column{Number}))(t)
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
			must.Have(c.Exec(t.Context(), "UPDATE locked SET x = 2"))(t)
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
