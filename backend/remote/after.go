package remote

import (
	"slices"

	"frontdesk/backend"
)

// after finds where in a list the record stands that a page is to be after. Where the
// sheet says that lists are in the order of IDs, that tells. Else the record itself does;
// and should it have gone, the last of those does that were listed before it.
type after struct {
	before []int32 // those, as far as they are remembered

	passed bool // the place, or what came before it
	found  bool // the record itself
	rank   int  // among before, of what is to be passed next

	first int32 // ID that was seen first
	stale bool  // the place that was remembered is none any more
}

// seen are the IDs that a list has up to the end of the page, of those that the client
// sees: from its beginning, or that of the page where a number says where that is.
type seen struct {
	ids   []int32
	known int // of them, from an earlier page
}

// remembered is how many of those that were listed before a record are known.
const remembered = 32

// note notes what the list has, as far as the next page may need it. Those of an earlier
// page that come again stand where they came: there may be new ones before them.
func (l *listing) note(id int32) {
	s := &l.seen
	if l.r.isByID() || l.skip > 0 || (l.page.More || len(l.page.Records) >= l.q.Limit) && l.isSettled() {
		return
	}
	if at := slices.Index(s.ids[:s.known], id); at >= 0 {
		s.ids = slices.Delete(s.ids, at, at+1)
		s.known--
	}
	if n := len(s.ids) - remembered; n > remembered && len(l.page.Records) == 0 {
		s.ids = slices.Delete(s.ids, 0, n)
		s.known = max(0, s.known-n)
	}
	s.ids = append(s.ids, id)
}

// mark is where the page ends, for the one after it.
func (l *listing) mark() mark {
	m := l.chunk
	last := max(0, slices.Index(l.seen.ids, l.page.Records[len(l.page.Records)-1].ID()))
	m.before = slices.Clone(l.seen.ids[max(0, last-remembered):last])
	return m
}

// beginAfter returns the place to look for the record from: where it was last seen, if
// that can still be.
func (l *listing) beginAfter(byMarks bool) place {
	m, ok := l.s.cursors.after(l.key, l.q.After)
	b := &l.behind
	if ok {
		b.before = m.before
	}
	b.passed, b.found, b.rank, b.first = false, false, 0, 0
	// A position is another one once what lies before it has gone: where the list is
	// picked that happens without anybody's deleting.
	if !ok || b.stale || l.counts() || l.picks() && !byMarks {
		return place{}
	}
	l.seen = seen{ids: slices.Clone(m.before), known: len(m.before)}
	return place{position: m.position, cursor: m.cursor, address: m.cursor, known: true}
}

// passes tells whether a record is the one that the page is after, or came before it, and
// begins the page anew behind it.
func (l *listing) passes(id int32) bool {
	if l.q.After == 0 {
		return false
	}
	b := &l.behind
	if b.first == 0 {
		b.first = id
	}
	if l.r.isByID() {
		return id <= l.q.After
	}
	rank := slices.Index(b.before, id)
	if id != l.q.After && (b.found || rank < b.rank) {
		return rank >= 0 // it was on a page already
	}
	b.passed, b.found, b.rank = true, id == l.q.After, rank+1
	l.page = backend.Page{Records: l.page.Records[:0]}
	return true
}

// isAstray tells whether a place that was remembered is no longer at the record, nor at
// what came before it.
func (l *listing) isAstray(at place) bool {
	if !at.known || l.q.After == 0 || l.behind.stale {
		return false
	}
	if l.r.isByID() {
		return l.behind.first == 0 || l.behind.first > l.q.After
	}
	return !l.behind.passed
}

// isLost tells that neither the record was there that the page is to be after, nor any
// that stood before it. The walk then begins again: some come twice, none is missing.
func (l *listing) isLost() bool {
	return l.q.After > 0 && !l.behind.passed && !l.beyond && !l.r.isByID()
}

// isSettled tells whether nothing that is still to come can be the record that the page
// is after.
func (l *listing) isSettled() bool { return l.q.After == 0 || l.behind.found || l.r.isByID() }

// isByID tells whether lists are in the order of IDs, as the sheet says. What was seen of
// a list does not tell: the next record may stand anywhere.
func (r *resource) isByID() bool {
	return !r.Key.Kept && len(r.Order) > 0 && r.Order[0] == r.Key.Places[0]
}

// isWanted tells whether a record of a list that is gone through is on the page
// or behind it.
func (l *listing) isWanted() bool {
	if l.q.After > 0 {
		return l.behind.passed || l.r.isByID()
	}
	if l.skip > 0 {
		l.skip--
		return false
	}
	return true
}
