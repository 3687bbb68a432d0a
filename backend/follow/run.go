package follow

import (
	"context"
	"errors"
	"sync"
	"time"

	"go.uber.org/zap"

	"frontdesk/auth"
	"frontdesk/backend/sqlrecord"
	"frontdesk/mapping"
)

const (
	// leaseLife is the default of Options.Lease.
	leaseLife = 15 * time.Second
	// releaseTime bounds the giving back of the lease when the program stops.
	releaseTime = 5 * time.Second
	// dueEvery is how often it is asked what is due, and forgetEvery how often what nobody
	// needs any more is removed.
	dueEvery, forgetEvery = time.Second, time.Hour
	// mostLooks is how many looks are under way at most, page by page in turn.
	mostLooks = 16
)

// rounds is what the goroutine that looks has.
type rounds struct {
	held, forgot time.Time // when that was done last
	ask          time.Time // when it is to be asked again what is due
	looks        map[string]*look
	failures     map[string]int // of looks that have given way
	settling     map[string]*settling
}

// failing is the look that has failed most often in a row; nil if none has.
func (r *rounds) failing() (most *look) {
	for _, l := range r.looks {
		if l.failures > 0 && (most == nil || l.failures > most.failures) {
			most = l
		}
	}
	return most
}

// run looks for changes, and tells what is shared, until ctx ends.
func (f *Follower) run(ctx context.Context) {
	var telling sync.WaitGroup
	defer telling.Wait()
	telling.Go(func() { f.tellShared(ctx) })
	r := rounds{looks: map[string]*look{}, failures: map[string]int{}, settling: map[string]*settling{}}
	for {
		pause := f.round(ctx, &r)
		timer := time.NewTimer(pause)
		select {
		case <-ctx.Done():
			timer.Stop()
			f.release()
			return
		case <-f.wake:
			r.ask = time.Time{}
		case <-timer.C:
		}
		timer.Stop()
	}
}

// round does what is to be done, and returns after how long there is more.
func (f *Follower) round(ctx context.Context, r *rounds) time.Duration {
	if time.Since(r.held) > f.o.Lease/3 {
		err := f.db.Write(ctx, func(c sqlrecord.Conn) error { return f.renew(ctx, c) })
		f.looks.Store(err == nil)
		if err != nil {
			clear(r.looks)
			return f.rest(ctx, err)
		}
		r.held = time.Now()
	}
	if !time.Now().Before(r.ask) && (len(r.looks) < mostLooks || r.failing() != nil) {
		again, err := f.startDue(ctx, r)
		if err != nil {
			return f.rest(ctx, err)
		}
		r.ask = time.Now().Add(again)
	}
	if time.Since(r.forgot) > forgetEvery {
		if err := f.forget(ctx); err != nil {
			return f.rest(ctx, err)
		}
		r.forgot = time.Now()
	}
	next := min(dueEvery, max(0, time.Until(r.ask)))
	for key, l := range r.looks {
		if ctx.Err() != nil {
			return 0
		}
		if wait := time.Until(l.due); wait > 0 {
			next = min(next, wait)
			continue
		}
		done, err := f.holding(ctx, l)
		if err == nil && done {
			if err = f.finish(ctx, l); err == nil && l.settling != nil {
				l.settling.upTo = max(l.settling.upTo, l.final)
			}
		}
		switch {
		case errors.Is(err, errLost):
			clear(r.looks)
			f.looks.Store(false)
			r.held = time.Time{}
			return f.o.Lease / 3
		case errors.Is(err, errLeft) || err == nil && done:
			delete(r.looks, key)
			delete(r.failures, key)
			if err != nil { // nobody follows it any more
				delete(r.settling, key)
			}
			r.ask, next = time.Time{}, 0
		case err != nil && ctx.Err() == nil:
			f.failed(ctx, l, err)
		default:
			pace := l.how.Pace(l.read)
			l.failures, l.due = 0, time.Now().Add(pace)
			next = min(next, pace)
		}
	}
	return next
}

