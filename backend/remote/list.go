package remote

import (
	"context"
	"errors"
	"strconv"
	"time"

	"frontdesk/backend"
	"frontdesk/mapping"
	"frontdesk/mapping/sheet"
)

// listing is one list while it is read from the service, chunk by chunk.
type listing struct {
	s      *service
	r      *resource
	q      backend.Query
	v      values
	key    string    // of what is remembered of the list
	writes int64     // of the resource, when the list began
	since  time.Time // what lies before the present place was counted
	scan   scanner
	owners *owners // finds out whose the records are
	// parents are what the path says of all that is listed.
	parents []sheet.Assignment
	// judged are the filters that the service does not have: they are applied
	// here, to all that it lists.
	judged []backend.Filter
	// narrows says that the driver itself filters what the service lists: by filters that
	// the service does not have or ignores, or by the client that a record belongs to.
	narrows bool
	// hides says that the service also lists records that the client may not see, which
	// shows only once they are read.
	hides bool
	// filtered are the fields that the driver filters by, and whether any record had a
	// value in them.
	filtered map[*mapping.Field]bool
	// probing accepts rows as they come, for a report of what they lack.
	probing bool

	page    backend.Page
	skip    int // records still to be left out
	behind  after
	seen    seen
	beyond  bool  // the page is after an ID that was never given out
	counted int   // records up to the present place
	total   int64 // -1 as long as nobody tells it
	chunk   mark  // of the chunk that the page ends in
}

// list reads a page of records, in as many calls as that takes.
func (s *service) List(ctx context.Context, m *mapping.Resource, q backend.Query) (backend.Page, error) {
	o := s.owners(q.Client)
	o.unversioned = q.Unversioned
	page, err := s.listFor(ctx, m, q, o)
	if err == nil && m.HasArray(q.Fields) {
		err = s.addArrays(ctx, m, q, &page)
	}
	return page, err
}

// listFor is list with what is already known of the owners of records.
func (s *service) listFor(ctx context.Context, m *mapping.Resource, q backend.Query, o *owners) (backend.Page, error) {
	r := s.resources[m]
	if r == nil || r.list == nil {
		return backend.Page{}, nil
	}
	l := &listing{s: s, r: r, q: q, v: values{client: q.Client}, owners: o, page: backend.Page{Records: []mapping.Record{}}}
	if none, err := l.prepare(ctx); none || err != nil {
		return l.page, err
	}
	l.scan = s.scanner()
	defer s.free(l.scan)
	if err := l.run(ctx); err != nil {
		return l.page, err
	}
	return l.page, l.leavesOut()
}

// picks tells whether the driver selects the records out of what the service lists, and so has
// to read and count all of that.
func (l *listing) picks() bool { return l.narrows || l.hides }

// listed is the key under which marks of the list are remembered. It changes with each write,
// since a write may move all that follows.
func (l *listing) listed() string {
	how := " whole "
	if l.picks() {
		how = " picked "
	}
	return l.key + how + strconv.FormatInt(l.writes, 10)
}

// leavesMarks tells whether marks of the list are remembered. If the driver filters, a
// record before a mark may begin to match: such a list is read from the beginning.
func (l *listing) leavesMarks() bool { return !l.narrows }

// counts tells whether the driver has to count the total, because the service does not tell
// it.
func (l *listing) counts() bool {
	return l.q.Total && (l.picks() || !l.r.list.tellsTotal() && l.s.total[l.r.list] == nil)
}

// isDirect tells whether the page is at its positions in the service's list, so that nothing
// before it has to be read.
func (l *listing) isDirect() bool { return !l.picks() && l.q.After == 0 }

// run reads the list until the page is full, and further if the total has to be counted.
func (l *listing) run(ctx context.Context) error {
	if err := l.askTotal(ctx); err != nil {
		return err
	}
	if l.q.After > 0 && l.r.Key.Kept { // an ID that was never given out is behind all
		_, err := l.s.keyOf(ctx, l.r, l.q.Client, l.q.After)
		if l.beyond = errors.Is(err, backend.ErrNotFound); err != nil && !l.beyond {
			return err
		}
		if l.beyond && (!l.q.Total || l.total >= 0) {
			l.end()
			return nil
		}
	}
	at, ends := l.begin(), false
	for !ends {
		c, err := l.fetch(ctx, at)
		switch {
		case errors.Is(err, backend.ErrNotFound):
			c = chunk{last: true, total: -1} // the list of a parent that is not there
		case at.known && isRefusal(err): // what was remembered is no longer good there
			l.s.cursors.forget(l.listed())
			l.behind.stale = true
			at = l.begin()
			continue
		case err != nil:
			return err
		}
		again, err := l.takeIn(ctx, at, c)
		switch {
		case err != nil:
			return err
		case again:
			at = l.begin()
		default:
			at, ends = c.next, l.isDone(c)
			at.seen = l.counted
			l.learn(at)
		}
		if !ends {
			if err := backend.Yield(ctx); err != nil { // many may be read that are no part of the page
				return err
			}
		}
	}
	l.end()
	return nil
}

