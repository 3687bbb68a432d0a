package mapping

import (
	"encoding/base64"
	"math"
	"strconv"
	"time"

	"github.com/cockroachdb/apd/v3"
	"github.com/go-json-experiment/json/jsontext"
)

// Kind is the kind of a Value.
type Kind uint8

// The kinds. Absent, null and empty are different: a field that was not supplied, one
// that is null, and a text of no characters.
const (
	KindAbsent Kind = iota
	KindNull
	KindInt
	KindDecimal
	KindFloat
	KindText
	KindTime
	KindBytes
	KindRecords // an array field; its elements are in Record.Children
)

// Value is the value of one field. The zero Value is absent. Values are
// immutable, and can be compared with ==.
type Value struct {
	text  string
	num   int64
	kind  Kind
	scale uint8
}

// NullValue is an explicit null.
func NullValue() Value { return Value{kind: KindNull} }

// RecordsValue marks an array field as supplied.
func RecordsValue() Value { return Value{kind: KindRecords} }

// IntValue is an int4.
func IntValue(n int64) Value { return Value{kind: KindInt, num: n} }

// TextValue is a varchar or text.
func TextValue(s string) Value { return Value{kind: KindText, text: s} }

// BytesValue is a bytea.
func BytesValue(b []byte) Value { return Value{kind: KindBytes, text: string(b)} }

// FloatValue is a float8 without a fixed number of decimals.
func FloatValue(f float64) Value { return Value{kind: KindFloat, num: int64(math.Float64bits(f))} }

// DecimalValue is a float8 that is kept exactly: unscaled × 10^-scale.
func DecimalValue(unscaled int64, scale int) Value {
	return Value{kind: KindDecimal, num: unscaled, scale: uint8(scale)}
}

// TimeValue is a timestamp, kept to the millisecond.
func TimeValue(t time.Time) Value { return Value{kind: KindTime, num: t.UnixMilli()} }

// MilliValue is a timestamp given as milliseconds since 1970 in UTC.
func MilliValue(ms int64) Value { return Value{kind: KindTime, num: ms} }

// DecimalOf rounds a decimal half away from zero to scale decimals. It returns false
// if the result does not fit.
func DecimalOf(d *apd.Decimal, scale int) (Value, bool) {
	ctx := apd.Context{Precision: 40, MaxExponent: 1000, MinExponent: -1000, Rounding: apd.RoundHalfUp}
	var q apd.Decimal
	if _, err := ctx.Quantize(&q, d, -int32(scale)); err != nil || q.Form != apd.Finite {
		return Value{}, false
	}
	if !q.Coeff.IsInt64() {
		return Value{}, false
	}
	n := q.Coeff.Int64()
	if q.Negative {
		n = -n
	}
	return DecimalValue(n, scale), true
}

// Kind returns what the value holds.
func (v Value) Kind() Kind { return v.kind }

// IsAbsent reports whether the field was not supplied.
func (v Value) IsAbsent() bool { return v.kind == KindAbsent }

// IsSet reports whether there is a value: neither absent nor null.
func (v Value) IsSet() bool { return v.kind > KindNull }

// IsEmpty reports whether the value is absent, null or "".
func (v Value) IsEmpty() bool {
	return v.kind <= KindNull || v.kind == KindText && v.text == ""
}

// Int returns an int4, a decimal's unscaled number or a timestamp's
// milliseconds; 0 for other kinds.
func (v Value) Int() int64 {
	if v.kind == KindFloat {
		return 0
	}
	return v.num
}

// Float returns a float8 as a float64.
func (v Value) Float() float64 {
	if v.kind == KindDecimal {
		return float64(v.num) / math.Pow10(int(v.scale))
	}
	return math.Float64frombits(uint64(v.num))
}

// Scale returns how many decimals a decimal keeps.
func (v Value) Scale() int { return int(v.scale) }

// Decimal returns a float8 as a decimal for exact arithmetic; 0 where unset.
func (v Value) Decimal() *apd.Decimal {
	switch v.kind {
	case KindDecimal:
		return apd.New(v.num, -int32(v.scale))
	case KindInt:
		return apd.New(v.num, 0)
	case KindFloat:
		d, err := new(apd.Decimal).SetFloat64(v.Float())
		if err == nil {
			return d
		}
	}
	return apd.New(0, 0)
}

// Text returns a varchar or text, or the bytes of a bytea; "" for other kinds.
func (v Value) Text() string { return v.text }

