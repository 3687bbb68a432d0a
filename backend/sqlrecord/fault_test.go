package sqlrecord

import (
	"errors"
	"regexp"
	"strings"
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

// faults are statements, and the faults of SQLite, PostgreSQL and MariaDB: a class, a code behind its
// SQL state where that is another, and what is named. An engine without one does not refuse it.
var faults = [][4]string{
	{"INSERT INTO parent (id, code, name) VALUES (2, 'a', 'x')",
		"Unique 2067 constraint=parent.code", "Unique 23505 constraint=uq_code", "Unique 23000/1062 constraint=uq_code"},
	{"INSERT INTO parent (id, code, name) VALUES (1, 'b', 'x')",
		"Unique 1555 constraint=parent.id", "Unique 23505 constraint=parent_pkey", "Unique 23000/1062 constraint=PRIMARY"},
	{"INSERT INTO child (id, parent) VALUES (1, 77)",
		"Reference 787", "Reference 23503 constraint=fk_parent", "Reference 23000/1452 constraint=fk_parent"},
	{"INSERT INTO parent (id, name) VALUES (3, NULL)",
		"Null 1299 constraint=name table=parent column=name", "Null 23502 constraint=name table=parent column=name", "Null 23000/1048 constraint=name column=name"},
	{"INSERT INTO parent (id, name, n) VALUES (3, 'x', -1)",
		"Check 275 constraint=positive", "Check 23514 constraint=positive table=parent", "Check 23000/4025 constraint=positive table=DATABASE.parent"},
	{"INSERT INTO parent (id, name, n) VALUES (3, 'x', 'many')",
		"Value 3091 table=parent column=n", "Value 22P02", "Value 22007/1366 table=DATABASE.parent column=n"},
	{"INSERT INTO parent (id, name) VALUES (3, 'too long')",
		"", "Value 22001", "Value 22001/1406 column=name"},
	{"INSERT INTO parent (id, name, n) VALUES (3, 'x', 40000)",
		"", "Value 22003", "Value 22003/1264 column=n"},
	{"INSERT INTO parent (id, name, gone) VALUES (3, 'x', 1)",
		"Schema 1", "Schema 42703", "Schema 42S22/1054"},
	{"UPDATE parent SET n = 1 WHERE gone = 1",
		"Schema 1", "Schema 42703", "Schema 42S22/1054"},
	{"DELETE FROM gone",
		"Schema 1", "Schema 42P01", "Schema 42S02/1146"},
	{"SELECT told()",
		"Schema 1", "Other P0042", "Other 45042/1644"},
	{"SELECT dies()",
		"Schema 1", "Down 57P01", "Down 45000/1053"},
	{"SELEKT 1",
		"Other 1", "Schema 42601", "Schema 42000/1064"},
}

var faultClasses = map[string]FaultClass{
	"Unique": FaultUnique, "Reference": FaultReference, "Null": FaultNull, "Check": FaultCheck, "Value": FaultValue, "Schema": FaultSchema, "Other": FaultOther, "Down": FaultDown,
}

// faultOf is a fault as faults have it.
func faultOf(t *testing.T, text string) (f Fault) {
	t.Helper()
	words := strings.Fields(text)
	class, known := faultClasses[words[0]]
	require.True(t, known, text)
	state, code, other := strings.Cut(words[1], "/")
	f.Class, f.Code = class, state
	switch {
	case other:
		f.SQLState, f.Code = state, code
	case len(state) == 5: // as PostgreSQL's are
		f.SQLState = state
	}
	for _, word := range words[2:] {
		name, value, _ := strings.Cut(word, "=")
		*map[string]*string{"constraint": &f.Constraint, "table": &f.Table, "column": &f.Column}[name] = value
	}
	return f
}

func TestFaults(t *testing.T) {
	onForeigners(t, nil, func(t *testing.T, o ForeignOptions, db DB) {
		for _, text := range append(faultTables[o.Engine], "INSERT INTO parent (id, code, name) VALUES (1, 'a', 'x')") {
			change(t, db, text)
		}
		for _, c := range faults {
			want := c[map[string]int{"sqlite": 1, "postgres": 2, "mariadb": 3}[o.Engine]]
			err := db.Write(t.Context(), func(conn Conn) error {
				_, err := conn.Exec(t.Context(), c[0])
				if err == nil {
					return errUndo
				}
				return err
			})
			if want == "" {
				require.ErrorIs(t, err, errUndo, c[0])
				continue
			}
			got, ok := FaultOf(err)
			require.True(t, ok, c[0])
			assert.NotEmpty(t, got.Message)
			assert.NotContains(t, got.Message, "judged by")
			got.Message = ""
			got.Table = database.ReplaceAllString(got.Table, "DATABASE.")
			assert.Equal(t, faultOf(t, want), got, "%s: %v", c[0], err)
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
