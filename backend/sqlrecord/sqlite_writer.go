package sqlrecord

import (
	"context"
	"fmt"
	"runtime"
	"sync"
	"sync/atomic"
	"time"

	"zombiezen.com/go/sqlite/sqlitex"

	"frontdesk/backend"
)

const (
	// maxBatch is how many writes share a commit at most, which bounds how long
	// the first of them waits for the others to run.
	maxBatch = 64
	// lockTry is how long one attempt waits for another process's lock before
	// writes whose context has ended are answered.
	lockTry = 100 * time.Millisecond
)

// sqliteWriter runs writes one after the other on its own goroutine. Those that
// queued up while the last commit was made durable share the next one: group
// commit. The writer never waits for more writes, but has those join that can.
type sqliteWriter struct {
	conn     *sqliteConn
	there    func() error // called before each transaction, which costs next to nothing compared with a commit
	lockWait time.Duration
	queue    chan *sqliteWrite
	stopping chan struct{}
	ended    chan struct{}

	mu     sync.RWMutex // held for reading while putting into the queue
	closed bool
}

// sqliteWrite is one call of Write. Before it starts its caller may give it up;
// afterwards the caller waits for the outcome.
type sqliteWrite struct {
	ctx    context.Context
	f      func(Conn) error
	begun  atomic.Bool // set by the writer, or by the caller that gives up; the first wins
	run    bool        // the writer was first; only the writer uses it
	err    error
	result chan error
}

func startSQLiteWriter(conn *sqliteConn, there func() error, lockWait time.Duration) *sqliteWriter {
	conn.conn.SetBusyTimeout(lockTry)
	w := &sqliteWriter{
		conn: conn, there: there, lockWait: lockWait, queue: make(chan *sqliteWrite, maxBatch),
		stopping: make(chan struct{}), ended: make(chan struct{}),
	}
	go w.loop()
	return w
}

func (w *sqliteWriter) do(ctx context.Context, f func(Conn) error) error {
	one := &sqliteWrite{ctx: ctx, f: f, result: make(chan error, 1)}
	if err := w.put(one); err != nil {
		return err
	}
	select {
	case err := <-one.result:
		return err
	case <-ctx.Done():
		if one.begun.CompareAndSwap(false, true) {
			return waitToWrite(ctx)
		}
		return <-one.result
	}
}

// waitToWrite is the error of a write whose context ended before it began.
func waitToWrite(ctx context.Context) error {
	return fmt.Errorf("%w: wait to write: %w", backend.ErrBusy, context.Cause(ctx))
}

func (w *sqliteWriter) put(one *sqliteWrite) error {
	w.mu.RLock()
	defer w.mu.RUnlock()
	if w.closed {
		return ErrClosed
	}
	if one.ctx.Err() != nil {
		return waitToWrite(one.ctx)
	}
	select {
	case w.queue <- one:
		return nil
	case <-one.ctx.Done():
		return waitToWrite(one.ctx)
	case <-w.stopping:
		return ErrClosed
	}
}

// stop ends the goroutine after all accepted writes have been answered.
func (w *sqliteWriter) stop() {
	close(w.stopping)
	w.mu.Lock()
	w.closed = true
	close(w.queue)
	w.mu.Unlock()
	<-w.ended
}

// close is called after stop, when nobody reads any more.
func (w *sqliteWriter) close() error {
	if w.conn.foreign {
		return w.conn.close()
	}
	err := sqlitex.ExecuteTransient(w.conn.conn, "PRAGMA wal_checkpoint(TRUNCATE)", nil)
	if cerr := w.conn.close(); err == nil {
		err = cerr
	}
	return err
}

func (w *sqliteWriter) loop() {
	defer close(w.ended)
	batch := make([]*sqliteWrite, 0, maxBatch)
	for one := range w.queue {
		batch = append(batch[:0], one)
		runtime.Gosched() // On a fast disk the requests just answered would else come after this commit, one by one.
		for more := true; more && len(batch) < maxBatch; {
			select {
			case one, ok := <-w.queue:
				if more = ok; ok {
					batch = append(batch, one)
				}
			default:
				more = false
			}
		}
		w.commit(batch)
		clear(batch)
	}
}