// rest returns how long nothing is done after an error.
func (f *Follower) rest(ctx context.Context, err error) time.Duration {
	if !errors.Is(err, errLost) && ctx.Err() == nil {
		f.o.Log.Error("changes cannot be noted; it is tried again", zap.Error(err))
	}
	return f.o.Lease / 3
}

// startDue starts the looks that are due, those that somebody waits for first, and returns
// after how long it should be called again. What is due further ahead than the longest pause was
// noted before the clock of the database was set back, and is due now.
func (f *Follower) startDue(ctx context.Context, r *rounds) (again time.Duration, err error) {
	present := f.o.DB.Dialect().Present
	due, err := f.pairs(ctx, `(next_at <= `+present+` OR next_at > `+present+` + ?2) ORDER BY CASE WHEN ready_at = 0 THEN 0 ELSE 1 END, next_at, client_id, resource LIMIT ?1`,
		mapping.IntValue(4*mostLooks), mapping.IntValue(f.longest.Milliseconds()))
	if err != nil {
		return 0, err
	}
	for _, p := range due {
		key := p.key()
		if r.looks[key] != nil {
			continue
		}
		if len(r.looks) >= mostLooks {
			if failing := r.failing(); failing == nil {
				break
			} else if err := f.giveWay(ctx, r, failing); err != nil {
				return 0, err
			}
		}
		switch l, err := f.start(ctx, p); {
		case errors.Is(err, errLeft):
		case err != nil:
			return 0, err
		default:
			l.failures = r.failures[key]
			r.looks[key] = l
			r.settle(f, l)
		}
	}
	err = f.db.Read(ctx, func(c sqlrecord.Conn) error {
		again = dueEvery
		return c.Query(ctx, `SELECT min(next_at) - `+present+` FROM followed WHERE next_at > `+present, numbers(1), nil, func(row []mapping.Value) error {
			if row[0].IsSet() {
				again = min(again, max(time.Millisecond, time.Duration(row[0].Int())*time.Millisecond))
			}
			return nil
		})
	})
	return again, err
}

// giveWay ends a look that fails, as others wait. It begins again when it would have gone on.
func (f *Follower) giveWay(ctx context.Context, r *rounds, l *look) error {
	r.failures[l.key()] = l.failures
	delete(r.looks, l.key())
	_, err := sqlrecord.Change(ctx, f.db, `UPDATE followed SET next_at = `+f.o.DB.Dialect().Present+` + ?4 WHERE client_id = ?1 AND resource = ?2 AND pass = ?3`,
		l.values(mapping.IntValue(l.pass), mapping.IntValue(backoff(l.failures).Milliseconds()))...)
	return err
}

// holding does a step of a look. The lease is renewed meanwhile, since reading one page may take
// longer than the lease lasts.
func (f *Follower) holding(ctx context.Context, l *look) (done bool, err error) {
	var renewing sync.WaitGroup
	ctx, end := context.WithCancel(ctx)
	renewing.Go(func() {
		for auth.Sleep(ctx, f.o.Lease/3) == nil {
			_ = f.db.Write(ctx, func(c sqlrecord.Conn) error { return f.renew(ctx, c) }) // what is noted finds out itself
		}
	})
	defer renewing.Wait()
	defer end()
	return f.step(ctx, l)
}

// renew takes the lease, or keeps it, in the transaction of a connection. It fails with
// errLost where another gateway has it. One that ends later than it can was taken before the
// clock of the database was set back: it has ended, too.
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

// release gives the lease back. Where that fails it ends by itself.
func (f *Follower) release() {
	ctx, cancel := context.WithTimeout(context.Background(), releaseTime)
	defer cancel()
	_, _ = sqlrecord.Change(ctx, f.db, `DELETE FROM follow_lease WHERE holder = ?1`, mapping.TextValue(f.holder))
}
