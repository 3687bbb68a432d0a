package sqlrecord

import (
	"fmt"
	"net/url"
	"os"

	"zombiezen.com/go/sqlite"
	"zombiezen.com/go/sqlite/sqlitex"
)

// MovedError says that the file of an open database was moved or replaced: nobody would find what is
// written to it.
type MovedError struct{ Path string }

func (e *MovedError) Error() string {
	return fmt.Sprintf("the file %s is not the one that is open: it was moved, deleted or replaced; restart frontdesk", e.Path)
}

// There returns a MovedError if the file of a SQLite database is not the one that is open.
func There(db DB) error {
	if d, ok := db.(*sqliteDB); ok {
		return d.there()
	}
	return nil
}

func (d *sqliteDB) there() error {
	if now, err := os.Stat(d.path); err == nil && os.SameFile(now, d.file) || err != nil && !os.IsNotExist(err) {
		return nil
	}
	return &MovedError{d.path}
}

// tablesOf counts the tables of a database, and those by which frontdesk knows it again.
const tablesOf = `SELECT count(*), coalesce(sum(name LIKE 'frontdesk!_%!_version' ESCAPE '!'), 0) FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite!_%' ESCAPE '!'`

// JudgeSQLite returns why a file is not a database of frontdesk; nil if it is, or can become one. It
// writes and locks nothing, so it may not see the latest writes. It opens the file with SQLite: if
// anything else opened and closed it, this process would lose its locks on it.
func JudgeSQLite(path string) error {
	if info, err := os.Stat(path); err != nil || info.Size() == 0 || !info.Mode().IsRegular() {
		return nil // making or opening it reports what is wrong
	}
	uri := url.URL{Scheme: "file", OmitHost: true, Path: path, RawQuery: "immutable=1"}
	conn, err := sqlite.OpenConn(uri.String(), sqlite.OpenReadOnly, sqlite.OpenURI)
	if err != nil {
		return nil
	}
	defer conn.Close()
	foreign := false
	err = sqlitex.ExecuteTransient(conn, tablesOf, &sqlitex.ExecOptions{ResultFunc: func(row *sqlite.Stmt) error {
		foreign = row.ColumnInt(0) > 0 && row.ColumnInt(1) == 0
		return nil
	}})
	switch {
	case sqlite.ErrCode(err).ToPrimary() == sqlite.ResultNotADB:
		return fmt.Errorf("%s is no SQLite database: move it aside, or restore its backup", path)
	case foreign:
		return fmt.Errorf("%s is the database of another program, which frontdesk leaves alone: name a file of its own", path)
	default:
		return nil
	}
}
