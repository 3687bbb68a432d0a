package sheet

import (
	"encoding/base64"
	"math"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"frontdesk/mapping"
)

// systemType is the type that a value has in the system.
type systemType uint8

const (
	sysText systemType = iota + 1
	sysInteger
	sysDecimal
	sysBoolean
	sysDate
	sysDatetime
	sysTimestamp
	sysBytes
)

var systemTypes = map[string]systemType{
	"text": sysText, "integer": sysInteger, "decimal": sysDecimal, "boolean": sysBoolean,
	"date": sysDate, "datetime": sysDatetime, "timestamp": sysTimestamp, "bytes": sysBytes,
}

// codec converts the values of one field. With nothing set but field, system and loc it passes
// them on as they are.
type codec struct {
	field  *mapping.Field
	system systemType
	loc    *time.Location

	trimRight, trimLeft bool
	padRight, padZero   bool
	width               int
	upper, lower        bool
	dashless            bool // a plate is kept without dashes
	charset             *charset
	emptyNull           bool
	nullAs              Raw // absent: as a null is
	zero                []string
	codes               *codes
	decimals            int
	comma               bool
	format              *layout // of text and integers; nil for ISO 8601
	epoch               int64   // milliseconds that the unit of an epoch has; 0 for none
	clock               *layout // of the second place, nil where there is none
	isoText             bool    // dates without a format are written as text
}

// isWall tells whether the system stores what a clock in loc showed, and not instants.
func (c *codec) isWall() bool {
	timed := c.field.Type == mapping.Timestamp && c.epoch == 0
	return timed && (c.clock != nil || c.system == sysDate || c.system == sysDatetime || c.format != nil && !c.format.zoned)
}

// fault says why a value could not be converted; "" if it could.
type fault string

// codes is a code list.
type codes struct {
	read    map[string]mapping.Value
	write   map[mapping.Value][]Raw // the first is written
	unknown string                  // fail, null, keep or value
	value   mapping.Value           // of unknown codes
	list    []Code                  // in the order of the sheet
}

// read makes a value of what the system has; clock is the raw of the second place, if there is
// one.
func (c *codec) read(raw, clock Raw) (mapping.Value, fault) {
	switch raw.Kind {
	case RawAbsent:
		return mapping.Value{}, ""
	case RawNull:
		return mapping.NullValue(), ""
	}
	if c.codes != nil {
		return c.readCode(raw)
	}
	if c.zero != nil && c.isZero(raw) {
		return mapping.NullValue(), ""
	}
	switch c.field.Type {
	case mapping.Int4:
		return c.readInt(raw)
	case mapping.Float8:
		return c.readNumber(raw)
	case mapping.Timestamp:
		return c.readTime(raw, clock)
	case mapping.Bytea:
		return c.readBytes(raw)
	default:
		return c.readText(raw)
	}
}

// text is the raw as text, in UTF-8 and trimmed.
func (c *codec) text(raw Raw) (string, fault) {
	s := raw.String()
	if raw.Kind == RawBytes && c.charset != nil || !utf8.ValidString(s) {
		if c.charset == nil {
			return "", "not valid UTF-8, its charset is needed"
		}
		var ok bool
		if s, ok = c.charset.decode(s); !ok {
			return "", "not valid in its charset"
		}
	}
	return c.trim(s), ""
}

func (c *codec) trim(s string) string {
	if c.trimRight {
		s = strings.TrimRight(s, " ")
	}
	if c.trimLeft {
		s = strings.TrimLeft(s, " ")
	}
	return s
}

func (c *codec) readText(raw Raw) (mapping.Value, fault) {
	s, fault := c.text(raw)
	if fault != "" {
		return mapping.Value{}, fault
	}
	if c.padZero {
		if s = strings.TrimLeft(s, "0"); s == "" && raw.Text != "" {
			s = "0"
		}
	}
	if s == "" && c.emptyNull {
		return mapping.NullValue(), ""
	}
	if c.dashless {
		if plate, ok := mapping.DutchPlate(s); ok {
			s = plate
		}
	}
	return mapping.TextValue(s), ""
}

