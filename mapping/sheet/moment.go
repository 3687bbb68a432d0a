package sheet

import (
	"cmp"
	"regexp"
	"time"
)

const dayLength = 24 * 60 * 60 * 1000

// The first and the last instant that the interface can write.
var (
	minMilli = time.Date(1, 1, 1, 0, 0, 0, 0, time.UTC).UnixMilli()
	maxMilli = time.Date(9999, 12, 31, 23, 59, 59, 999e6, time.UTC).UnixMilli()
)

// isoForm matches the forms of ISO 8601 that systems write: a date, optionally with a time after T or a
// blank, a fraction, and a zone.
var isoForm = regexp.MustCompile(`^(\d{4}-\d\d-\d\d)(?:[Tt ](\d\d:\d\d)(?:(:\d\d)(?:[.,](\d+))?)? ?(?:([Zz])|([+-]\d\d):?(\d\d)?)?)?$`)

// parseISO reads a moment in milliseconds since 1970. If zoned is false, the text has no zone, and the moment
// is in UTC.
func parseISO(s string) (ms int64, zoned, ok bool) {
	if len(s) > len("2006-01-02T15") && s[10] == 'T' && s[13] == ':' { // time.Parse would also take an hour of one digit
		if t, err := time.Parse(time.RFC3339, s); err == nil { // the usual case
			return t.UnixMilli(), true, t.Year() > 0
		}
	}
	p := isoForm.FindStringSubmatch(s)
	if p == nil {
		return 0, false, false
	}
	zone := "Z"
	if p[6] != "" {
		zone = p[6] + ":" + cmp.Or(p[7], "00")
	}
	t, err := time.Parse(time.RFC3339Nano, p[1]+"T"+cmp.Or(p[2], "00:00")+cmp.Or(p[3], ":00")+"."+cmp.Or(p[4], "0")+zone)
	return t.UnixMilli(), p[5]+p[6] != "", err == nil && t.Year() > 0
}

// wallText formats what a clock shows in ISO 8601.
func wallText(wall int64) string { return time.UnixMilli(wall).UTC().Format("2006-01-02T15:04:05.000") }

func mod(n, by int64) int64 { return (n%by + by) % by }

// WallOf returns what a clock in loc shows at an instant, both in milliseconds.
func WallOf(ms int64, loc *time.Location) int64 { return ms + offset(ms, loc) }

// instantOf returns when a clock in loc shows wall. If the clock shows wall twice, it is one of the two
// instants; if never, an instant next to the gap.
func instantOf(wall int64, loc *time.Location) int64 {
	first := offset(wall, loc)
	ms := wall - first
	if second := offset(ms, loc); second != first {
		ms = wall - second
	}
	return ms
}

// FirstWall returns the least time that a clock in loc shows at an instant or later, and that
// instantOf converts to that instant or later. Within an hour that the clock shows twice it is
// the beginning of that hour; next to an hour that the clock skips it may be in the gap.
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

// compareZones reports whether days ever begin earlier in a than in b, or later, between 1970 and
// 2038.
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
