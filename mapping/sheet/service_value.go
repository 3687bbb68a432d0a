package sheet

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"math/big"
	"strconv"
	"strings"
	"time"

	"frontdesk/config/strictyaml"
	"frontdesk/mapping"
)

// Value returns the value of a field that clients see, from a record of a service. absent reports that
// the record does not have the place of the field; the value is then null. The error describes a value that
// does not fit, and shows at most 40 characters of it.
func (f *ServiceField) Value(ctx context.Context, of *mapping.Field, record JSON) (v mapping.Value, absent bool, err error) {
	if !f.Constant.IsAbsent() {
		return f.Constant, false, nil
	}
	if f.Read.IsZero() {
		return mapping.NullValue(), false, nil
	}
	if f.Read.JQ == nil {
		found, there := f.Read.Path.Find(record)
		if !there {
			return mapping.NullValue(), true, nil
		}
		if v, err = f.readJSON(of, found); err != nil {
			err = f.unread(of, found.Read(), err)
		}
		return v, false, err
	}
	found, there, err := f.Read.Of(ctx, record)
	if err != nil {
		return v, false, fmt.Errorf("%s: %w", of.Name, err)
	}
	if !there {
		return mapping.NullValue(), true, nil
	}
	if v, err = f.read(of, found); err != nil {
		err = f.unread(of, found, err)
	}
	return v, false, err
}

func (f *ServiceField) unread(of *mapping.Field, found any, why error) error {
	return fmt.Errorf("%s: %s has %s: %w", of.Name, f.Read, quoted(found), why)
}

// readJSON is read for JSON; it allocates no memory for a text or a number.
func (f *ServiceField) readJSON(of *mapping.Field, found JSON) (mapping.Value, error) {
	switch {
	case found.IsNull():
		return f.read(of, nil)
	case found.in != nil:
		return mapping.Value{}, errNoValue
	case found.text[0] == '"':
		return f.read(of, unquoted(found.text))
	case found.text == "true", found.text == "false":
		return f.read(of, found.text == "true")
	default:
		return f.read(of, json.Number(found.text))
	}
}

var errNoValue = errors.New("not a value")

// ErrUnlisted says that a value is not in the code list.
var ErrUnlisted = errors.New("not in the code list")

// quoted formats what was found for an error.
func quoted(found any) string {
	text, ok := ScalarText(found)
	if !ok {
		return "a list or an object"
	}
	if short := []rune(text); len(short) > longestShown {
		return strictyaml.Quote(string(short[:longestShown])) + "…"
	}
	return strictyaml.Quote(text)
}

// ScalarText returns the text of a string, a number or a bool of JSON; false for anything else.
func ScalarText(v any) (string, bool) {
	switch v := v.(type) {
	case string:
		return v, true
	case json.Number:
		return v.String(), true
	case bool:
		return strconv.FormatBool(v), true
	case int:
		return strconv.Itoa(v), true
	case float64:
		if math.IsInf(v, 0) || math.IsNaN(v) {
			return "", false
		}
		return strconv.FormatFloat(v, 'f', -1, 64), true
	case *big.Int:
		return v.String(), true
	default:
		return "", false
	}
}

func (f *ServiceField) read(of *mapping.Field, found any) (mapping.Value, error) {
	text, isScalar := ScalarText(found)
	if found != nil && !isScalar {
		return mapping.Value{}, errNoValue
	}
	for i := range f.Codes {
		if found != nil && isSame(f.Codes[i].Stored, text) {
			return f.Codes[i].Shown, nil
		}
	}
	if found == nil || f.IsNull(found) {
		return mapping.NullValue(), nil
	}
	if f.Codes != nil {
		if f.UnknownIsNull {
			return mapping.NullValue(), nil
		}
		return mapping.Value{}, ErrUnlisted
	}
	_, isText := found.(string)
	_, isBool := found.(bool)
	if (of.Type == mapping.Int4 || of.Type == mapping.Float8) && !isBool {
		if v, bad := of.Parse(text, nil); bad == nil { // in the form of the interface, as most are
			return v, nil
		}
	}
	switch of.Type {
	case mapping.Int4:
		if isBool {
			return mapping.IntValue(map[bool]int64{true: 1}[found == true]), nil
		}
		return readWhole(strings.TrimSpace(text))
	case mapping.Float8:
		if isBool {
			return mapping.Value{}, errors.New("not a number")
		}
		return readNumber(of, strings.TrimSpace(text))
	case mapping.Timestamp:
		return f.readMoment(strings.TrimSpace(text), !isText)
	case mapping.Bytea:
		b, err := base64.StdEncoding.DecodeString(text)
		if !isText || err != nil {
			return mapping.Value{}, errors.New("not base64")
		}
		return mapping.BytesValue(b), nil
	default:
		if strings.IndexByte(text, 0) >= 0 {
			return mapping.Value{}, errors.New("a NUL in a text")
		}
		return mapping.TextValue(text), nil
	}
}

// value returns the stored code as a JSON value.
func (c *Code) value() any {
	switch {
	case c.Plain && (c.Stored == "true" || c.Stored == "false"):
		return c.Stored == "true"
	case c.Plain && json.Valid([]byte(c.Stored)):
		return json.Number(c.Stored)
	default:
		return c.Stored
	}
}

// isSame reports whether a text or number of the sheet equals text, which was found. It compares numbers in
// texts, too, since XML has only texts.
func isSame(of, text string) bool {
	return of == text || of != "" && text != "" && isDigit(of[len(of)-1]) && isDigit(text[len(text)-1]) && sameNumber(of, text)
}

