package remote

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"go.uber.org/zap"

	"frontdesk/auth"
	"frontdesk/backend"
	"frontdesk/backend/sqlrecord"
	"frontdesk/mapping"
	"frontdesk/mapping/sheet"
)

// errMissing says that no record of a page has a member that all records had before.
var errMissing = errors.New("no record has what all records had before")

// look reads the records of a service, or those that have changed, into the copy.
type look struct {
	c    *copied
	p    *walked
	mark int64 // the last touch before the current page was requested

	members membership // of the last walk
	only    bool       // only read: the copy stays as it is
	odd     bool       // accept pages that lack what all records had, or have no record that can be shown
	isWalk  bool       // over all records
	walked  time.Time  // when the last walk began
	leased  bool       // the look has had the lease, or the walk that it is a part of

	jq    []string        // all jq that reads the records
	named map[string]bool // by member: whether jq names it
	found
	release func()
}

// found is what a look has found.
type found struct {
	seen    []int32
	count   int            // records that can be shown
	shown   int            // records that are not hidden
	all     int            // records that exist
	present map[string]int // by field: how many records have it
	newest  mapping.Value  // modified_at
	first   mapping.Value  // the newest of the first page
	leftOut map[backend.Place]int64
}

func (c *copied) look(p *walked, known membership) *look {
	return &look{c: c, p: p, members: known, jq: readingOf(p.r), named: map[string]bool{}, release: func() {}}
}

// mostPasses is how many passes in a row may find fewer records than the service's total. The service may
// count separately, or insert new records before those that have come, so a write during the walk can
// cause that once. A list that is incomplete is so each time.
const mostPasses = 5

// run makes passes until there are as many records as the service's total.
func (l *look) run(ctx context.Context, since *string) (next string, err error) {
	for range mostPasses {
		l.found = found{present: map[string]int{}, leftOut: map[backend.Place]int64{}}
		if next, err = l.pass(ctx, since); !errors.Is(err, errFewer) {
			break
		}
	}
	return next, err
}

// pass requests pages, all with the same since, and stores each in the copy before the next.
// Between pages others take turns.
func (l *look) pass(ctx context.Context, since *string) (next string, err error) {
	defer func() { l.release() }()
	if err := l.turn(ctx); err != nil {
		return "", err
	}
	return l.c.conn.walk(ctx, l.p.r, l.p.client, since, func(rows []sheet.JSON) error {
		page, err := l.c.conn.take(ctx, l.p.r, l.p.client, rows)
		if err != nil {
			return err
		}
		if err := l.note(ctx, page); err != nil || l.only {
			return err
		}
		passed, err := l.apply(ctx, l.mark, page)
		if err != nil {
			return err
		}
		return l.readPassed(ctx, page, passed)
	}, l.rest)
}

// rest waits between two requests, while others have their turns, and keeps the lease.
func (l *look) rest(ctx context.Context, wait time.Duration) error {
	for {
		l.release()
		l.release = func() {}
		step := min(wait, 30*time.Second)
		if err := auth.Sleep(ctx, step); err != nil {
			return err
		}
		if err := l.turn(ctx); err != nil {
			return err
		}
		if wait -= step; wait <= 0 {
			return nil
		}
	}
}

// readPassed reads the passed records of a page singly: others read or wrote them while the page was
// requested, and later polls need not report them again.
func (l *look) readPassed(ctx context.Context, page []taken, passed []int32) error {
	if len(passed) == 0 || l.p.r.Service.Get == nil {
		return nil
	}
	kept, err := l.c.records.Kept(ctx, l.p.r.Resource, passed)
	if err != nil {
		return ownFailure("copy of records", err)
	}
	for _, t := range page {
		id := t.rec.ID()
		if !slices.Contains(passed, id) {
			continue
		}
		client := auth.Client{ID: cmp.Or(l.p.client.ID, t.client, kept[id].Client), Name: l.p.client.Name}
		switch _, err := l.c.read(ctx, l.p.r, client, id); {
		case errors.Is(err, backend.ErrUnexpected): // a walk leaves out what cannot be shown
			l.c.fly(&l.p.walks)
		case err != nil && !errors.Is(err, backend.ErrNotFound):
			return err
		}
	}
	return nil
}

// turn waits until nobody else requests a page of this walk, and notes the last touch.
func (l *look) turn(ctx context.Context) (err error) {
	l.release = func() {}
	release, err := l.p.take(ctx, l.c)
	if err != nil {
		return err
	}
	l.release = release
	if l.isWalk || l.leased {
		lease := l.c.lease
		if l.leased {
			lease = l.c.renew
		}
		if err := l.c.db.Write(ctx, func(conn sqlrecord.Conn) error { return lease(ctx, conn, l.p, l.walked) }); err != nil {
			return ownFailure("turn to walk", err)
		}
		l.leased = true
	}
	l.mark, err = l.c.mark(ctx)
	return err
}

