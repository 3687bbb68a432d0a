package sheet

import (
	"fmt"
	"strconv"
	"strings"
	"time"
)

// layout is a compiled format of dates and times.
type layout struct {
	parts  []layoutPart
	width  int  // of a text in this format
	digits bool // nothing but digits, so that it may be an integer too
	date   bool // has year, month and day
	clock  bool // has hours
	// zoned tells that texts say their zone, so that they are instants.
	zoned bool
	// ordered tells that texts sort as the times do.
	ordered bool
	short   bool  // years have two digits
	finest  int64 // milliseconds that the last part counts
}

// layoutPart is a number of width digits, a zone, or a literal where unit is 0.
type layoutPart struct {
	unit    byte // y M d H m s S, Z X x
	width   int
	literal string
}

// layoutUnits are the letters of formats; S may stand one to nine times. Z is the letter
// itself, and means UTC. X and x are any offset: X is written as Z, since everything is
// written in UTC, and x as +00, +0000 or +00:00.
var layoutUnits = map[string]bool{
	"yyyy": true, "yy": true, "MM": true, "dd": true, "HH": true, "mm": true, "ss": true,
	"Z": true, "X": true, "XX": true, "XXX": true, "x": true, "xx": true, "xxx": true,
}

// newLayout compiles a format such as yyyyMMdd or dd-MM-yyyy'T'HH:mm.
func newLayout(format string) (*layout, error) {
	l := &layout{digits: true, finest: 24 * time.Hour.Milliseconds()}
	seen := ""
	for rest := format; rest != ""; {
		c := rest[0]
		switch {
		case c == '\'':
			text, after, closed := strings.Cut(rest[1:], "'")
			if !closed {
				return nil, fmt.Errorf("the quote is not closed")
			}
			l.literal(text)
			rest = after
		case c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z':
			n := 1
			for n < len(rest) && rest[n] == c {
				n++
			}
			unit := rest[:n]
			if c == 'T' && n == 1 {
				l.literal("T")
			} else if !layoutUnits[unit] && (c != 'S' || n > 9) {
				return nil, fmt.Errorf("%s is none of yyyy, yy, MM, dd, HH, mm, ss, SSS, and of the zones Z, X, XX, XXX, x, xx, xxx; letters that stand for themselves are put in single quotes", unit)
			} else if strings.IndexByte(seen, c) >= 0 {
				return nil, fmt.Errorf("%s is there twice", unit)
			} else if isZone(c) && l.zoned {
				return nil, fmt.Errorf("%s is a second zone", unit)
			} else {
				l.zoned = l.zoned || isZone(c)
				l.short = l.short || unit == "yy"
				l.parts = append(l.parts, layoutPart{unit: c, width: n})
				l.width += n
				seen += string(c)
			}
			rest = rest[n:]
		case c >= '0' && c <= '9':
			return nil, fmt.Errorf("a digit is not part of a format")
		default:
			l.literal(rest[:1])
			rest = rest[1:]
		}
	}
	return l, l.judge(seen)
}

func isZone(unit byte) bool { return unit == 'Z' || unit == 'X' || unit == 'x' }

func (l *layout) literal(text string) {
	l.parts = append(l.parts, layoutPart{literal: text})
	l.width += len(text)
	l.digits = false
}

// judge says what the units in seen amount to, and what is missing.
func (l *layout) judge(seen string) error {
	has := func(unit string) bool { return strings.Contains(seen, unit) }
	l.date, l.clock = has("y") && has("M") && has("d"), has("H")
	switch {
	case !l.date && (has("y") || has("M") || has("d")):
		return fmt.Errorf("a date has yyyy, MM and dd")
	case has("m") && !has("H") || has("s") && !has("m") || has("S") && !has("s"):
		return fmt.Errorf("a time of day has HH, then mm, ss and SSS")
	case !l.date && !l.clock:
		return fmt.Errorf("neither a date nor a time of day")
	case l.zoned && !(l.date && l.clock):
		return fmt.Errorf("a zone stands beside a date and a time of day")
	}
	for i, unit := range "HmsS" {
		if has(string(unit)) {
			l.finest = [...]int64{3_600_000, 60_000, 1000, 1}[i]
		}
	}
	for _, p := range l.parts {
		if p.unit == 'S' && p.width < 3 {
			l.finest = [...]int64{100, 10}[p.width-1]
		}
		if isZone(p.unit) {
			l.digits = false
		}
	}
	l.ordered = !l.short     // 69 is before 68
	const order = "yMdHmsSZ" // texts with other zones do not sort
	for i := 1; i < len(seen); i++ {
		l.ordered = l.ordered && strings.IndexByte(order, seen[i-1]) < strings.IndexByte(order, seen[i])
	}
	return nil
}

