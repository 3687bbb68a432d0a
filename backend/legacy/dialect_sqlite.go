package legacy

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"net/url"
	"strconv"
	"strings"
	"time"

	moderncsqlite "modernc.org/sqlite"

	"frontdesk/backend/sqlrecord"
	"frontdesk/mapping/sheet"
)

// sqlite is SQLite 3.35 and later, a file of somebody's program.
type sqlite struct{ common }

func (sqlite) engine() string { return "sqlite" }

// connector never creates a file. It takes the write lock when a transaction begins, since a
// reader cannot always become a writer later.
func (sqlite) connector(dsn string, session []string) (driver.Connector, error) {
	uri, _, err := sqliteURI(dsn)
	if err != nil {
		return nil, err
	}
	c, err := moderncsqlite.NewConnector(uri)
	if err != nil {
		return nil, errNoSQLite
	}
	return sessionConnector{c, session}, nil
}

var errNoSQLite = errors.New("the DSN of the database is not one of SQLite")

// sqliteURI is a DSN as a URI, and its parameters.
func sqliteURI(dsn string) (uri string, values url.Values, err error) {
	if !strings.HasPrefix(dsn, "file:") {
		dsn = "file:" + (&url.URL{Path: dsn}).EscapedPath()
	}
	path, query, _ := strings.Cut(dsn, "?")
	if values, err = url.ParseQuery(query); err != nil {
		return "", nil, errNoSQLite
	}
	if !values.Has("mode") {
		values.Set("mode", "rw")
	}
	values.Set("_txlock", "immediate")
	values.Set("_dqs", "0")
	return path + "?" + values.Encode(), values, nil
}

func (sqlite) session(lockWait time.Duration) []string {
	return []string{"PRAGMA busy_timeout = " + strconv.FormatInt(lockWait.Milliseconds(), 10), "PRAGMA foreign_keys = ON"}
}

func (sqlite) lockClause() string { return "" } // one writer at a time

// contains does not use LIKE, which ignores case of ASCII letters only.
func (sqlite) contains(b *statement, text func(), part string) {
	text()
	b.add(" GLOB ").arg(textRaw(sqlrecord.GlobPattern(part)))
}

// arg makes numbers of decimals: beside a column SQLite does so itself, but not beside what is
// computed, where a text is above every number.
func (sqlite) arg(v sheet.Raw) any {
	if v.Kind == sheet.RawNumber {
		if n, err := strconv.ParseInt(v.Text, 10, 64); err == nil {
			return n
		}
		if x, err := strconv.ParseFloat(v.Text, 64); err == nil {
			return x
		}
	}
	return common{}.arg(v)
}

// raw goes by the value, since types of SQLite's columns do not bind.
func (sqlite) raw(kind string, v any) sheet.Raw {
	if n, ok := v.(int64); ok {
		return sqliteInt(kind, n)
	}
	return plainRaw(v)
}

// sqliteInt is a whole number, which a BOOLEAN column may hold, too.
func sqliteInt(kind string, n int64) sheet.Raw {
	if kind == "BOOLEAN" && (n == 0 || n == 1) {
		return boolRaw(n == 1)
	}
	return intRaw(n)
}

func (sqlite) shown(b *statement, at sheet.Raw) bool {
	b.add("datetime(").arg(at).add(", 'unixepoch')") // it knows no other zone
	return true
}

// errNoProcedures says that SQLite has no procedures.
var errNoProcedures = errors.New("SQLite has neither procedures nor sequences")

func (sqlite) call(context.Context, conn, call) (result, error) { return result{}, errNoProcedures }

func (sqlite) begin() *sql.TxOptions    { return &sql.TxOptions{} }
func (sqlite) snapshot() *sql.TxOptions { return &sql.TxOptions{ReadOnly: true} }

// tryLock has nothing to do: this transaction is the only writer.
func (sqlite) tryLock(context.Context, conn, string) (bool, func(context.Context, conn) error, error) {
	return true, nil, nil
}

func (sqlite) fault(err error) (f fault, ok bool) {
	if e := (*moderncsqlite.Error)(nil); errors.As(err, &e) {
		f.Message = e.Error()
		return sqliteFault(f, e.Code()), true
	}
	if e := (sqliteError{}); errors.As(err, &e) {
		f.Message = e.Error()
		return sqliteFault(f, sqlrecord.SQLiteCode(err)), true
	}
	return f, false
}

// sqliteFault reads an error by SQLite's number.
func sqliteFault(f fault, code int) fault {
	f.Code = strconv.Itoa(code)
	switch code {
	case 2067, 1555, 2579: // unique index, primary key, rowid
		f.class = faultUnique
		f.Constraint = constraintInWords(f.Message)
	case 787: // foreign key; which one is not told
		f.class = faultForeign
	case 3091: // type of a strict table
		f.class = faultValue
		f.table, f.column = columnInWords(f.Message)
	case 275: // check, by its name, or its text where it has none
		f.class = faultCheck
		_, f.Constraint, _ = strings.Cut(f.Message, "CHECK constraint failed: ")
		f.Constraint = strings.TrimSuffix(f.Constraint, " (275)")
	case 1299: // null
		f.class = faultNull
		f.Constraint = constraintInWords(f.Message)
		f.table, f.column = columnInWords(f.Message)
	}
	switch code & 0xff {
	case 5: // busy
		f.class = faultCollision
	case 7, 8, 9, 10, 11, 13, 14, 26: // memory, read-only, interrupted, I/O, corrupt, full, cannot open, no database
		f.class = faultDown
	}
	return f
}
