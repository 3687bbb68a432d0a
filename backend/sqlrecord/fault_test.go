package sqlrecord

import (
	"errors"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"frontdesk/mapping"
)

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
		for _, text := range append(section(t, "faults.txt", "tables of "+o.Engine), "INSERT INTO parent (id, code, name) VALUES (1, 'a', 'x')") {
			change(t, db, text)
		}
		for rows := range slices.Chunk(section(t, "faults.txt", "faults"), 2) {
			statement, want := rows[0], strings.Split(strings.TrimSpace(rows[1]), " | ")[map[string]int{"sqlite": 0, "postgres": 1, "mariadb": 2}[o.Engine]]
			err := db.Write(t.Context(), func(conn Conn) error {
				_, err := conn.Exec(t.Context(), statement)
				if err == nil {
					return errUndo
				}
				return err
			})
			if want == "-" {
				require.ErrorIs(t, err, errUndo, statement)
				continue
			}
			got, ok := FaultOf(err)
			require.True(t, ok, statement)
			assert.NotEmpty(t, got.Message)
			assert.NotContains(t, got.Message, "judged by")
			got.Message = ""
			got.Table = database.ReplaceAllString(got.Table, "DATABASE.")
			assert.Equal(t, faultOf(t, want), got, "%s: %v", statement, err)
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

func TestTypesOf(t *testing.T) {
	tables := map[string]string{
		"sqlite":   "CREATE TABLE kinds (i INTEGER PRIMARY KEY, d NUMERIC(12, 2), v VARCHAR(20) NOT NULL, m DATETIME, u UNSIGNED BIG INT)",
		"postgres": "CREATE TABLE kinds (i INTEGER PRIMARY KEY, d NUMERIC(12, 2), v VARCHAR(20) NOT NULL, m TIMESTAMP WITH TIME ZONE, u NUMERIC)",
		"mariadb":  "CREATE TABLE kinds (i INTEGER PRIMARY KEY, d NUMERIC(12, 2), v VARCHAR(20) NOT NULL, m DATETIME, u BIGINT UNSIGNED)",
	}
	want := map[string][]ResultColumn{
		"sqlite": {{Name: "i"}, {Name: "amount"}, {Name: "v"}, {Name: "m"}, {Name: "u"}, {Name: "e"}},
		"postgres": {{Name: "i", Type: "integer"}, {Name: "amount", Type: "numeric", Precision: 12, Scale: 2}, {Name: "v", Type: "character varying"}, {Name: "m", Type: "timestamp with time zone"},
			{Name: "u", Type: "numeric"}, {Name: "e", Type: "text"}},
		"mariadb": {{Name: "i", Type: "int"}, {Name: "amount", Type: "decimal", Precision: 12, Scale: 2}, {Name: "v", Type: "varchar"}, {Name: "m", Type: "datetime"},
			{Name: "u", Type: "bigint unsigned"}, {Name: "e", Type: "varchar"}},
	}
	onForeigners(t, nil, func(t *testing.T, o ForeignOptions, db DB) {
		for _, text := range []string{tables[o.Engine], "INSERT INTO kinds (i, v) VALUES (1, 'x')"} {
			change(t, db, text)
		}
		look := func(c Conn) error {
			got, err := TypesOf(t.Context(), c, "SELECT i, d AS amount, v, m, u, LOWER(NULLIF(v, '?')) AS e FROM kinds ORDER BY i")
			require.Equal(t, want[o.Engine], got)
			return err
		}
		require.NoError(t, db.Read(t.Context(), look))
		if o.Engine == "sqlite" {
			o.Session = []string{"ATTACH '" + foreignDSN(t, "sqlite") + "' AS beside"}
			require.NoError(t, openForeign(t, o).Read(t.Context(), func(c Conn) error {
				got, err := TypesOf(t.Context(), c, "SELECT x FROM beside.there")
				require.Equal(t, []ResultColumn{{Name: "x"}}, got)
				return err
			}))
		}
		require.NoError(t, db.Snapshot(t.Context(), look))
		for _, wrong := range []string{"SELECT gone FROM kinds", "SELECT 1 AS x FROM gone"} {
			require.NoError(t, db.Read(t.Context(), func(c Conn) error {
				_, err := TypesOf(t.Context(), c, wrong)
				f, ok := FaultOf(err)
				require.True(t, ok)
				require.Equal(t, FaultSchema, f.Class)
				return nil
			}))
		}
	})
}