func (c *codec) readInt(raw Raw) (mapping.Value, fault) {
	n := raw.Int
	switch raw.Kind {
	case RawInt, RawBool:
	case RawNumber, RawText, RawBytes:
		s := strings.Trim(raw.Text, " ")
		if s == "" && c.emptyNull {
			return mapping.NullValue(), ""
		}
		if c.system == sysBoolean && (s == "true" || s == "false") { // of XML, which has texts alone
			return mapping.IntValue(boolRaw(s == "true").Int), ""
		}
		unscaled, scale, ok := mapping.ParseDecimal(s, '.')
		if !ok {
			d, long := parseLong(s, '.')
			if !long {
				return mapping.Value{}, "not a whole number"
			}
			whole, err := d.Int64()
			if err != nil {
				return mapping.Value{}, "not a whole number"
			}
			unscaled, scale = whole, 0
		}
		if n, _ = rescale(unscaled, scale, 0); scale > 0 {
			if back, ok := rescale(n, 0, scale); !ok || back != unscaled {
				return mapping.Value{}, "not a whole number"
			}
		}
	default:
		return mapping.Value{}, "not a whole number"
	}
	if n < math.MinInt32 || n > math.MaxInt32 {
		return mapping.Value{}, "beyond int4"
	}
	return mapping.IntValue(n), ""
}

func (c *codec) readNumber(raw Raw) (mapping.Value, fault) {
	var v mapping.Value
	ok := false
	switch raw.Kind {
	case RawInt, RawBool:
		v, ok = number(c.field, raw.Int, c.decimals)
	case RawNumber, RawText, RawBytes:
		s, point := strings.Trim(raw.Text, " "), byte('.')
		if s == "" && c.emptyNull {
			return mapping.NullValue(), ""
		}
		if c.comma && raw.Kind != RawNumber {
			point = ','
		}
		if unscaled, scale, short := mapping.ParseDecimal(s, point); short {
			v, ok = number(c.field, unscaled, scale+c.decimals)
			break
		}
		d, long := parseLong(s, point)
		if !long {
			return mapping.Value{}, "not a number"
		}
		d.Exponent -= int32(c.decimals)
		v, ok = longNumber(c.field, d)
	default:
		return mapping.Value{}, "not a number"
	}
	if !ok {
		return mapping.Value{}, "a number too large"
	}
	return v, ""
}

func (c *codec) readBytes(raw Raw) (mapping.Value, fault) {
	switch raw.Kind {
	case RawBytes:
		return mapping.BytesValue([]byte(raw.Text)), ""
	case RawText:
		b, err := base64.StdEncoding.DecodeString(raw.Text)
		if err != nil {
			return mapping.Value{}, "not base64"
		}
		return mapping.BytesValue(b), ""
	default:
		return mapping.Value{}, "neither bytes nor base64"
	}
}

// isZero tells whether the raw is one of those that mean null. A zero date means null whatever
// time follows it.
func (c *codec) isZero(raw Raw) bool {
	var buf [40]byte
	var text string
	if raw.Kind == RawText || raw.Kind == RawNumber || raw.Kind == RawBytes {
		text = strings.Trim(raw.Text, " ")
	} else {
		text = string(raw.append(buf[:0]))
	}
	isNumber := c.system != sysText && (raw.Kind == RawNumber || c.field.Type == mapping.Float8)
	for _, z := range c.zero {
		if text == z || isNumber && sameNumber(text, z) || z != "" && len(text) > len(z) && c.field.Type == mapping.Timestamp && text[:len(z)] == z && (text[len(z)] == ' ' || text[len(z)] == 'T') {
			return true
		}
	}
	return false
}

