package follow

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"go.uber.org/zap"

	"frontdesk/backend"
	"frontdesk/backend/sqlrecord"
	"frontdesk/mapping"
	"frontdesk/mapping/sheet"
)

// look is one look at all records of a pair, or at those that have changed since the last one.
type look struct {
	pair
	place
	reach
	f       *Follower
	how     sheet.Changes
	at      string    // the position up to which the journal was read
	turned  time.Time // when the system was last known to have all entries after that
	anew    bool      // the journal begins anew, at a position taken before all records are read
	pass    int64     // the number of the look, or of a part of it
	first   bool      // nobody has a cursor yet: clients wait for this look
	whole   bool      // the look reads all records
	inside  bool      // the look has one of the mostWhole slots
	highest int64     // modified_at that was seen so far
	present int64     // when the look began, by the database's clock
	seen    []int32   // the IDs that a whole look has read: 4 bytes for each record
	lists   portion   // for records of a list, and for those that are read one by one
	singles portion
}

// look looks for changes of a pair. It ends when it has succeeded, nobody follows the pair any more,
// another gateway has the lease, or ctx ends.
func (f *Follower) look(ctx context.Context, p pair) error {
	how := f.o.Sheet.Changes(p.resource)
	l := &look{pair: p, f: f, how: how, first: true, lists: portion(how.Page), singles: 1} // first: until start knows
	if err := l.step(ctx, l.start); err != nil {
		return err
	}
	err := l.changes(ctx)
	if errors.Is(err, ErrPositionGone) {
		f.o.Log.Warn("the system does not tell what has changed since the last look: all records are read", l.fields()...)
		l.whole, l.anew = true, true
		err = l.changes(ctx)
	}
	if err != nil {
		return err
	}
	return l.step(ctx, l.finish)
}

// changes reads and notes what has changed.
func (l *look) changes(ctx context.Context) error {
	switch {
	case l.whole:
		if err := l.enter(ctx); err != nil {
			return err
		}
		defer l.leave()
		if err := l.list(ctx); err != nil {
			return err
		}
		return l.sweep(ctx)
	case l.how.IsReported():
		return l.entries(ctx, l.position)
	}
	err := l.list(ctx)
	if err == nil && l.how.Deleted != "" {
		err = l.entries(ctx, mapping.IntValue(max(0, l.from(l.how.Settle))).String())
	}
	return err
}

// step waits for its turn and does a part of a look, again and again until that succeeds.
func (l *look) step(ctx context.Context, do func(context.Context) error) error {
	var logged time.Time
	for failures := 1; ; failures++ {
		err := l.turn(ctx, do)
		switch {
		case err == nil || errors.Is(err, errLost) || errors.Is(err, errLeft) || errors.Is(err, ErrPositionGone):
			return err
		case ctx.Err() != nil:
			return ctx.Err()
		}
		l.f.counts[l.resource.Name].failures.Add(1)
		if time.Since(logged) > 10*time.Minute {
			logged = time.Now()
			l.f.o.Log.Error("changes cannot be looked for; it is tried again", append(l.fields(), zap.Int("failures", failures), zap.Error(err))...)
		}
		inside := l.inside
		l.leave() // lets others go on meanwhile
		sleep(ctx, min(time.Minute, time.Second<<min(failures, 6)), nil)
		if inside {
			if err := l.enter(ctx); err != nil {
				return err
			}
		}
		// The client may have a new name by now, with which the next try succeeds.
		if now, err := l.f.pairs(ctx, "client_id = ?1 AND resource = ?2", l.values()...); err == nil && len(now) > 0 {
			l.client = now[0].client
		}
	}
}

// mostWhole is how many whole looks run at most, since each remembers what it has seen.
const mostWhole = 16