func mustLayout(format string) *layout {
	l, err := newLayout(format)
	if err != nil {
		panic(err)
	}
	return l
}

var (
	isoWall    = mustLayout("yyyy-MM-ddTHH:mm:ss.SSS")
	isoInstant = mustLayout("yyyy-MM-ddTHH:mm:ss.SSSX")
	isoDate    = mustLayout("yyyy-MM-dd")
)

// parse reads a text as milliseconds since 1970, as if it were in UTC unless it names its
// zone.
func (l *layout) parse(s string) (ms int64, ok bool) {
	if len(s) != l.width && !l.zoned {
		return 0, false
	}
	year, month, day, hour, minute, second, milli, shift := 1970, 1, 1, 0, 0, 0, 0, int64(0)
	for _, p := range l.parts {
		if p.unit == 0 {
			if s, ok = strings.CutPrefix(s, p.literal); !ok {
				return 0, false
			}
			continue
		}
		if isZone(p.unit) {
			if shift, s, ok = p.cutZone(s); !ok {
				return 0, false
			}
			continue
		}
		if len(s) < p.width {
			return 0, false
		}
		n := 0
		for i := range p.width {
			c := s[i] - '0'
			if c > 9 {
				return 0, false
			}
			n = n*10 + int(c)
		}
		s = s[p.width:]
		switch p.unit {
		case 'y':
			year = n
			if p.width == 2 {
				year = firstShort + (n+100-firstShort%100)%100
			}
		case 'M':
			month = n
		case 'd':
			day = n
		case 'H':
			hour = n
		case 'm':
			minute = n
		case 's':
			second = n
		case 'S':
			for w := p.width; w < 3; w++ {
				n *= 10
			}
			for w := p.width; w > 3; w-- {
				n /= 10
			}
			milli = n
		}
	}
	ms, ok = civil(year, month, day, hour, minute, second, milli)
	return ms - shift, ok && s == ""
}

// cutZone takes a zone from the beginning of s, in any of its forms.
func (p layoutPart) cutZone(s string) (ms int64, rest string, ok bool) {
	if rest, ok := strings.CutPrefix(s, "Z"); ok || p.unit == 'Z' {
		return 0, rest, ok
	}
	n := min(1, len(s))
	for n < len(s) && (s[n] >= '0' && s[n] <= '9' || s[n] == ':') {
		n++
	}
	ms, ok = parseZone(s[:n])
	return ms, s[n:], ok
}

// civil is a date and time as milliseconds since 1970, as if in UTC.
func civil(year, month, day, hour, minute, second, milli int) (ms int64, ok bool) {
	if year < 1 || month < 1 || month > 12 || day < 1 || hour > 23 || minute > 59 || second > 59 {
		return 0, false
	}
	leap := year%4 == 0 && (year%100 != 0 || year%400 == 0)
	if last := lastDays[month-1]; day > last && !(leap && month == 2 && day == 29) {
		return 0, false
	}
	// Years that begin in March have their leap day at the end.
	month -= 3
	if month < 0 {
		month, year = month+12, year-1
	}
	const until1970 = 719_468 // days since the March of year 0
	days := 365*year + year/4 - year/100 + year/400 + (153*month+2)/5 + day - 1 - until1970
	return int64(days)*86_400_000 + int64(hour)*3_600_000 + int64(minute)*60_000 + int64(second)*1000 + int64(milli), true
}

var lastDays = [...]int{31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31}

// firstShort is the first of the hundred years that two digits can mean, as in POSIX: 69
// is 1969, and 68 is 2068.
const firstShort = 1969

// tells tells whether a text in this format says which year the time is in; the time is given
// as if in UTC.
func (l *layout) tells(ms int64) bool {
	year := time.UnixMilli(ms).UTC().Year()
	return !l.short || year >= firstShort && year < firstShort+100
}

