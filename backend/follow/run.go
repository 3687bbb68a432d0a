package follow

import (
	"context"
	"errors"
	"sync"
	"time"

	"go.uber.org/zap"

	"frontdesk/backend/sqlrecord"
	"frontdesk/mapping"
)

const (
	// leaseLife is the default of Options.Lease.
	leaseLife = 15 * time.Second
	// releaseTime bounds the release of the lease when the program stops.
	releaseTime = 5 * time.Second
	// newEvery is how often new followers are looked for, and forgetEvery how often what nobody needs
	// any more is removed.
	newEvery, forgetEvery = time.Second, time.Hour
)

// rounds is the state of the goroutine that keeps the lease.
type rounds struct {
	renewed, forgot time.Time
	following       sync.WaitGroup
}

// run looks for changes of all followed pairs while this gateway has the lease, until ctx ends.
func (f *Follower) run(ctx context.Context) {
	var r rounds
	defer f.release()
	defer r.following.Wait()
	for ctx.Err() == nil {
		pause := min(newEvery, f.o.Lease/3)
		if err := f.round(ctx, &r); err != nil {
			f.looks.Store(false)
			pause = f.o.Lease / 3
			if !errors.Is(err, errLost) && ctx.Err() == nil {
				f.o.Log.Error("changes cannot be noted; it is tried again", zap.Error(err))
			}
		}
		sleep(ctx, pause, f.wake)
	}
}

// sleep waits for a while, until it is woken, or until ctx ends.
func sleep(ctx context.Context, pause time.Duration, wake <-chan struct{}) {
	timer := time.NewTimer(pause)
	defer timer.Stop()
	select {
	case <-ctx.Done():
	case <-wake:
	case <-timer.C:
	}
}

// round renews the lease, and starts a goroutine for each new pair; if this gateway has just got the
// lease, or a goroutine has ended, for each pair that has none.
func (f *Follower) round(ctx context.Context, r *rounds) error {
	which := "ready_at = 0"
	if !f.looks.Load() || !f.known.Load() || time.Since(r.renewed) >= f.o.Lease/3 {
		if err := f.db.Write(ctx, func(c sqlrecord.Conn) error { return f.renew(ctx, c) }); err != nil {
			return err
		}
		r.renewed = time.Now()
		if had := f.looks.Swap(true); !f.known.Swap(true) || !had {
			which = "TRUE"
		}
	}
	all, err := f.pairs(ctx, which)
	if err != nil {
		return err
	}
	for _, p := range all {
		f.mu.Lock()
		wake := f.under[p.key()]
		if wake == nil {
			wake = make(chan struct{}, 1)
			f.under[p.key()] = wake
			r.following.Go(func() { f.attend(ctx, p, wake) })
		}
		f.mu.Unlock()
		awaken(wake)
	}
	if time.Since(r.forgot) > forgetEvery {
		if err = f.forget(ctx); err == nil {
			r.forgot = time.Now()
		}
	}
	return err
}

// attend looks for changes of a pair again and again, while somebody follows it and this gateway has
// the lease.
func (f *Follower) attend(ctx context.Context, p pair, wake <-chan struct{}) {
	var err error
	for err == nil && ctx.Err() == nil {
		var wait time.Duration
		if wait, err = f.due(ctx, p); err == nil && wait > 0 {
			sleep(ctx, wait, wake)
		} else if err == nil {
			err = f.look(ctx, p)
		}
	}
	f.mu.Lock()
	delete(f.under, p.key())
	f.mu.Unlock()
	f.known.Store(false) // the next round starts it again, if it is followed and the lease is kept
}

// due is the time until the next look at a pair. If that is longer than the pause between looks, the
// database's clock was set back, and the look is due now.
func (f *Follower) due(ctx context.Context, p pair) (wait time.Duration, err error) {
	err = f.db.Read(ctx, func(c sqlrecord.Conn) error {
		row, err := sqlrecord.One(ctx, c, `SELECT next_at - `+f.o.DB.Dialect().Present+` FROM followed WHERE client_id = ?1 AND resource = ?2`, numbers(1), p.values()...)
		if err == nil && row == nil {
			err = errLeft
		}
		if err == nil {
			wait = time.Duration(row[0].Int()) * time.Millisecond
		}
		return err
	})
	if wait > f.o.Sheet.Changes(p.resource).Every {
		wait = 0
	}
	return wait, err
}

// renew takes or renews the lease, in a transaction. It fails with errLost if another gateway has
// the lease. A lease that ends later than is possible was taken before the database's clock was
// set back, and counts as ended.
func (f *Follower) renew(ctx context.Context, c sqlrecord.Conn) error {
	present := f.o.DB.Dialect().Present
	n, err := c.Exec(ctx, `INSERT INTO follow_lease (one, holder, until) VALUES (1, ?1, `+present+` + ?2)
		ON CONFLICT (one) DO UPDATE SET holder = excluded.holder, until = excluded.until WHERE follow_lease.holder = excluded.holder OR follow_lease.until <= `+present+` OR follow_lease.until > `+present+` + ?2`,
		mapping.TextValue(f.holder), mapping.IntValue(f.o.Lease.Milliseconds()))
	if err == nil && n == 0 {
		err = errLost
	}
	return err
}

// release gives the lease back. If that fails, the lease ends by itself.
func (f *Follower) release() {
	ctx, cancel := context.WithTimeout(context.Background(), releaseTime)
	defer cancel()
	_, _ = sqlrecord.Change(ctx, f.db, `DELETE FROM follow_lease WHERE holder = ?1`, mapping.TextValue(f.holder))
}
