package remote

import (
	"slices"

	"frontdesk/backend"
)

// after finds the place in a list from which a page continues, given the record that the page
// comes after. If the sheet says that lists are in the order of IDs, the ID is enough.
// Otherwise the record itself is looked for; if it is gone, the last record still listed that
// came before it takes its place.
type after struct {
	before []int32 // those, as far as they are remembered

	passed bool // the place, or what came before it
	found  bool // the record itself
	rank   int  // among before, of what is to be passed next

	first int32 // ID that was seen first
	stale bool  // the place that was remembered is none any more
}

// seen are the IDs up to the end of the page, of records that the client sees. They count from
// the beginning of the list, or from the beginning of the page if the page was found by its
// number.
type seen struct {
	ids   []int32
	known int // of them, from an earlier page
}

// remembered is how many IDs before a record are kept.
const remembered = 32

// note remembers the IDs that the next page may need. An ID of an earlier page that comes
// again moves to its new position: there may be new records before it.
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

// mark remembers where the page ends, for the page after it.
func (l *listing) mark() mark {
	m := l.chunk
	last := max(0, slices.Index(l.seen.ids, l.page.Records[len(l.page.Records)-1].ID()))
	m.before = slices.Clone(l.seen.ids[max(0, last-remembered):last])
	return m
}

// beginAfter returns the place to look for the record from: where it was last seen, if it can
// still be there.
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

// passes tells whether a record is the one that the page comes after, or was listed before it.
// The page then begins anew behind that record.
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

// isAstray tells whether the remembered place leads past the record and past everything that
// came before it.
func (l *listing) isAstray(at place) bool {
	if !at.known || l.q.After == 0 || l.behind.stale {
		return false
	}
	if l.r.isByID() {
		return l.behind.first == 0 || l.behind.first > l.q.After
	}
	return !l.behind.passed
}

// isLost tells whether neither the record that the page comes after nor any record before it
// was found. The walk then starts at the beginning: some records come twice, none is missing.
func (l *listing) isLost() bool {
	return l.q.After > 0 && !l.behind.passed && !l.beyond && !l.r.isByID()
}

// isSettled tells whether the record that the page comes after cannot follow any more.
func (l *listing) isSettled() bool { return l.q.After == 0 || l.behind.found || l.r.isByID() }

// isByID tells whether the sheet says that lists are in the order of IDs. What the list looks
// like proves nothing: the next record may stand anywhere.
func (r *resource) isByID() bool {
	return !r.Key.Kept && len(r.Order) > 0 && r.Order[0] == r.Key.Places[0]
}

// isWanted tells whether a record belongs to the page or follows it.
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