// commit runs a batch in one transaction and answers all of it. An interrupted
// or failed statement may undo the whole transaction: then the write it belongs
// to is answered, and the others run again.
func (w *sqliteWriter) commit(batch []*sqliteWrite) {
	for len(batch) > 0 {
		var err error
		if batch, err = w.lock(batch); err != nil {
			answer(batch, err)
			return
		}
		culprit := w.run(batch)
		if culprit < 0 {
			w.end(batch)
			return
		}
		batch[culprit].result <- batch[culprit].err
		batch = append(batch[:culprit], batch[culprit+1:]...)
	}
}

// lock begins the transaction, and drops the writes that were given up meanwhile.
func (w *sqliteWriter) lock(batch []*sqliteWrite) ([]*sqliteWrite, error) {
	if err := w.there(); err != nil {
		return waiting(batch), err
	}
	for start := time.Now(); ; {
		err := w.conn.exec("BEGIN IMMEDIATE")
		if err == nil {
			return batch, nil
		}
		batch = waiting(batch)
		if !collided(err) || len(batch) == 0 || time.Since(start) > w.lockWait {
			return batch, fmt.Errorf("begin to write: %w", asCollision(err))
		}
	}
}

func waiting(batch []*sqliteWrite) []*sqliteWrite {
	kept := batch[:0]
	for _, one := range batch {
		if one.run || !one.begun.Load() {
			kept = append(kept, one)
		}
	}
	return kept
}

// run runs every write of the batch. It returns the position of the one that
// undid the whole transaction, else -1.
func (w *sqliteWriter) run(batch []*sqliteWrite) int {
	for i, one := range batch {
		if !one.run {
			one.run = one.begun.CompareAndSwap(false, true)
		}
		if !one.run {
			continue // the caller gave up
		}
		if one.err = w.savepoint(one, len(batch) > 1); w.conn.conn.AutocommitEnabled() {
			return i
		}
	}
	return -1
}

// savepoint runs one write so that it can be undone alone. If the write does not share
// the transaction, the transaction itself is undone.
func (w *sqliteWriter) savepoint(one *sqliteWrite, shared bool) error {
	if one.ctx.Err() != nil {
		return waitToWrite(one.ctx)
	}
	if shared {
		if err := w.conn.exec("SAVEPOINT one"); err != nil {
			w.conn.rollback()
			return fmt.Errorf("savepoint: %w", err)
		}
	}
	err := w.call(one)
	if !shared || w.conn.conn.AutocommitEnabled() {
		return err
	}
	if err != nil {
		if rerr := w.conn.exec("ROLLBACK TO one"); rerr != nil {
			w.conn.rollback()
			return fmt.Errorf("%w (and roll back: %w)", err, rerr)
		}
	}
	if rerr := w.conn.exec("RELEASE one"); rerr != nil {
		w.conn.rollback()
		return fmt.Errorf("release savepoint: %w", rerr)
	}
	return err
}

// call runs the caller's function under its own context.
func (w *sqliteWriter) call(one *sqliteWrite) error {
	c := w.conn
	c.working = working{inWrite: true}
	c.begin(one.ctx)
	err := guard(one.f, c)
	c.end()
	if err == nil {
		err = c.aborted()
	}
	c.working = working{}
	backend.Asking(one.ctx, "COMMIT")
	return err
}

// end commits, or undoes what a write did that was alone and failed.
func (w *sqliteWriter) end(batch []*sqliteWrite) {
	if len(batch) == 1 && batch[0].err != nil {
		w.conn.rollback()
	} else if err := w.settle(); err != nil {
		w.conn.rollback()
		answer(batch, fmt.Errorf("commit: %w", asCollision(err)))
		return
	}
	for _, one := range batch {
		if one.run {
			one.result <- one.err
		}
	}
}

// settle commits. A file without a write-ahead log is not written to while somebody reads it.
func (w *sqliteWriter) settle() error {
	for start := time.Now(); ; {
		err := w.conn.exec("COMMIT")
		if !collided(err) || time.Since(start) > w.lockWait {
			return err
		}
	}
}

// rollback ends a transaction where there still is one.
func (c *sqliteConn) rollback() {
	if !c.conn.AutocommitEnabled() {
		_ = c.exec("ROLLBACK") // fails only if there is no transaction
	}
}

// answer gives all of a batch the same error.
func answer(batch []*sqliteWrite, err error) {
	for _, one := range batch {
		if one.run || one.begun.CompareAndSwap(false, true) {
			one.result <- err
		}
	}
}
