package sqlrecord

import (
	"context"
	"errors"
	"fmt"

	"zombiezen.com/go/sqlite"
	"zombiezen.com/go/sqlite/sqlitex"
)

// ErrNoFile says that a database is in no file that could be copied.
var ErrNoFile = errors.New("the database is no SQLite file")

// copyPages is how many pages are copied between two looks at the context: some 4 MiB.
const copyPages = 1024

// CopyTo writes a SQLite database as it is at one moment into a new file, while others write,
// and checks the copy. Cursors of its changes are not good in the copy: what came after it, and
// with it their place, is not there.
func CopyTo(ctx context.Context, db DB, path string, progress func(done, total int64)) error {
	d, ok := db.(*sqliteDB)
	if !ok {
		return ErrNoFile
	}
	if err := createPrivate(path); err != nil {
		return err
	}
	if err := d.longSnapshot(ctx, func(c Conn) error { return copyPagesTo(ctx, c.(*sqliteConn), path, progress) }); err != nil {
		return fmt.Errorf("copy %s: %w", d.path, err)
	}
	if err := finishCopy(path); err != nil {
		return fmt.Errorf("the copy of %s: %w", d.path, err)
	}
	return nil
}

// copyPagesTo copies all pages that the transaction of a connection sees.
func copyPagesTo(ctx context.Context, from *sqliteConn, path string, progress func(done, total int64)) error {
	if err := from.exec("SELECT 1 FROM sqlite_schema LIMIT 1"); err != nil { // from here on it sees one moment
		return from.fail(ctx, err)
	}
	to, err := sqlite.OpenConn(path, sqlite.OpenReadWrite)
	if err != nil {
		return err
	}
	err = sqlitex.ExecuteTransient(to, "PRAGMA synchronous=OFF", nil) // whoever uses the file has it on disk
	if err != nil {
		return errors.Join(err, to.Close())
	}
	b, err := sqlite.NewBackup(to, "main", from.conn, "main")
	if err != nil {
		return errors.Join(err, to.Close())
	}
	for more := true; more && err == nil; {
		if err = ctx.Err(); err == nil {
			more, err = b.Step(copyPages)
			progress(int64(b.PageCount()-b.Remaining()), int64(b.PageCount()))
		}
	}
	return errors.Join(err, b.Close(), to.Close())
}

// finishCopy has the file be whole, and its cursors no longer be good.
func finishCopy(path string) error {
	conn, err := sqlite.OpenConn(path, sqlite.OpenReadWrite)
	if err != nil {
		return err
	}
	err = sqlitex.ExecuteTransient(conn, "PRAGMA quick_check(1)", &sqlitex.ExecOptions{ResultFunc: func(st *sqlite.Stmt) error {
		if found := st.ColumnText(0); found != "ok" {
			return fmt.Errorf("the database is damaged: %s", found)
		}
		return nil
	}})
	if err != nil {
		return errors.Join(err, conn.Close())
	}
	kept := false
	err = sqlitex.ExecuteTransient(conn, "SELECT 1 FROM sqlite_schema WHERE name = '"+changeLogTable+"'", &sqlitex.ExecOptions{
		ResultFunc: func(*sqlite.Stmt) error { kept = true; return nil },
	})
	if err == nil && kept {
		err = sqlitex.ExecuteTransient(conn, "UPDATE "+changeLogTable+" SET secret = NULL", nil)
	}
	return errors.Join(err, conn.Close()) // which brings its log into the file
}
