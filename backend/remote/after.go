package remote

import (
	"slices"

	"frontdesk/mapping"
)

// byID tells whether the list is in the order of IDs, as far as it was seen.
func (l *listing) byID() bool {
	return !l.r.Key.Kept && !l.jumbled && (len(l.r.Order) == 0 || l.r.Order[0] == l.r.Key.Places[0])
}

// passes tells of a record that the page is after. By IDs it is any up to there; in
// another order the record itself, or one that stood right before it: what the page has
// so far stands before that.
func (l *listing) passes(id int32) bool {
	switch {
	case l.q.After == 0:
		return false
	case l.byID():
		l.passed = l.passed || id <= l.q.After
		return id <= l.q.After
	case id == l.q.After || slices.Contains(l.near, id):
		l.passed, l.page.Records = true, l.page.Records[:0]
		return true
	default:
		return !l.passed
	}
}

// mostNear is how many records are remembered to tell where one stood. Where all of
// them are deleted between two pages, the walk begins again.
const mostNear = 32

// lastOf returns the last records up to the end of a page.
func (l *listing) lastOf(page []mapping.Record) []int32 {
	if l.byID() {
		return nil // the IDs tell
	}
	near := slices.Clone(l.near)
	for _, rec := range page[max(0, len(page)-mostNear):] {
		near = append(near, rec.ID())
	}
	return slices.Clone(near[max(0, len(near)-mostNear):])
}

// isAstray tells that the record that the page is to be after is not where it was
// remembered to be; or nowhere, and nothing near it: then the list is read from its
// beginning as if it were asked for so. Some come twice, and none is missing.
func (l *listing) isAstray(at place, c chunk) bool {
	if l.q.After == 0 || l.passed || l.beyond {
		return false
	}
	if lost := c.last && !l.byID(); lost && !at.known {
		l.q.After = 0
		return true
	}
	return at.known
}