// takeIn takes a chunk. again says that the list has to be read anew, because it is not in the
// order that was assumed.
func (l *listing) takeIn(ctx context.Context, at place, c chunk) (again bool, err error) {
	picked := l.picks()
	if c.total >= 0 && !picked {
		l.total = c.total
	}
	if err := l.take(ctx, at, c); err != nil {
		return false, err
	}
	l.scan.reset()
	if l.hides && !picked {
		l.r.listsOthers.Store(true)
	}
	switch {
	case l.picks() != picked: // nothing stands at its position
		l.total, again = -1, true
	case l.isAstray(at):
		l.behind.stale, again = true, true
	case c.last && l.isLost():
		l.q.After, again = 0, true
	}
	return again, nil
}

// isDone tells whether a chunk was the last that is needed.
func (l *listing) isDone(c chunk) bool {
	if l.isDirect() && len(l.page.Records) == l.q.Limit && c.more {
		l.page.More = true
	}
	return c.last || l.page.More && l.isSettled() && (!l.q.Total || l.total >= 0)
}

// learn remembers a mark: where a cursor leads, and how many records come before it.
func (l *listing) learn(at place) {
	if at.cursor != "" && at.seen > 0 && l.q.After == 0 && l.leavesMarks() {
		l.s.cursors.learn(l.listed(), mark{position: at.position, seen: at.seen, cursor: at.cursor, since: l.since})
	}
}

// end sets what the page says of the records after it.
func (l *listing) end() {
	if n := len(l.page.Records); n > 0 && l.page.More {
		l.s.cursors.learnAfter(l.key, l.page.Records[n-1].ID(), l.mark())
	}
	if l.page.Total = l.total; l.total < 0 {
		l.page.Total = int64(l.counted)
	}
}

// askTotal makes the call that counts, if the sheet has one.
func (l *listing) askTotal(ctx context.Context) error {
	l.total = -1
	count := l.s.total[l.r.list]
	if !l.q.Total || count == nil || l.picks() {
		return nil
	}
	a, err := l.s.call(ctx, count, &l.v)
	if err != nil {
		return err
	}
	defer l.s.wire.release(a)
	if !isSuccess(a.status) {
		return l.s.refused(a, count, sheet.Attempt{}, nil)
	}
	top, err := l.s.scan(count.answer, a.body)
	if err != nil {
		return l.s.refused(a, count, sheet.Attempt{}, err)
	}
	l.total, err = totalOf(a, top, count)
	return err
}

// isRefusal tells whether an answer is a refusal by a service that works.
func isRefusal(err error) bool {
	if _, ok := mapping.AsViolations(err); ok {
		return true
	}
	return errors.Is(err, backend.ErrUnexpected)
}

// take adds the records of a chunk that belong to the page, and remembers where
// the last of them is.
func (l *listing) take(ctx context.Context, at place, c chunk) error {
	rows := c.rows
	if !l.picks() { // else they are counted below, as they are found to match
		l.counted += len(rows)
	}
	if l.isDirect() {
		left := min(l.skip, len(rows))
		l.skip -= left
		rows = rows[left:]
		rows = rows[:min(len(rows), max(0, l.q.Limit+1-len(l.page.Records)))]
	}
	if len(rows) == 0 {
		return nil
	}
	records, shown, err := l.s.decode(ctx, l.r, l.owners, rows)
	if err != nil {
		return err
	}
	for i, rec := range records {
		if !shown[i] {
			l.hides = true
			continue
		}
		l.noteFiltered(rec)
		missed := l.missed(rec)
		matches := missed == nil
		if !matches && !l.narrows {
			l.r.ignores.Store(missed, true)
			l.narrows = true
		}
		if matches && l.picks() {
			l.counted++
		}
		if matches {
			l.note(rec.ID())
		}
		if l.passes(rec.ID()) || !matches || !l.isDirect() && !l.isWanted() {
			continue
		}
		if l.page.More {
			continue // full: the rest is counted at most
		}
		added, err := l.page.Add(&l.q, rec)
		if err != nil {
			return err
		}
		if added {
			l.chunk = mark{position: at.position, cursor: at.cursor}
		}
	}
	return nil
}
