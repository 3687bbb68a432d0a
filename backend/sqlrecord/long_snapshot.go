package sqlrecord

import (
	"context"
	"errors"
	"fmt"
	"sync"
)

// LongSnapshot is Snapshot for work that takes long. It uses a connection of its own, so
// that other calls need not wait for one. Close interrupts it.
//
// During the snapshot SQLite cannot reuse its log: the -wal file grows by everything
// written meanwhile, and shrinks to its limit of 64 MiB with the first checkpoint
// afterwards. PostgreSQL cannot vacuum the row versions that the snapshot sees.
func LongSnapshot(ctx context.Context, db DB, f func(Conn) error) error {
	d := db.(shared)
	ctx, leave, err := d.works().enter(ctx)
	if err != nil {
		return err
	}
	defer leave()
	dedicated, err := d.dedicated(ctx)
	if err != nil {
		return err
	}
	err = interrupted(ctx, dedicated.Snapshot(ctx, f))
	return errors.Join(err, dedicated.Close())
}

// snapshotter is a database with a connection of its own.
type snapshotter interface {
	Snapshot(ctx context.Context, f func(Conn) error) error
	Close() error
}

func (a *longWork) works() *longWork { return a }

// longWork counts the jobs on connections outside of a database's pools.
type longWork struct {
	mu     sync.Mutex
	over   context.Context // ends with the database; nil until the first work
	cancel context.CancelFunc
	ended  bool
	work   sync.WaitGroup
}

// enter returns a context that ends with ctx or when the database closes, and a function
// to call when the work is done.
func (a *longWork) enter(ctx context.Context) (context.Context, func(), error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.ended {
		return nil, nil, ErrClosed
	}
	if a.over == nil {
		a.over, a.cancel = context.WithCancel(context.Background())
	}
	a.work.Add(1)
	ctx, cancel := context.WithCancelCause(ctx)
	stop := context.AfterFunc(a.over, func() { cancel(ErrClosed) })
	return ctx, func() {
		stop()
		cancel(nil)
		a.work.Done()
	}, nil
}

// hold has end wait for work that is not interrupted, until work.Done is called.
func (a *longWork) hold() error {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.ended {
		return ErrClosed
	}
	a.work.Add(1)
	return nil
}

// end admits no more work, interrupts the running work and waits for it.
func (a *longWork) end() {
	a.mu.Lock()
	if a.cancel != nil {
		a.cancel()
	}
	a.ended = true
	a.mu.Unlock()
	a.work.Wait()
}

// interrupted returns the error that ended the work from outside, if there is one.
func interrupted(ctx context.Context, err error) error {
	if cause := context.Cause(ctx); err != nil && cause != nil && !errors.Is(err, cause) {
		return fmt.Errorf("%w: %w", cause, err)
	}
	return err
}
