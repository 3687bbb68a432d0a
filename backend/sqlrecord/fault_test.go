package sqlrecord

import (
	"errors"
	"regexp"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"frontdesk/mapping"
)

// faultTables are what the statements of TestFaults are about.
var faultTables = map[string][]string{
	"sqlite": {
		"CREATE TABLE parent (id INTEGER PRIMARY KEY, code TEXT UNIQUE, name TEXT NOT NULL, n INTEGER CONSTRAINT positive CHECK (n > 0)) STRICT",
		"CREATE TABLE child (id INTEGER PRIMARY KEY, parent INTEGER REFERENCES parent (id))",
	},
	"postgres": {
		"CREATE TABLE parent (id INTEGER PRIMARY KEY, code VARCHAR(5) CONSTRAINT uq_code UNIQUE, name VARCHAR(5) NOT NULL, n SMALLINT CONSTRAINT positive CHECK (n > 0), at DATE)",
		"CREATE TABLE child (id INTEGER PRIMARY KEY, parent INTEGER CONSTRAINT fk_parent REFERENCES parent (id))",
		"CREATE FUNCTION told() RETURNS integer LANGUAGE plpgsql AS $$ BEGIN RAISE EXCEPTION 'no' USING ERRCODE = 'P0042'; END $$",
		"CREATE FUNCTION dies() RETURNS integer LANGUAGE plpgsql AS $$ BEGIN RAISE EXCEPTION 'no' USING ERRCODE = '57P01'; END $$",
	},
	"mariadb": {
		"CREATE TABLE parent (id INTEGER PRIMARY KEY, code VARCHAR(5), name VARCHAR(5) NOT NULL, n SMALLINT, UNIQUE KEY uq_code (code), CONSTRAINT positive CHECK (n > 0))",
		"CREATE TABLE child (id INTEGER PRIMARY KEY, parent INTEGER, CONSTRAINT fk_parent FOREIGN KEY (parent) REFERENCES parent (id))",
		"CREATE FUNCTION told() RETURNS INTEGER BEGIN SIGNAL SQLSTATE '45042' SET MESSAGE_TEXT = 'no'; RETURN 1; END",
		"CREATE FUNCTION dies() RETURNS INTEGER BEGIN SIGNAL SQLSTATE '45000' SET MYSQL_ERRNO = 1053, MESSAGE_TEXT = 'no'; RETURN 1; END",
	},
}

