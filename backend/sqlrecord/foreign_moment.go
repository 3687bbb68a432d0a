package sqlrecord

import (
	"bytes"
	"strings"
	"time"

	"frontdesk/mapping"
)

// The first and the last instant that the interface can write.
var (
	firstMilli = time.Date(1, 1, 1, 0, 0, 0, 0, time.UTC).UnixMilli()
	lastMilli  = time.Date(9999, 12, 31, 23, 59, 59, 999e6, time.UTC).UnixMilli()
)

// moment reads a timestamp. Without a zone of its own it is in the column's.
func (s *stored) moment(c *Column) mapping.Value {
	var ms int64
	ok, zoned := true, true
	switch {
	case s.form == formInstant:
		ms = s.num
	case s.form == formDay, s.form == formWall:
		ms, zoned = s.num, false
	case c.Kind == Epoch:
		ms, ok = s.millis(3)
	case c.Kind == EpochMillis:
		ms, ok = s.millis(0)
	case s.form == formText, s.form == formBytes:
		ms, zoned, ok = parseMoment(bytes.Trim(s.text, " "))
	default:
		ok = false
	}
	if !ok {
		return mapping.Value{}
	}
	if !zoned && c.Zone != nil && c.Zone != time.UTC {
		ms = instantOf(ms, c.Zone)
	}
	if ms < firstMilli || ms > lastMilli {
		return mapping.Value{}
	}
	return mapping.MilliValue(ms)
}

func (s *stored) millis(scale int) (int64, bool) {
	n, ok := s.decimal(scale)
	return n.unscaled, ok
}

// instantOf is the instant at which a clock in loc shows wall, in milliseconds as if in UTC. If the
// clock shows wall twice, instantOf is the instant whose offset holds in the hours around it; if
// never, an instant next to the gap.
func instantOf(wall int64, loc *time.Location) int64 {
	first := zoneOffset(wall, loc)
	ms := wall - first
	if second := zoneOffset(ms, loc); second != first {
		ms = wall - second
	}
	return ms
}

func zoneOffset(ms int64, loc *time.Location) int64 {
	_, seconds := time.UnixMilli(ms).In(loc).Zone()
	return int64(seconds) * 1000
}

// parseMoment reads the texts that engines and programs write: a date, then T or a blank and a time,
// which may lack seconds or have a fraction; then perhaps a zone, which a blank may precede, and
// what Go prints after it. If no zone is named, ms is as if in UTC. A date that no calendar has,
// such as 0000-00-00, is refused.
func parseMoment(b []byte) (ms int64, zoned, ok bool) {
	text, layout := string(b), time.DateOnly
	if len(text) > len(layout) {
		clock, zone := text[len(layout)+1:], ""
		if at := strings.IndexAny(clock, "Zz+- "); at >= 0 {
			clock, zone = clock[:at], strings.TrimPrefix(clock[at:], " ")
			zone, _, _ = strings.Cut(zone, " ")
			zoned = true
		}
		form, known := zoneLayouts[len(zone)]
		if ok = known && strings.Contains("Tt ", text[len(layout):len(layout)+1]); !ok {
			return 0, false, false
		}
		day, times := text[:len(layout)], " 15:04:05" // perhaps with a fraction
		if len(clock) == len("15:04") {
			times = " 15:04"
		}
		text, layout = day+" "+clock+strings.ToUpper(zone), layout+times+form
	}
	t, err := time.Parse(layout, text)
	return t.UnixMilli(), zoned, err == nil && t.Year() > 0
}

// zoneLayouts are the forms of zones by their lengths: Z, +02, +0200 and +02:00.
var zoneLayouts = map[int]string{0: "", 1: "Z07:00", 3: "-07", 5: "-0700", 6: "-07:00"}
