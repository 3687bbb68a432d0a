package mapping

import (
	"encoding/base64"
	"math"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/cockroachdb/apd/v3"
)

// Datatype is one of the datatypes that validation names, or an array of
// records of another resource.
type Datatype uint8

// The datatypes of the interface.
const (
	Varchar Datatype = iota + 1
	Text
	Timestamp
	Float8
	Int4
	Bytea
	Array
)

var datatypeNames = [...]string{Varchar: "varchar", Text: "text", Timestamp: "timestamp", Float8: "float8", Int4: "int4", Bytea: "bytea", Array: "array"}

func (d Datatype) String() string { return datatypeNames[d] }

// TextLength is the longest text, in characters.
const TextLength = 65535

// MaxScale is the largest number of decimals a float8 field may keep exactly.
const MaxScale = 6

// unreadable holds, by datatype, the reason for refusing a value that is not of it.
var unreadable = [...]Reason{
	0: VarcharInvalid, Varchar: VarcharInvalid, Text: VarcharInvalid, Timestamp: TimestampInvalid,
	Float8: Float8Invalid, Int4: Int4Invalid, Bytea: ByteaInvalid, Array: VarcharInvalid,
}

// Unreadable returns the reason for refusing a value that is not of the field's datatype.
func (f *Field) Unreadable() Reason { return unreadable[f.Type] }

// Invalid returns the violation "not a value of this datatype".
func (f *Field) Invalid(sent string) *Error {
	return Fail(f.Unreadable(), Literal(f.Name), sent)
}

// Parse reads a value of this field's datatype from text, as in a query parameter.
// loc is the zone of dates without one.
func (f *Field) Parse(s string, loc *time.Location) (Value, *Error) {
	v, ok := f.parse(s, loc)
	if !ok {
		return Value{}, f.Invalid(s)
	}
	return v, nil
}

func (f *Field) parse(s string, loc *time.Location) (Value, bool) {
	switch f.Type {
	case Varchar, Text:
		return parseText(s)
	case Int4:
		return parseInt4(s)
	case Float8:
		return parseFloat8(s, f.Scale)
	case Timestamp:
		return parseTimestamp(s, loc)
	case Bytea:
		return parseBytea(s)
	default:
		return Value{}, false
	}
}

// Keeps reports whether a value that Parse read from a text is exact, neither rounded nor
// cut.
func (f *Field) Keeps(s string, v Value) bool {
	switch f.Type {
	case Float8:
		return v.kind != KindDecimal || exact(s).Cmp(v.Decimal()) == 0
	case Timestamp:
		_, fraction, _ := strings.Cut(s, ".")
		digits := fraction[:len(fraction)-len(strings.TrimLeft(fraction, "0123456789"))]
		return len(digits) <= 3 || strings.Trim(digits[3:], "0") == ""
	default:
		return true
	}
}

// exact returns the exact value of a number that parseFloat8 accepts.
func exact(s string) *apd.Decimal {
	var d apd.Decimal
	_, _, _ = d.SetString(s)
	return &d
}

func parseText(s string) (Value, bool) {
	if strings.IndexByte(s, 0) >= 0 || !utf8.ValidString(s) {
		return Value{}, false
	}
	return TextValue(s), true
}

func parseInt4(s string) (Value, bool) {
	if !isJSONNumber(s) {
		return Value{}, false
	}
	n, err := strconv.ParseInt(s, 10, 32)
	return IntValue(n), err == nil
}

// parseFloat8 reads a JSON number. With a scale it is kept as an exact decimal,
// rounded half away from zero; without one as a float64.
func parseFloat8(s string, scale int) (Value, bool) {
	if !isJSONNumber(s) || len(s) > 400 {
		return Value{}, false
	}
	if n, has, ok := ParseDecimal(s, '.'); ok && len(s) <= 15 && has <= scale { // the usual case
		for range scale - has {
			n *= 10 // 15 digits and MaxScale more fit an int64
		}
		if n > -1e15 && n < 1e15 {
			return DecimalValue(n, scale), true
		}
	}
	f, err := strconv.ParseFloat(s, 64)
	if err != nil || math.IsInf(f, 0) {
		return Value{}, false
	}
	if scale < 0 {
		return FloatValue(f), true
	}
	if math.Abs(f) >= maxDecimal[scale] {
		return Value{}, false
	}
	var d apd.Decimal
	if _, _, err := d.SetString(s); err != nil {
		return Value{}, false
	}
	v, ok := DecimalOf(&d, scale)
	return v, ok && max(v.num, -v.num) < 1e15 // rounding may reach the bound
}

// MaxDigits is how many decimal digits always fit an int64.
const MaxDigits = 18

// ParseDecimal reads -12.50 as -1250 with two decimals. It returns false for other forms, for numbers
// with more than MaxDigits digits, and for exponents.
func ParseDecimal(s string, point byte) (unscaled int64, scale int, ok bool) {
	negative := false
	if s != "" && (s[0] == '-' || s[0] == '+') {
		negative = s[0] == '-'
		s = s[1:]
	}
	digits, pointAt := 0, -1
	for i := range len(s) {
		switch c := s[i]; {
		case c >= '0' && c <= '9':
			unscaled = unscaled*10 + int64(c-'0')
			if digits++; digits > MaxDigits {
				return 0, 0, false
			}
		case c == point && pointAt < 0:
			pointAt = i
		default:
			return 0, 0, false
		}
	}
	if digits == 0 {
		return 0, 0, false
	}
	if pointAt >= 0 {
		scale = len(s) - pointAt - 1
	}
	if negative {
		unscaled = -unscaled
	}
	return unscaled, scale, true
}