// faults are statements, and the faults of engines; an engine without one does not refuse it.
var faults = []struct {
	sql  string
	want map[string]Fault
}{
	{"INSERT INTO parent (id, code, name) VALUES (2, 'a', 'x')", map[string]Fault{
		"sqlite":   {Class: FaultUnique, Code: "2067", Constraint: "parent.code"},
		"postgres": {Class: FaultUnique, SQLState: "23505", Code: "23505", Constraint: "uq_code"},
		"mariadb":  {Class: FaultUnique, SQLState: "23000", Code: "1062", Constraint: "uq_code"},
	}},
	{"INSERT INTO parent (id, code, name) VALUES (1, 'b', 'x')", map[string]Fault{
		"sqlite":   {Class: FaultUnique, Code: "1555", Constraint: "parent.id"},
		"postgres": {Class: FaultUnique, SQLState: "23505", Code: "23505", Constraint: "parent_pkey"},
		"mariadb":  {Class: FaultUnique, SQLState: "23000", Code: "1062", Constraint: "PRIMARY"},
	}},
	{"INSERT INTO child (id, parent) VALUES (1, 77)", map[string]Fault{
		"sqlite":   {Class: FaultReference, Code: "787"},
		"postgres": {Class: FaultReference, SQLState: "23503", Code: "23503", Constraint: "fk_parent"},
		"mariadb":  {Class: FaultReference, SQLState: "23000", Code: "1452", Constraint: "fk_parent"},
	}},
	{"INSERT INTO parent (id, name) VALUES (3, NULL)", map[string]Fault{
		"sqlite":   {Class: FaultNull, Code: "1299", Constraint: "name", Table: "parent", Column: "name"},
		"postgres": {Class: FaultNull, SQLState: "23502", Code: "23502", Constraint: "name", Table: "parent", Column: "name"},
		"mariadb":  {Class: FaultNull, SQLState: "23000", Code: "1048", Constraint: "name", Column: "name"},
	}},
	{"INSERT INTO parent (id, name, n) VALUES (3, 'x', -1)", map[string]Fault{
		"sqlite":   {Class: FaultCheck, Code: "275", Constraint: "positive"},
		"postgres": {Class: FaultCheck, SQLState: "23514", Code: "23514", Constraint: "positive", Table: "parent"},
		"mariadb":  {Class: FaultCheck, SQLState: "23000", Code: "4025", Constraint: "positive", Table: "DATABASE.parent"},
	}},
	{"INSERT INTO parent (id, name, n) VALUES (3, 'x', 'many')", map[string]Fault{
		"sqlite":   {Class: FaultValue, Code: "3091", Table: "parent", Column: "n"},
		"postgres": {Class: FaultValue, SQLState: "22P02", Code: "22P02"},
		"mariadb":  {Class: FaultValue, SQLState: "22007", Code: "1366", Table: "DATABASE.parent", Column: "n"},
	}},
	{"INSERT INTO parent (id, name) VALUES (3, 'too long')", map[string]Fault{
		"postgres": {Class: FaultValue, SQLState: "22001", Code: "22001"},
		"mariadb":  {Class: FaultValue, SQLState: "22001", Code: "1406", Column: "name"},
	}},
	{"INSERT INTO parent (id, name, n) VALUES (3, 'x', 40000)", map[string]Fault{
		"postgres": {Class: FaultValue, SQLState: "22003", Code: "22003"},
		"mariadb":  {Class: FaultValue, SQLState: "22003", Code: "1264", Column: "n"},
	}},
	{"INSERT INTO parent (id, name, gone) VALUES (3, 'x', 1)", map[string]Fault{
		"sqlite":   {Class: FaultSchema, Code: "1"},
		"postgres": {Class: FaultSchema, SQLState: "42703", Code: "42703"},
		"mariadb":  {Class: FaultSchema, SQLState: "42S22", Code: "1054"},
	}},
	{"UPDATE parent SET n = 1 WHERE gone = 1", map[string]Fault{
		"sqlite":   {Class: FaultSchema, Code: "1"},
		"postgres": {Class: FaultSchema, SQLState: "42703", Code: "42703"},
		"mariadb":  {Class: FaultSchema, SQLState: "42S22", Code: "1054"},
	}},
	{"DELETE FROM gone", map[string]Fault{
		"sqlite":   {Class: FaultSchema, Code: "1"},
		"postgres": {Class: FaultSchema, SQLState: "42P01", Code: "42P01"},
		"mariadb":  {Class: FaultSchema, SQLState: "42S02", Code: "1146"},
	}},
	{"SELECT told()", map[string]Fault{
		"sqlite":   {Class: FaultSchema, Code: "1"},
		"postgres": {Class: FaultOther, SQLState: "P0042", Code: "P0042"},
		"mariadb":  {Class: FaultOther, SQLState: "45042", Code: "1644"},
	}},
	{"SELECT dies()", map[string]Fault{
		"sqlite":   {Class: FaultSchema, Code: "1"},
		"postgres": {Class: FaultDown, SQLState: "57P01", Code: "57P01"},
		"mariadb":  {Class: FaultDown, SQLState: "45000", Code: "1053"},
	}},
	{"SELEKT 1", map[string]Fault{
		"sqlite":   {Class: FaultOther, Code: "1"},
		"postgres": {Class: FaultSchema, SQLState: "42601", Code: "42601"},
		"mariadb":  {Class: FaultSchema, SQLState: "42000", Code: "1064"},
	}},
}

func TestFaults(t *testing.T) {
	onForeigners(t, nil, func(t *testing.T, o ForeignOptions, db DB) {
		for _, text := range append(faultTables[o.Engine], "INSERT INTO parent (id, code, name) VALUES (1, 'a', 'x')") {
			_, err := Change(t.Context(), db, text)
			require.NoError(t, err, text)
		}
		for _, c := range faults {
			want, refused := c.want[o.Engine]
			err := db.Write(t.Context(), func(conn Conn) error {
				_, err := conn.Exec(t.Context(), c.sql)
				if err == nil {
					return errUndo
				}
				return err
			})
			if !refused {
				require.ErrorIs(t, err, errUndo, c.sql)
				continue
			}
			got, ok := FaultOf(err)
			require.True(t, ok, c.sql)
			assert.NotEmpty(t, got.Message)
			assert.NotContains(t, got.Message, "judged by")
			got.Message = ""
			got.Table = database.ReplaceAllString(got.Table, "DATABASE.")
			assert.Equal(t, want, got, "%s: %v", c.sql, err)
		}
		_, ok := FaultOf(errUndo)
		require.False(t, ok)
		_, ok = FaultOf(nil)
		require.False(t, ok)
	})
}

// database is the name that a test's database of MariaDB has.
var database = regexp.MustCompile(`^test_\d+\.`)

var errUndo = errors.New("undo it")

// TestCheckWithoutName: SQLite names it by its text.
func TestCheckWithoutName(t *testing.T) {
	db := openForeign(t, ForeignOptions{Engine: "sqlite", DSN: foreignDSN(t, "sqlite"), LockWait: time.Minute}, "CREATE TABLE nameless (n CHECK (n > 0 AND n < 9))")
	_, err := Change(t.Context(), db, "INSERT INTO nameless VALUES (?1)", mapping.IntValue(0))
	f, ok := FaultOf(err)
	require.True(t, ok)
	require.Equal(t, "n > 0 AND n < 9", f.Constraint)
}