// errOthers says that another gateway has the lease.
var errOthers = errors.New("another gateway walks")

// note counts what a page has. It fails with errMissing if all records had a member that no record of
// the page has, unless the copy has each of these records without a value there.
func (l *look) note(ctx context.Context, page []taken) error {
	if len(page) == 0 {
		return nil
	}
	r := l.p.r
	lacking, here, there := map[string]int{}, map[string]int{}, 0
	shown, whole, nobodys := 0, 0, 0 // records that are not hidden, that can be shown, that have no client
	var why error                    // why one cannot be shown
	ids, wholes := make([]int32, 0, len(page)), make([]int32, 0, len(page))
	for _, t := range page {
		ids = append(ids, t.rec.ID())
		if l.seen = append(l.seen, t.rec.ID()); l.isWalk {
			l.p.seen.Store(int64(len(l.seen)))
		}
		if t.gone {
			continue
		}
		there++
		for _, member := range l.membersIn(t.raw) {
			here[member]++
		}
		if t.hidden {
			continue
		}
		l.shown++
		if shown++; errors.Is(t.err, backend.ErrChanged) {
			nobodys++
		}
		if t.err != nil && !errors.Is(t.err, ErrNobody) {
			l.leftOut[backend.Place{Resource: r.Name, Field: t.faults[0].Of}]++
		}
		if t.err != nil {
			why = t.err
			continue
		}
		whole++
		wholes = append(wholes, t.rec.ID())
		l.count++
		absent := map[int]bool{}
		for _, i := range t.absent {
			absent[i] = true
		}
		for i := range r.Fields {
			if f := r.Fields[i].Field; !absent[i] {
				l.present[f.Name]++
			} else {
				lacking[f.Name]++
			}
		}
		if at := t.rec.Values[r.ModifiedAt]; at.IsSet() && (!l.newest.IsSet() || at.Int() > l.newest.Int()) {
			l.newest = at
		}
	}
	if !l.first.IsSet() {
		l.first = l.newest
	}
	l.all += there
	for member, n := range here {
		l.present[member] += n
	}
	if shown > 0 && nobodys == shown && !l.only {
		return fmt.Errorf("%w: %s: no record of a page tells whose it is", backend.ErrChanged, r.Name)
	}
	if l.only || l.odd {
		return nil
	}
	if whole == 0 && (shown > 1 || shown == 1 && !l.isWalk) { // of a single record that has changed only a walk reports whether all have
		if kept, err := l.c.records.Kept(ctx, r.Resource, ids); err != nil || len(kept) > 0 {
			return cmp.Or(ownFailure("copy of records", err), fmt.Errorf("%w: no record of a page of %s can be shown: %w", errMissing, r.Name, why))
		}
	}
	for name := range l.members {
		if isMember(name) && there > 0 && here[name] == 0 {
			return fmt.Errorf("%w: %s%s", errMissing, r.Name, name)
		}
	}
	for name, n := range lacking {
		if n < whole || !l.members[name] {
			continue
		}
		if _, unset, err := l.c.records.CountSet(ctx, r.Resource.Field(name), r.Resource, wholes); err != nil || unset < whole {
			return cmp.Or(ownFailure("copy of records", err), fmt.Errorf("%w: %s.%s", errMissing, r.Name, name))
		}
	}
	return nil
}

// walk reads all records of the service, and removes from the copy those that no longer exist.
func (c *copied) walk(ctx context.Context, p *walked) error {
	if err := c.begin(ctx, p); err != nil {
		return err
	}
	s, err := c.state(ctx, p)
	if err != nil {
		return err
	}
	since := s.since
	if w := p.r.Service.Walk; since == "" && w.Since != nil && !w.Since.Cursor.IsZero() {
		// Polls from here on cover what changes during the walk.
		if since, err = c.look(p, nil).run(ctx, new(string)); err != nil {
			return err
		}
	}
	began, start := s.now, int64(0)
	l := c.look(p, s.members)
	l.isWalk, l.walked = true, s.walked
	if start, err = c.mark(ctx); err != nil {
		return err
	}
	_, err = l.run(ctx, nil)
	if errors.Is(err, errMissing) {
		if l, err = c.again(ctx, p, s, err); err != nil {
			return err
		}
	}
	if err == nil {
		err = l.removeUnseen(ctx, start)
	}
	if err != nil {
		return err
	}
	if since == "" && p.r.Service.Walk.Since != nil && l.first.IsSet() {
		if since, err = c.catchUp(ctx, p, l, began); err != nil {
			return err
		}
	}
	always := l.always()
	members, err := json.Marshal(always)
	if err != nil {
		return err
	}
	if err = c.ended(ctx, p, s.walked, began, string(members), since, l.count); err != nil {
		return err
	}
	c.note(l)
	p.always.Store(&always)
	return c.prune(ctx, p.r.Resource, start)
}