// maxDecimal bounds the decimals of each scale, so that a decimal and its float8
// form agree to the last kept decimal.
var maxDecimal = [MaxScale + 1]float64{1e15, 1e14, 1e13, 1e12, 1e11, 1e10, 1e9}

func isJSONNumber(s string) bool {
	s = strings.TrimPrefix(s, "-")
	digits := func() bool {
		n := 0
		for n < len(s) && s[n] >= '0' && s[n] <= '9' {
			n++
		}
		s = s[n:]
		return n > 0
	}
	leadingZero := strings.HasPrefix(s, "0")
	before := len(s)
	if !digits() || leadingZero && before-len(s) > 1 {
		return false
	}
	if rest, ok := strings.CutPrefix(s, "."); ok {
		s = rest
		if !digits() {
			return false
		}
	}
	if s != "" && (s[0] == 'e' || s[0] == 'E') {
		s = s[1:]
		if s != "" && (s[0] == '+' || s[0] == '-') {
			s = s[1:]
		}
		if !digits() {
			return false
		}
	}
	return s == ""
}

// The accepted shapes of ISO 8601: 0 stands for a digit, anything else for itself.
// A time needs a zone; a date alone is midnight in the server's zone.
const (
	dateShape    = "0000-00-00"
	minutesShape = "0000-00-00T00:00"
	secondsShape = "0000-00-00T00:00:00"
	ownShape     = "0000-00-00T00:00:00.000Z" // used in answers, and by most clients
)

func parseTimestamp(s string, loc *time.Location) (Value, bool) {
	if len(s) == len(ownShape) && hasShape(s, ownShape) {
		return parseOwnTimestamp(s)
	}
	if len(s) == len(dateShape) && hasShape(s, dateShape) {
		t, err := time.ParseInLocation("2006-01-02", s, loc)
		return timeInRange(t, err)
	}
	layout, rest := "", ""
	switch {
	case hasShape(s, secondsShape):
		layout, rest = "2006-01-02T15:04:05", s[len(secondsShape):]
	case hasShape(s, minutesShape):
		layout, rest = "2006-01-02T15:04", s[len(minutesShape):]
	default:
		return Value{}, false
	}
	if strings.HasPrefix(rest, ".") && layout == "2006-01-02T15:04:05" {
		n := 1
		for n < len(rest) && rest[n] >= '0' && rest[n] <= '9' {
			n++
		}
		if n == 1 || n > 10 {
			return Value{}, false
		}
		rest = rest[n:]
	}
	switch {
	case rest == "Z" || hasShape(rest, "+00:00") && len(rest) == 6 || hasShape(rest, "-00:00") && len(rest) == 6:
		layout += "Z07:00"
	case (hasShape(rest, "+0000") || hasShape(rest, "-0000")) && len(rest) == 5:
		layout += "Z0700"
	case (hasShape(rest, "+00") || hasShape(rest, "-00")) && len(rest) == 3:
		layout += "Z07"
	default:
		return Value{}, false
	}
	if rest != "Z" && (rest[1:3] > "23" || rest[len(rest)-2:] > "59") { // time.Parse takes +24:60
		return Value{}, false
	}
	t, err := time.Parse(layout, s)
	return timeInRange(t, err)
}

func parseOwnTimestamp(s string) (Value, bool) {
	number := func(from, to int) int {
		n := 0
		for _, c := range []byte(s[from:to]) {
			n = n*10 + int(c-'0')
		}
		return n
	}
	year, month, day := number(0, 4), number(5, 7), number(8, 10)
	hour, minute, second := number(11, 13), number(14, 16), number(17, 19)
	if year < 1 || month < 1 || month > 12 || day < 1 || day > 31 || hour > 23 || minute > 59 || second > 59 {
		return Value{}, false
	}
	t := time.Date(year, time.Month(month), day, hour, minute, second, 0, time.UTC)
	return MilliValue(t.UnixMilli() + int64(number(20, 23))), t.Day() == day
}

func hasShape(s, shape string) bool {
	if len(s) < len(shape) {
		return false
	}
	for i := range len(shape) {
		if shape[i] == '0' {
			if s[i] < '0' || s[i] > '9' {
				return false
			}
		} else if s[i] != shape[i] {
			return false
		}
	}
	return true
}

func timeInRange(t time.Time, err error) (Value, bool) {
	if err != nil {
		return Value{}, false
	}
	if y := t.UTC().Year(); y < 1 || y > 9999 {
		return Value{}, false
	}
	return TimeValue(t), true
}

func parseBytea(s string) (Value, bool) {
	if strings.ContainsAny(s, "\r\n") {
		return Value{}, false
	}
	b, err := base64.StdEncoding.Strict().DecodeString(s)
	if err != nil {
		return Value{}, false
	}
	return BytesValue(b), true
}