// append writes milliseconds since 1970 without regard to zones; a text that names its zone is
// in UTC.
func (l *layout) append(dst []byte, ms int64) []byte {
	t := time.UnixMilli(ms).UTC()
	year, month, day := t.Date()
	hour, minute, second := t.Clock()
	for _, p := range l.parts {
		n := 0
		switch p.unit {
		case 0:
			dst = append(dst, p.literal...)
			continue
		case 'y':
			if n = year; p.width == 2 {
				n %= 100
			}
		case 'M':
			n = int(month)
		case 'd':
			n = day
		case 'H':
			n = hour
		case 'm':
			n = minute
		case 's':
			n = second
		case 'S':
			n = t.Nanosecond()
			for w := p.width; w < 9; w++ {
				n /= 10
			}
		case 'Z', 'X':
			dst = append(dst, 'Z')
			continue
		case 'x':
			dst = append(dst, [...]string{"+00", "+0000", "+00:00"}[p.width-1]...)
			continue
		}
		dst = appendDigits(dst, int64(n), p.width)
	}
	return dst
}

// text is what append writes.
func (l *layout) text(ms int64) string {
	var room [40]byte
	return string(l.append(room[:0], ms))
}

// appendDigits writes n with at least width digits.
func appendDigits(dst []byte, n int64, width int) []byte {
	var room [20]byte
	digits := strconv.AppendInt(room[:0], n, 10)
	for range width - len(digits) {
		dst = append(dst, '0')
	}
	return append(dst, digits...)
}

// parseISO reads the forms of ISO 8601 that systems and databases write: a date,
// with a time after T or a blank, with a fraction, with a zone. zoned tells that
// ms is an instant, else it is as if in UTC.
func parseISO(s string) (ms int64, zoned, ok bool) {
	if len(s) < 10 {
		return 0, false, false
	}
	year, month, date := natural(s[:4]), natural(s[5:7]), natural(s[8:10])
	day, ok := civil(year, month, date, 0, 0, 0, 0)
	if !ok || s[4] != '-' || s[7] != '-' {
		return 0, false, false
	}
	if len(s) == 10 {
		return day, false, true
	}
	if s[10] != 'T' && s[10] != 't' && s[10] != ' ' {
		return 0, false, false
	}
	rest := s[11:]
	clock, rest, ok := parseClock(rest)
	if !ok {
		return 0, false, false
	}
	ms = day + clock
	rest = strings.TrimPrefix(rest, " ")
	switch {
	case rest == "":
		return ms, false, true
	case rest == "Z" || rest == "z":
		return ms, true, true
	}
	shift, ok := parseZone(rest)
	return ms - shift, true, ok
}

// natural reads a number that has nothing but digits; it is -1 if s is none.
func natural(s string) (n int) {
	for i := range len(s) {
		c := s[i] - '0'
		if c > 9 {
			return -1
		}
		n = n*10 + int(c)
	}
	return n
}

// parseClock reads HH:mm, HH:mm:ss or with a fraction, and returns what follows.
func parseClock(s string) (ms int64, rest string, ok bool) {
	if len(s) < 5 || s[2] != ':' {
		return 0, "", false
	}
	hour, minute, second, end := natural(s[:2]), natural(s[3:5]), 0, 5
	if len(s) > 5 && s[5] == ':' {
		if len(s) < 8 {
			return 0, "", false
		}
		second, end = natural(s[6:8]), 8
	}
	if hour < 0 || hour > 23 || minute < 0 || minute > 59 || second < 0 || second > 59 {
		return 0, "", false
	}
	ms = int64(hour)*3_600_000 + int64(minute)*60_000 + int64(second)*1000
	if end == 8 && len(s) > 8 && (s[8] == '.' || s[8] == ',') {
		unit := int64(100)
		for end = 9; end < len(s) && s[end] >= '0' && s[end] <= '9'; end++ {
			ms += int64(s[end]-'0') * unit
			unit /= 10
		}
		if end == 9 {
			return 0, "", false
		}
	}
	return ms, s[end:], true
}

// parseZone reads +02:00, +0200 or +02 as milliseconds.
func parseZone(s string) (ms int64, ok bool) {
	if len(s) < 3 || s[0] != '+' && s[0] != '-' {
		return 0, false
	}
	clock := s[1:]
	switch len(clock) {
	case 2:
		clock += ":00"
	case 4:
		clock = clock[:2] + ":" + clock[2:]
	case 5:
	default:
		return 0, false
	}
	ms, _, ok = parseClock(clock)
	if s[0] == '-' {
		ms = -ms
	}
	return ms, ok
}
