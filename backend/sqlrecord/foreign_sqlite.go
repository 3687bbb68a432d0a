package sqlrecord

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/url"
	"os"
	"slices"
	"strconv"
	"strings"

	"zombiezen.com/go/sqlite"

	"frontdesk/mapping"
)

// sqliteSource is another program's file, as a DSN names it: a path, or a URI with
// parameters of SQLite and with _pragma=, which every connection begins with.
type sqliteSource struct {
	path    string
	uri     string // of the path, with the parameters of SQLite
	pragmas []string
}

var errNoSQLite = errors.New("the DSN is not one of SQLite: a path, or file: with a path and parameters")

func newSQLiteSource(dsn string) (s sqliteSource, err error) {
	s.path = dsn
	values := url.Values{}
	if strings.HasPrefix(dsn, "file:") {
		u, err := url.Parse(dsn)
		if err != nil {
			return s, errNoSQLite
		}
		if s.path, err = url.PathUnescape(cmp.Or(u.Opaque, u.EscapedPath())); err != nil {
			return s, errNoSQLite
		}
		if values, err = url.ParseQuery(u.RawQuery); err != nil {
			return s, errNoSQLite
		}
	}
	if s.path == "" || s.path == ":memory:" || values.Get("mode") == "memory" {
		return s, errors.New("the DSN names no file")
	}
	for _, text := range values["_pragma"] {
		s.pragmas = append(s.pragmas, "PRAGMA "+text)
	}
	for key := range values {
		switch {
		case key == "_pragma", key == "_txlock", key == "_dqs": // transactions are immediate, and texts are not in double quotes
			values.Del(key)
		case strings.HasPrefix(key, "_"):
			return s, fmt.Errorf("the DSN has a parameter %s, which there is not", key)
		}
	}
	if !values.Has("mode") {
		values.Set("mode", "rw") // a file is never made
	}
	s.uri = "file:" + (&url.URL{Path: s.path}).EscapedPath() + "?" + values.Encode()
	return s, nil
}

func openForeignSQLite(_ context.Context, dialect *Dialect, o ForeignOptions) (DB, error) {
	source, err := newSQLiteSource(o.DSN)
	if err != nil {
		return nil, err
	}
	file, err := os.Stat(source.path)
	if err != nil {
		return nil, err
	}
	session := append(source.pragmas, "PRAGMA busy_timeout="+strconv.FormatInt(o.LockWait.Milliseconds(), 10), "PRAGMA foreign_keys=ON")
	session = append(session, o.Session...)
	flags := sqlite.OpenReadWrite | sqlite.OpenURI
	readers := newReaderPool(source.uri, flags, newWatcher(), cmp.Or(o.Connections, sqliteReaders())+1, append(slices.Clip(session), "PRAGMA query_only=ON"))
	conn, err := openSQLiteConn(source.uri, flags, readers.watcher, session...)
	if err != nil {
		return nil, errors.Join(err, denied(source.path, err), readers.Close())
	}
	d := &sqliteDB{path: source.path, file: file, dialect: dialect, watcher: readers.watcher, readers: readers}
	d.writer = startSQLiteWriter(conn, d.there, o.LockWait)
	return d, nil
}

// bindForeign sets a parameter to a value that is stored differently in our own tables.
func bindForeign(st *sqlite.Stmt, n int, v mapping.Value) {
	if v.Kind() == mapping.KindTime {
		st.BindText(n, v.Time().Format("2006-01-02 15:04:05.999"))
		return
	}
	if whole, ok := rescaled(v.Int(), v.Scale(), 0); ok && whole.whole {
		st.BindInt64(n, whole.unscaled)
		return
	}
	st.BindFloat(n, v.Float())
}

// scanForeign reads a value of whatever type it has in this row.
func scanForeign(st *sqlite.Stmt, i int, c *Column, text []byte) (mapping.Value, []byte) {
	var s stored
	switch st.ColumnType(i) {
	case sqlite.TypeInteger:
		s = stored{form: formInteger, num: st.ColumnInt64(i)}
	case sqlite.TypeFloat:
		s = stored{form: formDouble, real: st.ColumnFloat(i)}
	case sqlite.TypeNull:
		return mapping.NullValue(), text
	default:
		if st.ColumnType(i) == sqlite.TypeBlob {
			s.form = formBytes
		}
		from := len(text)
		text = appendColumn(text, st, i)
		s.text, text = text[from:], text[:from] // read appends it again, in the same place
	}
	return s.read(c, text)
}

func sqliteForeign() Foreign {
	return Foreign{
		Catalogue:     sqliteCatalogue(),
		FlexibleTypes: true,
		InUse:         Fault{Code: "787"},
		open:          openForeignSQLite,
		judge:         judged(newSQLiteSource),
		readOnly:      "PRAGMA query_only = ON",
		Explain:       "EXPLAIN QUERY PLAN ",
		PlanInSteps:   true,
		Clock:         "datetime(%d, 'unixepoch')",
		Round: func(e Expr, _ Sort, scale int) Expr {
			return Wrap("CASE typeof(", e, ") WHEN 'text' THEN ", e, " WHEN 'blob' THEN ", e, " ELSE ROUND(", e, ", "+strconv.Itoa(scale)+") END")
		},
		// SQLite would round microseconds, but a time is shown without them.
		Millis: func(e Expr) Expr {
			return Wrap("strftime('%Y-%m-%d %H:%M:%f', CASE length(", e, ") WHEN 26 THEN substr(", e, ", 1, 23) ELSE ", e, " END)")
		},
		Differ:   func(a, b Expr, _ bool) Expr { return Wrap(a, " IS NOT ", b, " COLLATE BINARY") },
		StoredAs: func(string, Sort) string { return "" }, // SQLite compares by the type of the column
		casts:    map[Sort]string{Integers: "INTEGER", Decimals: "REAL", Floats: "REAL", Texts: "TEXT"},
	}
}
