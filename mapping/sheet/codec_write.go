package sheet

import (
	"encoding/base64"
	"strconv"
	"strings"

	"github.com/cockroachdb/apd/v3"

	"frontdesk/mapping"
)

// write makes what the system stores of a value; clock is for the second place, if there is
// one. A violation says that the system cannot store the value.
func (c *codec) write(v mapping.Value) (raw, clock Raw, e *mapping.Error) {
	if v.IsAbsent() {
		return Raw{}, Raw{}, nil
	}
	if c.codes != nil {
		raw, e = c.writeCode(v)
		return raw, Raw{}, e
	}
	if !v.IsSet() {
		raw, clock = c.null()
		return raw, clock, nil
	}
	switch c.field.Type {
	case mapping.Int4, mapping.Float8, mapping.Timestamp:
		if raw, clock = c.writePlain(v); !c.says(v, raw, clock) || c.isCount(v) {
			return Raw{}, Raw{}, c.field.Invalid(v.String())
		}
		return raw, clock, nil
	case mapping.Bytea:
		if c.system == sysText {
			return textRaw(base64.StdEncoding.EncodeToString([]byte(v.Text()))), Raw{}, nil
		}
		return Raw{Kind: RawBytes, Text: v.Text()}, Raw{}, nil
	default:
		raw, e = c.writeText(v)
		return raw, Raw{}, e
	}
}

// writePlain writes a number or a time.
func (c *codec) writePlain(v mapping.Value) (raw, clock Raw) {
	switch c.field.Type {
	case mapping.Int4:
		return c.writeInt(v), Raw{}
	case mapping.Float8:
		return c.writeNumber(v), Raw{}
	default:
		return c.writeTime(v.Int())
	}
}

// says tells whether what is written of a value reads as one again: at either end of the
// calendar a clock of the system may show a year that it cannot write.
func (c *codec) says(v mapping.Value, raw, clock Raw) bool {
	if isClock := raw.Kind == RawWall || raw.Kind == RawTime; isClock && (raw.Int < minMilli || raw.Int > maxMilli) {
		return false
	}
	if c.format != nil {
		shown := v.Int()
		if c.isWall() {
			shown = WallOf(shown, c.loc)
		}
		if !c.format.tells(shown) {
			return false
		}
	}
	if c.writesISO() && v.Int() >= minMilli && v.Int() <= maxMilli {
		return true // it need not be read back
	}
	_, why := c.read(raw, clock)
	return why == ""
}

// writesISO tells whether times are written as isoInstant has them: those of years with four
// digits read back as they were.
func (c *codec) writesISO() bool {
	return c.field.Type == mapping.Timestamp && c.codes == nil && c.epoch == 0 && c.format == nil && c.isoText && !c.isWall()
}

// null is what null is written as: null_as, else the first zero, else null.
func (c *codec) null() (raw, clock Raw) {
	raw = Raw{Kind: RawNull}
	switch {
	case c.nullAs.Kind != RawAbsent:
		raw = c.nullAs
	case len(c.zero) > 0:
		raw = c.typed(c.zero[0])
	}
	if c.clock == nil {
		return raw, Raw{}
	}
	if raw.Kind == RawNull {
		return raw, raw
	}
	return raw, layoutRaw(c.clock, 0, c.system)
}

// typed is a text as a value of the system's type.
func (c *codec) typed(text string) Raw {
	if c.system == sysInteger {
		if n, err := strconv.ParseInt(text, 10, 64); err == nil {
			return intRaw(n)
		}
	}
	if c.system == sysBoolean && (text == "true" || text == "false") {
		return boolRaw(text == "true")
	}
	if c.system == sysDecimal && IsDecimal(text) {
		return Raw{Kind: RawNumber, Text: text}
	}
	return textRaw(text)
}

func (c *codec) writeCode(v mapping.Value) (Raw, *mapping.Error) {
	if known := c.codes.write[v]; len(known) > 0 {
		return known[0], nil
	}
	if !v.IsSet() {
		raw, _ := c.null()
		return raw, nil
	}
	if c.codes.unknown == "keep" {
		plain := *c
		plain.codes = nil
		raw, _, e := plain.write(v)
		return raw, e
	}
	f := c.field
	return Raw{}, mapping.Fail(mapping.ValidationFailed, mapping.Literal(f.Name), v.String(), mapping.Literal(f.Validation()))
}

func (c *codec) writeInt(v mapping.Value) Raw {
	if c.system == sysBoolean {
		return boolRaw(v.Int() != 0)
	}
	return c.digits(v.Int())
}

func (c *codec) writeNumber(v mapping.Value) Raw {
	if v.Kind() != mapping.KindDecimal {
		return c.writeFloat(v)
	}
	if c.decimals > 0 || c.system == sysInteger {
		n, ok := rescale(v.Int(), v.Scale(), c.decimals)
		if !ok {
			return c.writeFloat(v)
		}
		return c.digits(n)
	}
	if c.system == sysText {
		return c.padded(strings.Replace(v.Decimal().Text('f'), ".", string(c.point()), 1))
	}
	var room [32]byte
	return Raw{Kind: RawNumber, Text: string(v.AppendJSON(room[:0]))}
}

func (c *codec) point() byte {
	if c.comma {
		return ','
	}
	return '.'
}

// digits is a whole number, or one with implied decimals.
func (c *codec) digits(n int64) Raw {
	switch c.system {
	case sysText:
		return c.padded(strconv.FormatInt(n, 10))
	case sysDecimal:
		return Raw{Kind: RawNumber, Text: strconv.FormatInt(n, 10)}
	default:
		return intRaw(n)
	}
}

