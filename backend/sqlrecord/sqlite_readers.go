package sqlrecord

import (
	"context"
	"errors"
	"fmt"

	"zombiezen.com/go/sqlite"

	"frontdesk/backend"
)

// SQLiteReaders are connections that read a SQLite file. They are opened as they are
// needed, and safe for concurrent use.
type SQLiteReaders struct {
	path       string
	flags      sqlite.OpenFlags
	statements []string // run on each connection when it is opened
	watcher    *watcher
	free       chan *sqliteReader // idle ones
	closing    chan struct{}
}

// sqliteReader is a reading connection, opened when it is first needed.
type sqliteReader struct{ *sqliteConn }

// OpenSQLiteReaders reads the file of somebody else's program, which uri names; at most
// so many statements at once. Each connection begins with the statements.
func OpenSQLiteReaders(uri string, most int, statements ...string) *SQLiteReaders {
	return newSQLiteReaders(uri, sqlite.OpenReadWrite|sqlite.OpenURI, newWatcher(), most, append(statements, "PRAGMA query_only=ON"))
}

func newSQLiteReaders(path string, flags sqlite.OpenFlags, w *watcher, most int, statements []string) *SQLiteReaders {
	r := &SQLiteReaders{path: path, flags: flags, statements: statements, watcher: w, free: make(chan *sqliteReader, most), closing: make(chan struct{})}
	for range most {
		r.free <- &sqliteReader{}
	}
	return r
}

// Read is DB.Read.
func (d *SQLiteReaders) Read(ctx context.Context, f func(Conn) error) error {
	r, err := d.checkOut(ctx)
	if err != nil {
		return err
	}
	r.begin(ctx)
	defer d.checkIn(r)
	return f(r.sqliteConn)
}

// checkOut waits for a free reader and opens it where it was not yet.
func (d *SQLiteReaders) checkOut(ctx context.Context) (*sqliteReader, error) {
	var r *sqliteReader
	select {
	case <-d.closing:
		return nil, ErrClosed
	default:
	}
	select {
	case r = <-d.free:
	default: // only who waits asks for the context's channel
		select {
		case r = <-d.free:
		case <-d.closing:
			return nil, ErrClosed
		case <-ctx.Done():
			return nil, fmt.Errorf("%w: wait for a connection: %w", backend.ErrBusy, context.Cause(ctx))
		}
	}
	if r.sqliteConn != nil {
		return r, nil
	}
	conn, err := openSQLiteConn(d.path, d.flags, d.watcher, d.statements...)
	if err != nil {
		d.free <- r
		return nil, fmt.Errorf("open SQLite database %s for reading: %w", d.path, err)
	}
	r.sqliteConn = conn
	return r, nil
}

// checkIn gives a reader back. One that cannot leave its snapshot is replaced:
// it would answer from the past.
func (d *SQLiteReaders) checkIn(r *sqliteReader) {
	r.end()
	r.rollback()
	if !r.conn.AutocommitEnabled() {
		d.watcher.remove(r.sqliteConn)
		_ = r.close()
		r.sqliteConn = nil
	}
	d.free <- r
}

// Close waits for the readers and closes them; calls after it fail with ErrClosed.
func (d *SQLiteReaders) Close() error {
	close(d.closing)
	defer d.watcher.close()
	return d.end()
}

func (d *SQLiteReaders) end() error {
	var errs []error
	for range cap(d.free) {
		if r := <-d.free; r.sqliteConn != nil {
			errs = append(errs, r.close())
		}
	}
	return errors.Join(errs...)
}

// SQLiteCode is SQLite's number of an error that a reader's statement ended with.
func SQLiteCode(err error) int { return int(sqlite.ErrCode(err)) }
