package sqlrecord

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"

	"zombiezen.com/go/sqlite"

	"frontdesk/backend"
)

// readerPool holds connections that read a SQLite file, and opens them as they are
// needed. It is safe for concurrent use.
type readerPool struct {
	path       string
	flags      sqlite.OpenFlags
	statements []string // run on each connection when it is opened
	watcher    *watcher
	free       chan struct{} // one for each that may be taken
	closing    chan struct{}

	mu   sync.Mutex
	idle []*sqliteConn // open ones; the last was used last and is taken first, so that few fill their caches
}

func newReaderPool(path string, flags sqlite.OpenFlags, w *watcher, most int, statements []string) *readerPool {
	r := &readerPool{path: path, flags: flags, statements: statements, watcher: w, free: make(chan struct{}, most), closing: make(chan struct{})}
	for range most {
		r.free <- struct{}{}
	}
	return r
}

// Read is DB.Read.
func (d *readerPool) Read(ctx context.Context, f func(Conn) error) error {
	r, err := d.checkOut(ctx)
	if err != nil {
		return err
	}
	r.begin(ctx)
	defer d.checkIn(r)
	return f(r)
}

// Snapshot is DB.Snapshot.
func (d *readerPool) Snapshot(ctx context.Context, f func(Conn) error) error {
	return d.Read(ctx, func(c Conn) error {
		conn := c.(*sqliteConn)
		if err := conn.exec("BEGIN"); err != nil {
			return conn.fail(ctx, err)
		}
		return f(c) // checkIn ends the transaction
	})
}

// checkOut waits for a free reader and opens one where none is idle.
func (d *readerPool) checkOut(ctx context.Context) (*sqliteConn, error) {
	select {
	case <-d.closing:
		return nil, ErrClosed
	default:
	}
	select {
	case <-d.free:
	default: // Done, which may start a timer, is called only if there is a wait
		select {
		case <-d.free:
		case <-d.closing:
			return nil, ErrClosed
		case <-ctx.Done():
			return nil, fmt.Errorf("%w: wait for a connection: %w", backend.ErrBusy, context.Cause(ctx))
		}
	}
	if r := d.takeIdle(); r != nil {
		return r, nil
	}
	r, err := d.open()
	if err != nil {
		d.free <- struct{}{}
	}
	return r, err
}

// open opens one more connection.
func (d *readerPool) open() (*sqliteConn, error) {
	r, err := openSQLiteConn(d.path, d.flags, d.watcher, d.statements...)
	if err != nil {
		path, _, _ := strings.Cut(d.path, "?") // parameters of a URI may be secrets
		return nil, fmt.Errorf("open SQLite database %s for reading: %w", path, err)
	}
	return r, nil
}

// takeIdle takes the open reader that was used last; nil where there is none.
func (d *readerPool) takeIdle() *sqliteConn {
	d.mu.Lock()
	defer d.mu.Unlock()
	last := len(d.idle) - 1
	if last < 0 {
		return nil
	}
	r := d.idle[last]
	d.idle = d.idle[:last]
	return r
}

// checkIn gives a reader back. One that cannot leave its snapshot is closed:
// it would answer from the past.
func (d *readerPool) checkIn(r *sqliteConn) {
	r.end()
	r.rollback()
	if r.conn.AutocommitEnabled() {
		d.mu.Lock()
		d.idle = append(d.idle, r)
		d.mu.Unlock()
	} else {
		d.watcher.remove(r)
		_ = r.close()
	}
	d.free <- struct{}{}
}

// Close waits for the readers and closes them; calls after it fail with ErrClosed.
func (d *readerPool) Close() error {
	close(d.closing)
	defer d.watcher.close()
	return d.end()
}

func (d *readerPool) end() error {
	for range cap(d.free) {
		<-d.free
	}
	var errs []error
	for r := d.takeIdle(); r != nil; r = d.takeIdle() {
		errs = append(errs, r.close())
	}
	return errors.Join(errs...)
}