// enter waits for a slot of mostWhole.
func (l *look) enter(ctx context.Context) error {
	select {
	case l.f.wholes[l.first] <- struct{}{}:
		l.inside = true
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (l *look) leave() {
	if l.inside {
		<-l.f.wholes[l.first]
		l.inside = false
	}
}

// turn does a part of a look as soon as no other look reads. Looks that clients wait for take turns
// of their own.
func (l *look) turn(ctx context.Context, do func(context.Context) error) error {
	turn := l.f.turns[l.first]
	select {
	case turn <- struct{}{}:
		defer func() { <-turn }()
	case <-ctx.Done():
		return ctx.Err()
	}
	ctx, cancel := context.WithTimeout(ctx, l.f.o.Timeout)
	defer cancel()
	return do(ctx)
}

// rest counts the records that were read, and waits as long as the sheet says.
func (l *look) rest(ctx context.Context, read int) {
	l.f.counts[l.resource.Name].records.Add(int64(read))
	sleep(ctx, l.how.Pace(read), nil)
}

// pageBytes bounds the texts of a page.
const pageBytes = 8 << 20

var errPageFull = errors.New("the page is full")

// list reads and notes the records of a list, page by page.
func (l *look) list(ctx context.Context) error {
	if l.anew {
		err := l.step(ctx, func(ctx context.Context) (err error) {
			l.turned = time.Now()
			if l.at, err = l.f.o.Reader.Position(ctx, l.resource, l.client); err != nil {
				err = fmt.Errorf("%w: %w", errDriver, err)
			}
			return err
		})
		if err != nil {
			return err
		}
	}
	q := backend.Query{Keyset: true, Room: func(bytes, records int) error {
		if bytes > pageBytes && records > 1 {
			return errPageFull
		}
		return nil
	}}
	if !l.whole && l.since > 0 {
		q.ModifiedSince = mapping.TimeValue(time.UnixMilli(l.from(l.how.Settle)))
	}
	for more := true; more; {
		var page backend.Page
		err := l.step(ctx, func(ctx context.Context) (err error) {
			return l.lists.read(l.f.o.Timeout, l.how.Page, func(most int) error {
				q.Client, q.Limit = l.client, most
				page, err = l.listed(ctx, q)
				return err
			})
		})
		if err != nil {
			return err
		}
		if more = page.More; more {
			q.After = page.Records[len(page.Records)-1].ID()
		}
		l.rest(ctx, len(page.Records))
	}
	return nil
}

// listed reads and notes a page of a list.
func (l *look) listed(ctx context.Context, q backend.Query) (page backend.Page, err error) {
	if page, err = l.f.o.Reader.List(ctx, l.resource, q); err == nil && page.More && len(page.Records) == 0 {
		err = fmt.Errorf("a page of %s has no records, and there are more", l.resource.Name)
	}
	if err != nil {
		return page, fmt.Errorf("%w: %w", errDriver, err)
	}
	if err := l.noteNews(ctx, page.Records); err != nil {
		return page, err
	}
	for _, rec := range page.Records {
		if l.whole {
			l.seen = append(l.seen, rec.ID())
		}
		if at := rec.Values[l.resource.ModifiedAt]; at.IsSet() && at.Int() <= l.present {
			l.highest = max(l.highest, at.Int())
		}
	}
	return page, nil
}

// portion is how many records are read at once: it doubles while there is ample time. After a failure it
// is 1, so that the readable records before a broken one are noted.
type portion int

// read reads a portion, and adjusts it: of is the time there is, most the largest portion.
func (p *portion) read(of time.Duration, most int, read func(n int) error) error {
	n, began := *p, time.Now()
	*p = 1
	err := read(int(n))
	if err == nil && time.Since(began) < of/4 {
		n = min(2*n, portion(most))
	}
	if err == nil {
		*p = n
	}
	return err
}

// sweep notes the records as gone that were seen before but not by this look. A record that still
// exists was skipped by paging, and stays.
func (l *look) sweep(ctx context.Context) error {
	slices.Sort(l.seen)
	var missing []int32
	err := l.step(ctx, func(ctx context.Context) error {
		missing = nil
		return l.f.db.Read(ctx, func(c sqlrecord.Conn) error {
			return c.Query(ctx, `SELECT id FROM followed_record WHERE client_id = ?1 AND resource = ?2 AND gone = 0 ORDER BY id`, numbers(1), l.values(), func(row []mapping.Value) error {
				id := int32(row[0].Int())
				if _, there := slices.BinarySearch(l.seen, id); !there {
					missing = append(missing, id)
				}
				return nil
			})
		})
	})
	for some := range slices.Chunk(missing, l.how.Page) {
		if err == nil {
			err = l.gone(ctx, some)
		}
		if err != nil {
			break
		}
		l.rest(ctx, len(some))
	}
	return err
}

// readsAtOnce is how many records that are read one by one are noted in one transaction at most.
const readsAtOnce = 25

// singly calls some for n records, portion by portion; some reads them one by one. Each portion is a pass
// of its own, so what it reads counts as newer than all that was noted before, also by this look.
func (l *look) singly(ctx context.Context, n int, some func(ctx context.Context, from, to int) error) error {
	for from := 0; from < n; {
		err := l.step(ctx, func(ctx context.Context) error {
			if err := l.nextPass(ctx); err != nil {
				return err
			}
			return l.singles.read(l.f.o.Timeout, readsAtOnce, func(most int) error {
				to := min(n, from+most)
				err := some(ctx, from, to)
				if err == nil {
					from = to
				}
				return err
			})
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// nextPass begins a pass: what was noted so far is older than what the look reads from now on.
func (l *look) nextPass(ctx context.Context) error {
	n, err := sqlrecord.Change(ctx, l.f.db, `UPDATE followed SET pass = ?4 WHERE client_id = ?1 AND resource = ?2 AND pass = ?3`,
		l.values(mapping.IntValue(l.pass), mapping.IntValue(l.pass+1))...)
	if err == nil && n == 0 {
		err = errLeft
	}
	if err == nil {
		l.pass++
	}
	return err
}

// gone notes which of some records were seen before and no longer exist.
func (l *look) gone(ctx context.Context, ids []int32) error {
	return l.singly(ctx, len(ids), func(ctx context.Context, from, to int) error { return l.goneOf(ctx, ids[from:to]) })
}

func (l *look) goneOf(ctx context.Context, ids []int32) error {
	before, err := l.f.lastSeen(ctx, l.pair, ids)
	if err != nil {
		return err
	}
	var gone []sighting
	for _, id := range ids {
		if before[id].kind != backend.RecordUpdated { // the record was not there before
			continue
		}
		_, err := l.f.o.Reader.Get(ctx, l.resource, backend.Query{Client: l.client, ID: id, Fields: []int{l.resource.ID}})
		switch {
		case errors.Is(err, backend.ErrNotFound):
			gone = append(gone, sighting{id: id, modified: mapping.NullValue(), kind: backend.RecordDeleted})
		case err != nil:
			return fmt.Errorf("%w: %w", errDriver, err)
		}
	}
	return l.f.note(ctx, l.pair, l, gone)
}

func (l *look) fields() []zap.Field {
	return []zap.Field{zap.String("resource", l.resource.Name), zap.Int64("client", l.client.ID)}
}
