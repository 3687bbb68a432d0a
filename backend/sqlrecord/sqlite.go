package sqlrecord

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"runtime"
	"sync"
	"time"

	"zombiezen.com/go/sqlite"

	"frontdesk/mapping"
)

// sqliteDB is a SQLite file in WAL mode: readers on connections of their own,
// and one goroutine that writes for everyone.
type sqliteDB struct {
	path    string
	file    os.FileInfo // as it was opened
	dialect *Dialect
	watcher *watcher
	writer  *sqliteWriter
	readers *readerPool
	longWork
	once sync.Once
	err  error // of Close
}

var _ engine = (*sqliteDB)(nil)

// OpenSQLite opens the SQLite database in that file, and makes it where there
// is none. What was written is on disk when Write returns. Several processes may
// open the same file.
func OpenSQLite(path string, o Options) (DB, error) {
	if err := cmp.Or(JudgeSQLite(path), createPrivate(path)); err != nil {
		return nil, fmt.Errorf("open SQLite database: %w", err)
	}
	w := newWatcher()
	conn, err := openSQLiteConn(path, sqlite.OpenReadWrite|sqlite.OpenCreate, w, append(ownPragmas(),
		"PRAGMA journal_mode=WAL", "PRAGMA synchronous=FULL", "PRAGMA wal_autocheckpoint=2000", "PRAGMA journal_size_limit=67108864")...)
	if err != nil {
		w.close()
		return nil, fmt.Errorf("open SQLite database %s: %w", path, errors.Join(err, denied(path, err)))
	}
	file, err := os.Stat(path)
	if err != nil {
		w.close()
		return nil, errors.Join(err, conn.close())
	}
	d := &sqliteDB{
		path: path, file: file, dialect: SQLite(), watcher: w,
		readers: newReaderPool(path, sqlite.OpenReadOnly, w, cmp.Or(o.Readers, sqliteReaders())+1, ownPragmas()),
	}
	d.writer = startSQLiteWriter(conn, d.there, cmp.Or(o.LockWait, 10*time.Second))
	return d, nil
}

// sqliteReaders are twice as many as can compute at once, because a client's calls at one
// resource get only half of them.
func sqliteReaders() int { return 2 * max(2, runtime.GOMAXPROCS(0)) }

// createPrivate makes a new database file that only its owner can read; SQLite itself
// would not. Its -wal and -shm files get the same mode. An existing file is not even opened:
// closing it would drop the locks that this process has on it.
func createPrivate(path string) error {
	file, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if errors.Is(err, os.ErrExist) {
		return nil
	}
	if err != nil {
		return err
	}
	return file.Close()
}

// denied returns an error that names the missing permission, if that is why a file could not be
// opened, because SQLite does not say so; nil if the cause is another.
func denied(path string, err error) error {
	if sqlite.ErrCode(err).ToPrimary() != sqlite.ResultCantOpen {
		return nil
	}
	file, err := os.OpenFile(path, os.O_RDWR, 0)
	if err == nil {
		err = file.Close()
	}
	if errors.Is(err, os.ErrPermission) {
		return fmt.Errorf("it is for the user that frontdesk runs as: %w", os.ErrPermission)
	}
	return nil
}

func (d *sqliteDB) Dialect() *Dialect { return d.dialect }

func (d *sqliteDB) Read(ctx context.Context, f func(Conn) error) error {
	return d.readers.Read(ctx, f)
}

func (d *sqliteDB) Snapshot(ctx context.Context, f func(Conn) error) error {
	return d.readers.Snapshot(ctx, f)
}

func (d *sqliteDB) dedicated(context.Context) (snapshotter, error) {
	return newReaderPool(d.readers.path, d.readers.flags, newWatcher(), 1, d.readers.statements), nil
}

func (d *sqliteDB) Write(ctx context.Context, f func(Conn) error) error {
	return d.writer.do(ctx, f)
}

func (d *sqliteDB) Ping(ctx context.Context) error {
	if err := d.there(); err != nil {
		return err
	}
	return d.Read(ctx, func(c Conn) error {
		return c.Query(ctx, "SELECT 1", []Column{{Type: mapping.Int4}}, nil, func([]mapping.Value) error { return nil })
	})
}

// Close writes what was accepted, waits for the readers, brings the log into
// the database file and closes it.
func (d *sqliteDB) Close() error {
	d.once.Do(func() {
		close(d.readers.closing)
		d.longWork.end()
		d.writer.stop()
		err := d.readers.end()
		d.watcher.close()
		if err := errors.Join(err, d.writer.close()); err != nil {
			d.err = fmt.Errorf("close SQLite database %s: %w", d.path, err)
		}
	})
	return d.err
}
