package sqlrecord

import (
	"bytes"
	"encoding/base64"
	"math"
	"strconv"
	"time"
	"unicode/utf8"

	"github.com/cockroachdb/apd/v3"

	"frontdesk/mapping"
)

// stored is a value as an engine sends it. Its text is the engine's buffer, valid until the next row.
type stored struct {
	form form
	num  int64   // of integers and booleans; of moments, milliseconds since 1970 as if in UTC
	real float64 // of floating-point numbers
	text []byte
}

type form uint8

const (
	formText    form = iota // also of numbers that are sent as texts
	formBytes               // of a binary type
	formInteger             //
	formBoolean             //
	formSingle              // a floating-point number of 32 bits
	formDouble              //
	formDay                 // a date
	formWall                // what a clock showed
	formInstant             //
)

// isText reports whether a column is read as a text.
func (c *Column) isText() bool { return c.Type == mapping.Varchar || c.Type == mapping.Text }

// appendText appends the value as a text; false if it has no text.
func (s *stored) appendText(dst []byte) ([]byte, bool) {
	at := time.UnixMilli(s.num).UTC()
	switch s.form {
	case formInteger:
		return strconv.AppendInt(dst, s.num, 10), true
	case formBoolean:
		return strconv.AppendBool(dst, s.num != 0), true
	case formSingle, formDouble:
		return s.appendReal(dst)
	case formDay:
		return at.AppendFormat(dst, time.DateOnly), true
	case formWall:
		return at.AppendFormat(dst, "2006-01-02 15:04:05.999"), true
	case formInstant:
		return at.AppendFormat(dst, "2006-01-02 15:04:05.999Z"), true
	}
	if !utf8.Valid(s.text) {
		return dst, false
	}
	return append(dst, s.text...), true
}

// appendReal appends the shortest decimal that is the same floating-point number.
func (s *stored) appendReal(dst []byte) ([]byte, bool) {
	if math.IsNaN(s.real) || math.IsInf(s.real, 0) {
		return dst, false
	}
	bits := 64
	if s.form == formSingle {
		bits = 32
	}
	return strconv.AppendFloat(dst, s.real, 'f', -1, bits), true
}

// read makes a value of a column. It appends a text to text, and the value stays empty until endRow.
func (s *stored) read(c *Column, text []byte) (mapping.Value, []byte) {
	if !c.isText() {
		return s.value(c), text
	}
	text, ok := s.appendText(text)
	if !ok {
		return mapping.Value{}, text
	}
	return mapping.TextValue(""), text
}

// value is the value of a column that is no text; it is absent if it cannot be one.
func (s *stored) value(c *Column) mapping.Value {
	switch c.Type {
	case mapping.Int4:
		n, ok := s.decimal(0)
		if ok && n.whole && (!c.Foreign || n.unscaled >= math.MinInt32 && n.unscaled <= math.MaxInt32) { // ours are counters, too
			return mapping.IntValue(n.unscaled)
		}
	case mapping.Float8:
		return s.number(c.Scale)
	case mapping.Timestamp:
		return s.moment(c)
	case mapping.Bytea:
		if s.form == formBytes {
			return mapping.BytesValue(s.text)
		}
		if read, err := base64.StdEncoding.AppendDecode(nil, s.text); err == nil && s.form == formText {
			return mapping.BytesValue(read)
		}
	}
	return mapping.Value{}
}

// largest is the first decimal that the interface cannot write: it has 15 digits before the point.
const largest = 1e15

func (s *stored) number(scale int) mapping.Value {
	if scale < 0 {
		return s.float()
	}
	if n, ok := s.decimal(scale); ok && n.unscaled < largest && n.unscaled > -largest {
		return mapping.DecimalValue(n.unscaled, scale)
	}
	return mapping.Value{}
}

func (s *stored) float() mapping.Value {
	switch s.form {
	case formInteger, formBoolean:
		return mapping.FloatValue(float64(s.num))
	case formDouble:
		if math.IsNaN(s.real) || math.IsInf(s.real, 0) {
			return mapping.Value{}
		}
		return mapping.FloatValue(s.real)
	}
	var room [longestNumber]byte
	text := s.digits(room[:0])
	if _, ok := anyNumber(text); !ok {
		return mapping.Value{}
	}
	f, err := strconv.ParseFloat(string(text), 64)
	if err != nil {
		return mapping.Value{}
	}
	return mapping.FloatValue(f)
}

// rounded is a decimal after rounding; whole if it lost nothing.
type rounded struct {
	unscaled int64
	whole    bool
}

// decimal rounds a number half away from zero to that many decimals; false if it is none, or is
// too large.
func (s *stored) decimal(scale int) (rounded, bool) {
	if s.form == formInteger || s.form == formBoolean {
		return rescaled(s.num, 0, scale)
	}
	var room [longestNumber]byte
	text := s.digits(room[:0])
	if unscaled, from, ok := mapping.ParseDecimal(string(text), '.'); ok {
		return rescaled(unscaled, from, scale)
	}
	d, ok := anyNumber(text)
	if !ok {
		return rounded{}, false
	}
	v, ok := mapping.DecimalOf(d, scale)
	return rounded{v.Int(), ok && v.Decimal().Cmp(d) == 0}, ok
}

// longestNumber is the longest text that is read as a number. Every float64 has fewer digits.
const longestNumber = 400

// digits are a number as a text; nothing if it is none.
func (s *stored) digits(room []byte) []byte {
	switch s.form {
	case formText, formBytes:
		if text := bytes.Trim(s.text, " "); len(text) <= longestNumber {
			return text
		}
	case formSingle, formDouble:
		room, _ = s.appendReal(room)
	}
	return room
}

// anyNumber reads numbers with an exponent, or with more digits than an int64 has.
func anyNumber(text []byte) (*apd.Decimal, bool) {
	d, _, err := apd.NewFromString(string(text))
	return d, err == nil && d.Form == apd.Finite && d.Exponent > -longestNumber && d.Exponent < longestNumber
}

func rescaled(unscaled int64, from, to int) (rounded, bool) {
	if from <= to {
		if to-from >= len(pow10) {
			return rounded{}, unscaled == 0
		}
		unit := pow10[to-from]
		n := unscaled * unit
		return rounded{n, true}, n/unit == unscaled
	}
	if from-to >= len(pow10) {
		return rounded{0, unscaled == 0}, true
	}
	unit := pow10[from-to]
	n, rest := unscaled/unit, unscaled%unit
	whole := rest == 0
	if rest >= unit/2 {
		n++
	} else if rest <= -unit/2 {
		n--
	}
	return rounded{n, whole}, true
}

var pow10 = [...]int64{1, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18}