// Time returns a timestamp in UTC.
func (v Value) Time() time.Time { return time.UnixMilli(v.num).UTC() }

// String formats the value for messages: text without quotes, all else as JSON.
func (v Value) String() string {
	if v.kind == KindText {
		return v.text
	}
	var room [32]byte
	if v.kind == KindTime {
		return string(appendTime(room[:0], v.num))
	}
	return string(v.AppendJSON(room[:0]))
}

// AppendJSON appends the value as the interface answers it. Arrays are written
// by the record that holds them.
func (v Value) AppendJSON(dst []byte) []byte {
	switch v.kind {
	case KindInt:
		return strconv.AppendInt(dst, v.num, 10)
	case KindDecimal:
		return appendDecimal(dst, v.num, int(v.scale))
	case KindFloat:
		return strconv.AppendFloat(dst, v.Float(), 'g', -1, 64)
	case KindText:
		return AppendJSONString(dst, v.text)
	case KindTime:
		dst = append(dst, '"')
		dst = appendTime(dst, v.num)
		return append(dst, '"')
	case KindBytes:
		dst = append(dst, '"')
		dst = base64.StdEncoding.AppendEncode(dst, []byte(v.text))
		return append(dst, '"')
	default:
		return append(dst, "null"...)
	}
}

// AppendJSONString appends s as a JSON string; bytes that are no UTF-8 become
// U+FFFD.
func AppendJSONString(dst []byte, s string) []byte {
	if !isPlainASCII(s) {
		out, _ := jsontext.AppendQuote(dst, s) // the error only reports replaced bytes
		return out
	}
	dst = append(dst, '"')
	dst = append(dst, s...)
	return append(dst, '"')
}

// isPlainASCII reports whether every byte of s stands for itself in a JSON string. It checks eight
// bytes at a time.
func isPlainASCII(s string) bool {
	const ones, tops = 0x0101010101010101, 0x8080808080808080
	for ; len(s) >= 8; s = s[8:] {
		w := uint64(s[0]) | uint64(s[1])<<8 | uint64(s[2])<<16 | uint64(s[3])<<24 |
			uint64(s[4])<<32 | uint64(s[5])<<40 | uint64(s[6])<<48 | uint64(s[7])<<56
		quote, slash := w^('"'*ones), w^('\\'*ones)
		// Each term has a top bit where a byte is a quote, a backslash, under 0x20 or beyond ASCII.
		if ((quote-ones)&^quote|(slash-ones)&^slash|(w-0x20*ones)&^w|w)&tops != 0 {
			return false
		}
	}
	for i := range len(s) {
		if c := s[i]; c < 0x20 || c >= 0x80 || c == '"' || c == '\\' {
			return false
		}
	}
	return true
}

func appendDecimal(dst []byte, unscaled int64, scale int) []byte {
	if unscaled < 0 {
		dst = append(dst, '-')
		unscaled = -unscaled
	}
	for scale > 0 && unscaled%10 == 0 {
		unscaled /= 10
		scale--
	}
	start := len(dst)
	dst = strconv.AppendInt(dst, unscaled, 10)
	if scale == 0 {
		return dst
	}
	for len(dst)-start <= scale {
		dst = append(dst, 0)
		copy(dst[start+1:], dst[start:])
		dst[start] = '0'
	}
	dst = append(dst, 0)
	point := len(dst) - 1 - scale
	copy(dst[point+1:], dst[point:])
	dst[point] = '.'
	return dst
}

// appendTime writes 2026-07-01T10:00:00.000Z.
func appendTime(dst []byte, ms int64) []byte {
	t := time.UnixMilli(ms).UTC()
	year, month, day := t.Date()
	hour, minute, second := t.Clock()
	milli := t.Nanosecond() / 1e6
	dst = append(dst, "0000-00-00T00:00:00.000Z"...)
	at := dst[len(dst)-24:]
	twoDigits(at, 0, year/100)
	twoDigits(at, 2, year%100)
	twoDigits(at, 5, int(month))
	twoDigits(at, 8, day)
	twoDigits(at, 11, hour)
	twoDigits(at, 14, minute)
	twoDigits(at, 17, second)
	twoDigits(at, 20, milli/10)
	at[22] = byte('0' + milli%10)
	return dst
}

func twoDigits(to []byte, at, n int) {
	to[at], to[at+1] = byte('0'+n/10%10), byte('0'+n%10)
}