// writeFloat writes a float8 without a fixed number of decimals.
func (c *codec) writeFloat(v mapping.Value) Raw {
	if c.decimals > 0 || c.system == sysInteger {
		d := v.Decimal()
		d.Exponent += int32(c.decimals)
		ctx := apd.BaseContext.WithPrecision(40)
		ctx.Rounding = apd.RoundHalfUp
		var whole apd.Decimal
		if _, err := ctx.Quantize(&whole, d, 0); err == nil {
			if n, err := whole.Int64(); err == nil {
				return c.digits(n)
			}
		}
		return Raw{Kind: RawNumber, Text: d.Text('f')}
	}
	var room [32]byte
	text := string(v.AppendJSON(room[:0]))
	if c.system == sysText {
		return textRaw(strings.Replace(text, ".", string(c.point()), 1))
	}
	return Raw{Kind: RawNumber, Text: text}
}

func (c *codec) writeText(v mapping.Value) (Raw, *mapping.Error) {
	s := c.cased(v.Text())
	if c.dashless && !c.upper && !c.lower {
		s = mapping.BarePlate(s)
	}
	raw, ok := c.textRaw(s)
	if c.charset != nil && !c.charset.fits(s) || !ok {
		return Raw{}, mapping.Fail(mapping.VarcharInvalid, mapping.Literal(c.field.Name), v.Text())
	}
	return raw, nil
}

// cased is a text in the case that it is written in.
func (c *codec) cased(s string) string {
	switch {
	case c.upper:
		return strings.ToUpper(s)
	case c.lower:
		return strings.ToLower(s)
	}
	return s
}

// textRaw is a text as the system stores it; false for one that it cannot store, or would store
// as another: as a number, 012 is the 12 that another record has.
func (c *codec) textRaw(s string) (raw Raw, ok bool) {
	stored := s
	switch {
	case c.padZero:
		stored = c.zeros(s)
	case c.padRight:
		stored = c.blanks(s)
	}
	switch c.system {
	case sysInteger:
		n, err := strconv.ParseInt(stored, 10, 64)
		if err != nil {
			return Raw{}, false
		}
		raw = intRaw(n)
	case sysDecimal:
		if !IsDecimal(stored) || strings.ContainsAny(stored, "eE") {
			return Raw{}, false
		}
		raw = Raw{Kind: RawNumber, Text: string(appendJSONNumber(nil, stored))}
	case sysBytes:
		return Raw{Kind: RawBytes, Text: stored}, true
	default:
		if raw = textRaw(stored); !c.padZero {
			return raw, true
		}
	}
	back, why := c.read(raw, Raw{})
	return raw, why == "" && (!back.IsSet() || back.Text() == c.trim(s))
}

// padded is a number as text.
func (c *codec) padded(number string) Raw {
	if c.padZero {
		number = c.zeros(number)
	}
	return textRaw(number)
}

func (c *codec) zeros(s string) string {
	if n := c.width - len(s); n > 0 {
		if rest, negative := strings.CutPrefix(s, "-"); negative {
			return "-" + strings.Repeat("0", n) + rest
		}
		return strings.Repeat("0", n) + s
	}
	return s
}

func (c *codec) blanks(s string) string {
	n := c.width
	for range s {
		n--
	}
	if n > 0 {
		return s + strings.Repeat(" ", n)
	}
	return s
}

// writeTime writes an instant. A format without a zone is in the sheet's; one without a time
// of day loses it.
func (c *codec) writeTime(ms int64) (raw, clock Raw) {
	switch {
	case c.isWall():
		return c.writeWall(WallOf(ms, c.loc))
	case c.epoch > 0:
		n := (ms - mod(ms, c.epoch)) / c.epoch
		if c.system == sysText {
			return textRaw(strconv.FormatInt(n, 10)), Raw{}
		}
		return intRaw(n), Raw{}
	case c.format != nil:
		return layoutRaw(c.format, ms, c.system), Raw{}
	case c.isoText:
		return textRaw(isoInstant.text(ms)), Raw{}
	default:
		return Raw{Kind: RawTime, Int: ms}, Raw{}
	}
}

// writeWall writes what a clock showed.
func (c *codec) writeWall(wall int64) (raw, clock Raw) {
	switch {
	case c.clock != nil:
		day := wall - mod(wall, dayLength)
		return c.dateRaw(day), layoutRaw(c.clock, wall-day, c.system)
	case c.format != nil || c.system == sysDate:
		return c.dateRaw(wall), Raw{}
	case c.isoText:
		return textRaw(isoWall.text(wall)), Raw{}
	default:
		return Raw{Kind: RawWall, Int: wall}, Raw{}
	}
}

const dayLength = 86_400_000

// mod is the remainder, which is never negative.
func mod(n, by int64) int64 { return (n%by + by) % by }

// dateRaw writes a date and time without a zone in the field's format.
func (c *codec) dateRaw(wall int64) Raw {
	if c.format == nil {
		if c.isoText {
			return textRaw(string(isoDate.append(nil, wall)))
		}
		return Raw{Kind: RawWall, Int: wall - mod(wall, dayLength)}
	}
	return layoutRaw(c.format, wall, c.system)
}

func layoutRaw(l *layout, ms int64, system systemType) Raw {
	text := l.text(ms)
	if system == sysInteger {
		n, _ := strconv.ParseInt(text, 10, 64)
		return intRaw(n)
	}
	return textRaw(text)
}
