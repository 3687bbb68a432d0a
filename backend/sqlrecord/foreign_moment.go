package sqlrecord

import (
	"bytes"
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

// instantOf is when a clock in loc shows wall, in milliseconds as if in UTC. If it shows it
// twice, it is the instant whose offset holds in the hours around; if never, an instant beside
// the gap.
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

// parseMoment reads the texts that engines and programs write: a date, with a time behind T or a
// blank, which may lack seconds, with a fraction, with a zone. If no zone is named, ms is as if
// in UTC. A date that no calendar has, as 0000-00-00, is none.
func parseMoment(b []byte) (ms int64, zoned, ok bool) {
	p := momentParser{b, true}
	year, month, day := p.number(4), p.behind('-', 2), p.behind('-', 2)
	var hour, minute, second, nanos int
	if len(p.rest) > 0 {
		if p.rest[0] != 'T' && p.rest[0] != 't' && p.rest[0] != ' ' {
			return 0, false, false
		}
		p.rest = p.rest[1:]
		hour, minute = p.number(2), p.behind(':', 2)
		if p.at(':') {
			second, nanos = p.behind(':', 2), p.fraction()
		}
	}
	shift, zoned := p.zone()
	t := time.Date(year, time.Month(month), day, hour, minute, second, nanos, time.UTC)
	if !p.ok || year == 0 || t.Day() != day || int(t.Month()) != month || hour > 23 || minute > 59 || second > 59 {
		return 0, false, false
	}
	return t.UnixMilli() - shift, zoned, true
}

// momentParser takes numbers from the beginning of a text. It is not ok once one was missing.
type momentParser struct {
	rest []byte
	ok   bool
}

func (p *momentParser) at(c byte) bool { return len(p.rest) > 0 && p.rest[0] == c }

// number takes a number of so many digits.
func (p *momentParser) number(digits int) (n int) {
	if p.ok = p.ok && len(p.rest) >= digits; !p.ok {
		return 0
	}
	for _, c := range p.rest[:digits] {
		p.ok = p.ok && c >= '0' && c <= '9'
		n = n*10 + int(c-'0')
	}
	p.rest = p.rest[digits:]
	return n
}

// behind takes a separator and a number.
func (p *momentParser) behind(separator byte, digits int) int {
	if p.ok = p.ok && p.at(separator); !p.ok {
		return 0
	}
	p.rest = p.rest[1:]
	return p.number(digits)
}

// fraction takes the fraction of a second, if there is one, and returns nanoseconds.
func (p *momentParser) fraction() (nanos int) {
	if !p.at('.') && !p.at(',') {
		return 0
	}
	p.rest = p.rest[1:]
	p.ok = p.ok && len(p.rest) > 0 && p.rest[0] >= '0' && p.rest[0] <= '9'
	for unit := 100_000_000; len(p.rest) > 0 && p.rest[0] >= '0' && p.rest[0] <= '9'; unit /= 10 {
		nanos += int(p.rest[0]-'0') * unit
		p.rest = p.rest[1:]
	}
	return nanos
}

// zone takes the rest: Z, +02, +02:00 or +0200, perhaps behind a blank, and what Go prints behind
// that of a time. shift is in milliseconds.
func (p *momentParser) zone() (shift int64, zoned bool) {
	if len(p.rest) > 1 && p.rest[0] == ' ' {
		p.rest = p.rest[1:]
	}
	if len(p.rest) == 0 {
		return 0, false
	}
	sign := p.rest[0]
	p.rest = p.rest[1:]
	switch {
	case sign == 'Z' || sign == 'z':
		p.ok = p.ok && len(p.rest) == 0
		return 0, true
	case sign != '+' && sign != '-':
		p.ok = false
		return 0, false
	}
	hours, minutes := p.number(2), 0
	if p.at(':') {
		minutes = p.behind(':', 2)
	} else if len(p.rest) > 0 && p.rest[0] != ' ' {
		minutes = p.number(2)
	}
	p.ok = p.ok && (len(p.rest) == 0 || p.rest[0] == ' ') && hours < 24 && minutes < 60
	shift = (time.Duration(hours)*time.Hour + time.Duration(minutes)*time.Minute).Milliseconds()
	if sign == '-' {
		shift = -shift
	}
	return shift, true
}