// readTime reads a timestamp. Without a zone of its own it is in the sheet's.
func (c *codec) readTime(raw, clock Raw) (mapping.Value, fault) {
	ms, zoned, fault := c.parseTime(raw)
	if fault != "" {
		if strings.Trim(raw.Text, " ") == "" && c.emptyNull {
			return mapping.NullValue(), ""
		}
		return mapping.Value{}, fault
	}
	if c.clock != nil && clock.IsSet() {
		var buf [24]byte
		text := clock.Text
		if clock.Kind == RawInt {
			text = string(appendDigits(buf[:0], clock.Int, c.clock.width))
		}
		if text = strings.Trim(text, " "); text != "" {
			of, ok := c.clock.parse(text)
			if !ok && clock.Kind == RawText {
				of, _, ok = parseClock(text)
			}
			if !ok {
				return mapping.Value{}, "its time of day does not have the format"
			}
			ms += of
		}
	}
	if !zoned {
		ms = instantOf(ms, c.loc)
	}
	if ms < minMilli || ms > maxMilli {
		return mapping.Value{}, "beyond the years 1 to 9999"
	}
	return mapping.MilliValue(ms), ""
}

// The first and the last instant that the interface can write.
var (
	minMilli = time.Date(1, 1, 1, 0, 0, 0, 0, time.UTC).UnixMilli()
	maxMilli = time.Date(9999, 12, 31, 23, 59, 59, 999e6, time.UTC).UnixMilli()
)

// parseTime returns milliseconds since 1970, as if in UTC if zoned is false.
func (c *codec) parseTime(raw Raw) (ms int64, zoned bool, f fault) {
	text := strings.Trim(raw.Text, " ")
	switch raw.Kind {
	case RawTime:
		return raw.Int, true, ""
	case RawWall:
		return raw.Int, false, ""
	case RawBool:
		return 0, false, "not a date"
	case RawInt:
		if c.epoch == 0 {
			if c.format == nil || !c.format.digits || raw.Int < 0 {
				return 0, false, "not a date"
			}
			var buf [24]byte
			text = string(appendDigits(buf[:0], raw.Int, c.format.width))
		}
	}
	switch {
	case c.epoch > 0:
		n := raw.Int
		if raw.Kind != RawInt {
			unscaled, scale, ok := mapping.ParseDecimal(text, '.')
			if !ok {
				return 0, false, "not a number of seconds or milliseconds"
			}
			if c.epoch == 1000 {
				if unscaled, ok = rescale(unscaled, scale, 3); !ok {
					return 0, false, "beyond the years 1 to 9999"
				}
				return unscaled, true, ""
			}
			n, _ = rescale(unscaled, scale, 0)
		}
		if n > math.MaxInt64/1000 || n < math.MinInt64/1000 {
			return 0, false, "beyond the years 1 to 9999"
		}
		return n * c.epoch, true, ""
	case c.format != nil:
		ms, ok := c.format.parse(text)
		if !ok {
			return 0, false, "does not have the format"
		}
		return ms, c.format.zoned, ""
	default:
		ms, zoned, ok := parseISO(text)
		if !ok {
			return 0, false, "not a date in ISO 8601"
		}
		return ms, zoned, ""
	}
}

// readCode looks a value up in the code list.
func (c *codec) readCode(raw Raw) (mapping.Value, fault) {
	var v mapping.Value
	var ok bool
	switch raw.Kind {
	case RawInt:
		var buf [20]byte
		v, ok = c.codes.read[string(strconv.AppendInt(buf[:0], raw.Int, 10))]
	default:
		text, fault := c.text(raw)
		if fault != "" {
			return mapping.Value{}, fault
		}
		v, ok = c.codes.read[text]
	}
	if ok {
		return v, ""
	}
	if c.zero != nil && c.isZero(raw) {
		return mapping.NullValue(), ""
	}
	switch c.codes.unknown {
	case "null":
		return mapping.NullValue(), ""
	case "value":
		return c.codes.value, ""
	case "keep":
		plain := *c
		plain.codes = nil
		return plain.read(raw, Raw{})
	default:
		if text, _ := c.text(raw); text == "" && c.emptyNull {
			return mapping.NullValue(), ""
		}
		return mapping.Value{}, "not in the code list"
	}
}
