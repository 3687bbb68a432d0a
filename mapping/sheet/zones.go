package sheet

import "time"

// WallOf is what a clock in loc shows at an instant, both in milliseconds.
func WallOf(ms int64, loc *time.Location) int64 { return ms + offset(ms, loc) }

// instantOf is when a clock in loc shows wall. If it shows wall twice, it is the instant whose
// offset holds in the hours around; if never, an instant beside the gap.
func instantOf(wall int64, loc *time.Location) int64 {
	first := offset(wall, loc)
	ms := wall - first
	if second := offset(ms, loc); second != first {
		ms = wall - second
	}
	return ms
}

// FirstWall is the least that a clock in loc shows at an instant or later, and the least
// that reads as that instant or a later one: within an hour that the clock shows twice
// that is where it begins; of what it never shows, an hour that is left out, what reads
// as ms.
func FirstWall(ms int64, loc *time.Location) int64 {
	wall := WallOf(ms, loc)
	began, ends := time.UnixMilli(ms).In(loc).ZoneBounds()
	if !began.IsZero() {
		at, before := began.UnixMilli(), offset(began.UnixMilli()-1, loc)
		after := offset(at, loc)
		if jump := before - after; ms-at < max(jump, -jump) {
			wall = min(wall, at+after, ms+before)
		}
	}
	if !ends.IsZero() {
		wall = min(wall, WallOf(ends.UnixMilli(), loc))
	}
	return wall
}

// compareZones tells whether days have ever begun earlier in a than in b since 1970, or later,
// or will.
func compareZones(a, b *time.Location) (earlier, later bool) {
	if a.String() == b.String() {
		return false, false
	}
	for ms := time.Date(1970, 1, 1, 12, 0, 0, 0, time.UTC).UnixMilli(); ms < time.Date(2038, 1, 1, 0, 0, 0, 0, time.UTC).UnixMilli(); ms += dayLength {
		ahead := offset(ms, a) - offset(ms, b)
		earlier, later = earlier || ahead > 0, later || ahead < 0
	}
	return earlier, later
}

func offset(ms int64, loc *time.Location) int64 {
	if loc == time.UTC {
		return 0
	}
	_, seconds := time.UnixMilli(ms).In(loc).Zone()
	return int64(seconds) * 1000
}