// again walks once more after a page lacked what all records had before. If other records still have
// it, or the copy has no value of it either, the page is accepted; if not, the service has changed.
func (c *copied) again(ctx context.Context, p *walked, s state, why error) (*look, error) {
	l := c.look(p, s.members)
	l.isWalk, l.only, l.walked = true, true, s.walked
	if _, err := l.run(ctx, nil); err != nil {
		return nil, err
	}
	if l.shown > 0 && l.count == 0 {
		return nil, fmt.Errorf("%w: %s: no record can be shown: %w", backend.ErrChanged, p.r.Name, why)
	}
	known := maps.Clone(s.members)
	for name := range known {
		accepted := l.all == 0 || l.count == 0 && !isMember(name) || l.present[name] > 0
		if !accepted && !isMember(name) {
			set, _, err := c.records.CountSet(ctx, p.r.Resource.Field(name), p.r.Resource, l.seen)
			if err != nil {
				return nil, ownFailure("copy of records", err)
			}
			accepted = set == 0
		}
		if accepted {
			delete(known, name)
		}
	}
	if len(known) > 0 {
		return nil, fmt.Errorf("%w: %s: no record has %s any more", backend.ErrChanged, p.r.Name, strings.Join(slices.Sorted(maps.Keys(known)), ", "))
	}
	c.Log.Info("records without a member that all records had before", zap.String("resource", p.r.Name), zap.Error(why))
	l = c.look(p, nil)
	l.isWalk, l.odd, l.walked = true, true, s.walked
	_, err := l.run(ctx, nil)
	return l, err
}

// catchUp polls what has changed since the first page of the first walk, and returns the since of the
// next poll.
func (c *copied) catchUp(ctx context.Context, p *walked, l *look, now time.Time) (string, error) {
	from := since(p, l.first, now)
	changed := c.look(p, nil)
	changed.leased, changed.walked = l.leased, l.walked // it is a part of the walk
	if _, err := changed.run(ctx, &from); err != nil {
		return "", err
	}
	if changed.newest.IsSet() {
		return since(p, changed.newest, now), nil
	}
	return from, nil
}

// since is the moment of the next poll of a service without cursors: the newest modified_at that was
// seen, or now if that is in the future, less the time that the service's writers may take.
func since(p *walked, newest mapping.Value, now time.Time) string {
	return mapping.MilliValue(min(newest.Int(), now.UnixMilli()) - p.r.Service.Walk.Since.Settle.Milliseconds()).String()
}

// pollNoteInterval is how often, at most, a poll without changes is noted: each note is a write to the disk.
const pollNoteInterval = time.Second

// ask polls the service for changes, and stores them in the copy.
func (c *copied) ask(ctx context.Context, p *walked) error {
	s, err := c.state(ctx, p)
	if err != nil {
		return err
	}
	l := c.look(p, s.members)
	from := s.since
	next, err := l.run(ctx, &from)
	if errors.Is(err, errMissing) { // only a walk shows whether the member is gone
		if err = flown(ctx, c.fly(&p.walks)); err == nil {
			l = c.look(p, nil)
			next, err = l.run(ctx, &from)
		}
	}
	if err != nil {
		return err
	}
	if p.r.Service.Walk.Since.Cursor.IsZero() {
		if next = from; l.newest.IsSet() {
			next = max(from, since(p, l.newest, s.now))
		}
	}
	p.polled.Store(s.now.UnixMilli())
	if unchanged := cmp.Or(next, from) == from; unchanged && s.now.Sub(s.noted).Abs() < pollNoteInterval {
		return nil
	}
	_, err = c.set(ctx, p, "asked_at = CASE WHEN asked_at < ?3 OR asked_at > now() THEN ?3 ELSE asked_at END, since = ?4", "", mapping.IntValue(s.now.UnixMilli()), mapping.TextValue(cmp.Or(next, from)))
	return err
}

// note keeps the counts of what a walk has left out.
func (c *copied) note(l *look) {
	c.mu.Lock()
	defer c.mu.Unlock()
	maps.DeleteFunc(c.leftOut, func(of backend.Place, _ int64) bool { return of.Resource == l.p.r.Name })
	maps.Copy(c.leftOut, l.leftOut)
}

// fail notes why a walk has failed.
func (c *copied) fail(ctx context.Context, p *walked, why error) {
	if ctx.Err() != nil || errors.Is(why, errOthers) {
		return
	}
	changed := errors.Is(why, backend.ErrChanged) // Closed says so itself
	if err := c.givenUp(ctx, p, strings.TrimPrefix(why.Error(), backend.ErrChanged.Error()+": "), changed); err != nil {
		why = errors.Join(why, err)
	}
	c.Log.Error("the service's records could not be walked; it is tried again", zap.String("resource", p.r.Name), zap.Int64("client", p.client.ID), zap.Error(why))
}
