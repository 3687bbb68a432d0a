package remote

import (
	"slices"

	"frontdesk/mapping"
)

// after finds where in a list the record stands that a page is to be after. Where the list
// is in the order of IDs, that tells. Else the record itself does; and should it have gone,
// the last of those does that were listed before it.
type after struct {
	before []int32 // those, as far as they are remembered
	whole  bool    // nothing came before them

	passed bool // the place, or what came before it
	found  bool // the record itself
	rank   int  // among before, of what is to be passed next

	first, highest int32 // IDs that were seen
	jumbled        bool  // the list is not in the order of IDs
	unmarked       bool  // the place that was remembered is none any more
}

// remembered is how many of those that were listed before a record are known.
const remembered = 32

// mark is where the page ends, for the one after it.
func (l *listing) mark() mark {
	m := l.chunk
	m.whole = l.q.After == 0 && l.q.Offset == 0 || l.behind.whole
	m.before = slices.Clone(l.behind.before)
	if l.q.After > 0 {
		m.before = append(m.before, l.q.After)
	}
	for _, rec := range l.page.Records[:len(l.page.Records)-1] {
		m.before = append(m.before, rec.ID())
	}
	if n := len(m.before) - remembered; n > 0 {
		m.before, m.whole = slices.Clone(m.before[n:]), false
	}
	return m
}

// beginAfter returns the place to look for the record from: where it was last seen, if
// that can still be.
func (l *listing) beginAfter(byMarks bool) place {
	m, ok := l.s.cursors.after(l.listed(), l.q.After)
	b := &l.behind
	if ok {
		b.before, b.whole = m.before, m.whole
	}
	b.found, b.rank, b.first, b.highest = false, 0, 0, 0
	// A position is another one once what lies before it has gone: where rows are sifted
	// that happens without anybody's deleting.
	if b.passed = false; ok && !b.unmarked && !l.counts() && (byMarks || !l.sifts()) {
		return place{position: m.position, seen: m.seen, cursor: m.cursor, address: m.cursor, known: true}
	}
	b.passed = b.whole
	return place{}
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
	b.jumbled, b.highest = b.jumbled || id < b.highest, max(b.highest, id)
	if l.byID() {
		return false
	}
	rank := slices.Index(b.before, id)
	if id != l.q.After && (b.found || rank < b.rank) {
		return rank >= 0 // it was on a page already
	}
	b.passed, b.found, b.rank = true, id == l.q.After, rank+1
	l.page.Records = l.page.Records[:0]
	return true
}

// isAstray tells whether a place that was remembered is no longer at the record, nor at
// what came before it.
func (l *listing) isAstray(at place) bool {
	if !at.known || l.q.After == 0 || l.behind.unmarked {
		return false
	}
	if l.byID() {
		return l.behind.first == 0 || l.behind.first > l.q.After
	}
	return !l.behind.passed
}

// isLost tells that neither the record was there that the page is to be after, nor any
// that stood before it. The walk then begins again: some come twice, none is missing.
func (l *listing) isLost() bool {
	return l.q.After > 0 && !l.behind.passed && !l.beyond && !l.byID()
}

// isSettled tells whether nothing that is still to come can be the record that the page
// is after.
func (l *listing) isSettled() bool { return l.q.After == 0 || l.behind.found || l.byID() }

// byID tells whether the list is in the order of IDs, as far as it was seen.
func (l *listing) byID() bool {
	return !l.r.Key.Kept && !l.behind.jumbled && (len(l.r.Order) == 0 || l.r.Order[0] == l.r.Key.Places[0])
}

// isWanted tells whether a record of a list that is gone through is on the page
// or behind it.
func (l *listing) isWanted(rec mapping.Record) bool {
	switch {
	case l.q.After == 0:
	case l.byID():
		return rec.ID() > l.q.After
	default:
		return l.behind.passed
	}
	if l.skip > 0 {
		l.skip--
		return false
	}
	return true
}