func isDigit(c byte) bool { return c >= '0' && c <= '9' }

// IsNull reports whether a value that was found means null.
func (f *ServiceField) IsNull(found any) bool {
	text, ok := ScalarText(found)
	if !ok {
		return found == nil
	}
	if f.EmptyIsNull && strings.TrimSpace(text) == "" {
		return true
	}
	for _, null := range f.Nulls {
		if text == null {
			return true
		}
		if _, isText := found.(string); !isText && sameNumber(text, null) {
			return true
		}
		// A date that means null does so with any time of day, too.
		if rest, is := strings.CutPrefix(text, null); is && len(null) == len("0000-00-00") && null[4] == '-' && (rest[0] == ' ' || rest[0] == 'T') {
			return true
		}
	}
	return false
}

// longestShown is how many characters of a system's value an error shows at most.
const longestShown = 40

func readWhole(text string) (v mapping.Value, _ error) {
	d, ok := parseDecimal(text)
	if !ok {
		return v, errors.New("not a whole number")
	}
	n, err := d.Int64()
	switch {
	case err != nil:
		return v, errors.New("not a whole number")
	case n < math.MinInt32 || n > math.MaxInt32:
		return v, errors.New("beyond int4")
	}
	return mapping.IntValue(n), nil
}

func readNumber(of *mapping.Field, text string) (v mapping.Value, _ error) {
	d, ok := parseDecimal(text)
	if !ok {
		return v, errors.New("not a number")
	}
	if v, ok = number(of, d); !ok {
		return v, errors.New("a number too large")
	}
	return v, nil
}

// readMoment reads a timestamp. One without a zone is in the field's zone.
func (f *ServiceField) readMoment(text string, isNumber bool) (mapping.Value, error) {
	ms, zoned := int64(0), true
	switch f.Kind {
	case KindEpoch, KindEpochMillis:
		decimals := 0
		if f.Kind == KindEpoch {
			decimals = 3
		}
		v, why := readNumber(&mapping.Field{Scale: decimals}, text)
		if why != nil {
			return v, errors.New("not a number of seconds or milliseconds")
		}
		ms = v.Int()
	default:
		var ok bool
		if ms, zoned, ok = parseISO(text); !ok || isNumber {
			return mapping.Value{}, errors.New("not a date in ISO 8601")
		}
	}
	zone := f.Zone
	if f.Kind == KindDate {
		if zoned {
			ms, zoned = WallOf(ms, zone), false
		}
		ms -= mod(ms, dayLength)
	}
	if !zoned {
		ms = instantOf(ms, zone)
	}
	if ms < minMilli || ms > maxMilli {
		return mapping.Value{}, errors.New("beyond the years 1 to 9999")
	}
	return mapping.MilliValue(ms), nil
}

// Stored converts a value to that of the service, unless Write does. Its error is a violation: the service
// has no such value.
func (f *ServiceField) Stored(of *mapping.Field, v mapping.Value) (any, error) {
	for i := range f.Codes {
		if f.Codes[i].Shown == v {
			return f.Codes[i].value(), nil
		}
	}
	if !v.IsSet() {
		return f.null(of), nil
	}
	if f.Codes != nil {
		return nil, mapping.Fail(mapping.ValidationFailed, mapping.Literal(of.Name), v.String(), mapping.Literal(of.Validation()))
	}
	if of.Type != mapping.Timestamp {
		return Shown(v), nil
	}
	stored := f.storedMoment(v.Int())
	if _, why := f.read(of, stored); why != nil {
		return nil, of.Invalid(v.String())
	}
	return stored, nil
}

// Since returns a moment in the form of the service, to ask for what has changed since then. If the
// service's clock has just been set back, it returns a moment before the repeated hour: later changes may
// have earlier times.
func (f *ServiceField) Since(of *mapping.Field, moment time.Time) (any, error) {
	_, now := moment.In(f.Zone).Zone()
	if _, before := moment.Add(-time.Hour).In(f.Zone).Zone(); f.Kind == KindDatetime && before > now {
		moment = moment.Add(-2 * time.Hour)
	}
	return f.Stored(of, mapping.TimeValue(moment))
}

// null returns what is written for null.
func (f *ServiceField) null(of *mapping.Field) any {
	isNumber := of.Type == mapping.Int4 || of.Type == mapping.Float8 || f.Kind == KindEpoch || f.Kind == KindEpochMillis
	switch {
	case len(f.Nulls) > 0 && isNumber && IsDecimal(f.Nulls[0]):
		return json.Number(f.Nulls[0])
	case len(f.Nulls) > 0:
		return f.Nulls[0]
	case f.EmptyIsNull:
		return ""
	default:
		return nil
	}
}

func (f *ServiceField) storedMoment(ms int64) any {
	switch f.Kind {
	case KindEpoch:
		return int((ms - mod(ms, 1000)) / 1000)
	case KindEpochMillis:
		return int(ms)
	case KindDate:
		return wallText(WallOf(ms, f.Zone))[:len("2006-01-02")]
	case KindDatetime:
		return wallText(WallOf(ms, f.Zone))
	default:
		return mapping.MilliValue(ms).String()
	}
}

// Shown returns a value as jq sees it, in the form of the interface.
func Shown(v mapping.Value) any {
	switch v.Kind() {
	case mapping.KindInt, mapping.KindDecimal, mapping.KindFloat:
		return json.Number(v.String())
	case mapping.KindText, mapping.KindTime:
		return v.String()
	case mapping.KindBytes:
		return base64.StdEncoding.EncodeToString([]byte(v.Text()))
	default:
		return nil
	}
}
