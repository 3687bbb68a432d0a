package sheet

import (
	"math"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"frontdesk/mapping"
)

var amsterdam = func() *time.Location {
	loc, err := time.LoadLocation("Europe/Amsterdam")
	if err != nil {
		panic(err)
	}
	return loc
}()

// kind is a conversion with the values that it keeps.
type kind struct {
	name  string
	codec codec
	value func(*rapid.T) mapping.Value
}

func ofCodes(unknown string) *codes {
	company, person := mapping.TextValue("company"), mapping.TextValue("person")
	return &codes{
		read:    map[string]mapping.Value{"P": person, "B": company, "C": company, "": mapping.NullValue()},
		write:   map[mapping.Value][]Raw{person: {textRaw("P")}, company: {textRaw("B"), textRaw("C")}, mapping.NullValue(): {textRaw("")}},
		unknown: unknown,
	}
}

func layoutOf(t testing.TB, format string) *layout {
	l, err := newLayout(format)
	require.NoError(t, err)
	return l
}

func conversions(t testing.TB) []kind {
	text := mapping.Field{Name: "f", Type: mapping.Varchar, Length: 50}
	whole := mapping.Field{Name: "f", Type: mapping.Int4}
	money := mapping.Field{Name: "f", Type: mapping.Float8, Scale: 4}
	cents := mapping.Field{Name: "f", Type: mapping.Float8, Scale: 2}
	float := mapping.Field{Name: "f", Type: mapping.Float8, Scale: -1}
	moment := mapping.Field{Name: "f", Type: mapping.Timestamp}
	blob := mapping.Field{Name: "f", Type: mapping.Bytea}

	texts := func(pattern string) func(*rapid.T) mapping.Value {
		return func(t *rapid.T) mapping.Value {
			return mapping.TextValue(rapid.StringMatching(pattern).Draw(t, "text"))
		}
	}
	ints := func(t *rapid.T) mapping.Value { return mapping.IntValue(int64(rapid.Int32().Draw(t, "int"))) }
	flags := func(t *rapid.T) mapping.Value { return mapping.IntValue(int64(rapid.IntRange(0, 1).Draw(t, "flag"))) }
	decimals := func(scale int) func(*rapid.T) mapping.Value {
		return func(t *rapid.T) mapping.Value {
			return mapping.DecimalValue(rapid.Int64Range(-1e15+1, 1e15-1).Draw(t, "decimal"), scale)
		}
	}
	times := func(unit int64) func(*rapid.T) mapping.Value {
		return func(t *rapid.T) mapping.Value {
			// What a clock shows twice in autumn is not kept, so that it starts with
			// what the clock shows.
			wall := rapid.Int64Range(-62_000_000_000_000, 250_000_000_000_000).Draw(t, "wall")
			return mapping.MilliValue(instantOf(wall-mod(wall, unit), amsterdam))
		}
	}
	instants := func(unit int64) func(*rapid.T) mapping.Value {
		return func(t *rapid.T) mapping.Value {
			ms := rapid.Int64Range(-62_000_000_000_000, 250_000_000_000_000).Draw(t, "ms")
			return mapping.MilliValue(ms - mod(ms, unit))
		}
	}
	at := func(c codec, f *mapping.Field, system systemType) codec {
		c.field, c.system, c.loc = f, system, amsterdam
		return c
	}
	const day, second = dayLength, 1000
	return []kind{
		{"text", at(codec{}, &text, sysText), texts(`(?s).{0,20}`)},
		{"text trimmed", at(codec{trimRight: true}, &text, sysText), texts(`[a-z ]{0,9}[a-z]`)},
		{"text padded", at(codec{trimRight: true, padRight: true, width: 12}, &text, sysText), texts(`([a-zé ]{0,9}[a-zé])?`)},
		{"text of zeros", at(codec{padZero: true, width: 8}, &text, sysText), texts(`0|[1-9][0-9]{0,9}`)},
		{"text upper", at(codec{upper: true}, &text, sysText), texts(`[A-Z0-9]{0,10}`)},
		{"text lower", at(codec{lower: true}, &text, sysText), texts(`[a-z0-9]{0,10}`)},
		{"text latin1", at(codec{charset: charsetOf("latin1")}, &text, sysText), texts(`[a-zé-ÿ]{0,10}`)},
		{"text integer", at(codec{}, &text, sysInteger), texts(`0|[1-9][0-9]{0,9}`)},
		{"text bytes", at(codec{}, &text, sysBytes), texts(`.{0,20}`)},
		{"codes", at(codec{codes: ofCodes("fail")}, &text, sysText), texts(`person|company`)},
		{"codes kept", at(codec{codes: ofCodes("keep")}, &text, sysText), texts(`person|company|[a-z]{1,5}`)},
		{"int4", at(codec{}, &whole, sysInteger), ints},
		{"int4 text", at(codec{}, &whole, sysText), ints},
		{"int4 zeros", at(codec{padZero: true, width: 12}, &whole, sysText), ints},
		{"int4 decimal", at(codec{}, &whole, sysDecimal), ints},
		{"int4 boolean", at(codec{}, &whole, sysBoolean), flags},
		{"decimal", at(codec{}, &money, sysDecimal), decimals(4)},
		{"decimal text", at(codec{}, &money, sysText), decimals(4)},
		{"decimal comma", at(codec{comma: true}, &money, sysText), decimals(4)},
		{"cents", at(codec{decimals: 2}, &cents, sysInteger), decimals(2)},
		{"cents text", at(codec{decimals: 2, padZero: true, width: 20}, &cents, sysText), decimals(2)},
		{"cents decimal", at(codec{decimals: 2}, &cents, sysDecimal), decimals(2)},
		{"float", at(codec{}, &float, sysDecimal), func(t *rapid.T) mapping.Value {
			return mapping.FloatValue(rapid.Float64Range(-1e12, 1e12).Draw(t, "float") + 0) // -0 is 0
		}},
		{"datetime", at(codec{}, &moment, sysDatetime), times(1)},
		{"datetime text", at(codec{isoText: true}, &moment, sysDatetime), times(1)},
		{"date", at(codec{}, &moment, sysDate), times(day)},
		{"date text", at(codec{isoText: true}, &moment, sysDate), times(day)},
		{"timestamp", at(codec{}, &moment, sysTimestamp), instants(1)},
		{"timestamp text", at(codec{isoText: true}, &moment, sysTimestamp), instants(1)},
		{"yyyyMMdd", at(codec{format: layoutOf(t, "yyyyMMdd")}, &moment, sysText), times(day)},
		{"yyyyMMdd integer", at(codec{format: layoutOf(t, "yyyyMMdd")}, &moment, sysInteger), times(day)},
		{"dd-MM-yyyy HH:mm:ss", at(codec{format: layoutOf(t, "dd-MM-yyyy HH:mm:ss")}, &moment, sysText), times(second)},
		{"date and time", at(codec{format: layoutOf(t, "yyyyMMdd"), clock: layoutOf(t, "HHmmssSSS")}, &moment, sysInteger), times(1)},
		{"yyyy-MM-dd HH:mm:ss.SSSZ", at(codec{format: layoutOf(t, "yyyy-MM-dd HH:mm:ss.SSSZ")}, &moment, sysText), instants(1)},
		{"X HHmmss.S yyyy-MM-dd", at(codec{format: layoutOf(t, "X HHmmss.S yyyy-MM-dd")}, &moment, sysText), instants(100)},
		{"yyyy-MM-dd'T'HH:mm:ss.SSSSSSxxx", at(codec{format: layoutOf(t, "yyyy-MM-dd'T'HH:mm:ss.SSSSSSxxx")}, &moment, sysText), instants(1)},
		{"epoch_seconds", at(codec{epoch: 1000}, &moment, sysInteger), instants(1000)},
		{"epoch_millis", at(codec{epoch: 1}, &moment, sysInteger), instants(1)},
		{"epoch text", at(codec{epoch: 1}, &moment, sysText), instants(1)},
		{"bytes", at(codec{}, &blob, sysBytes), func(t *rapid.T) mapping.Value {
			return mapping.BytesValue(rapid.SliceOf(rapid.Byte()).Draw(t, "bytes"))
		}},
		{"base64", at(codec{}, &blob, sysText), func(t *rapid.T) mapping.Value {
			return mapping.BytesValue(rapid.SliceOf(rapid.Byte()).Draw(t, "bytes"))
		}},
	}
}

// TestReadUndoesWrite: what is written reads as it was, null and the empty text
// included, and a filter by it finds it.
func TestReadUndoesWrite(t *testing.T) {
	for _, k := range conversions(t) {
		t.Run(k.name, func(t *testing.T) {
			rapid.Check(t, func(t *rapid.T) {
				v := k.value(t)
				if rapid.IntRange(0, 9).Draw(t, "null") == 0 {
					v = mapping.NullValue()
				}
				raw, clock, e := k.codec.write(v)
				if e != nil {
					t.Fatal(e)
				}
				got, why := k.codec.read(raw, clock)
				if why != "" || got != v {
					t.Fatalf("%v was written as %+v %+v and reads as %v: %s", v, raw, clock, got, why)
				}
				found := false
				for _, alternative := range k.codec.alternatives(v) {
					found = found || alternative[0] == raw
				}
				if !found {
					t.Fatalf("a filter by %v does not find %+v", v, raw)
				}
			})
		})
	}
}

// TestNoTwoTextsForOneNumber: before, 012 was stored as 12 is, and a search for another record
// with that number did not find it.
func TestNoTwoTextsForOneNumber(t *testing.T) {
	text := mapping.Field{Name: "f", Type: mapping.Varchar, Length: 50}
	for name, c := range map[string]codec{
		"zeros": {padZero: true, width: 8}, "zeros trimmed": {padZero: true, width: 8, trimRight: true}, "integer": {system: sysInteger}, "decimal": {system: sysDecimal}, "zeros of a decimal": {padZero: true, width: 8, system: sysDecimal},
	} {
		c.field = &text
		if c.system == 0 {
			c.system = sysText
		}
		for _, s := range []string{"12", "0"} {
			if _, _, e := c.write(mapping.TextValue(s)); e != nil || len(c.alternatives(mapping.TextValue(s))) != 1 {
				t.Errorf("%s: %s: %v", name, s, e)
			}
		}
		for _, s := range []string{"012", "00", "", "007"} {
			if raw, _, e := c.write(mapping.TextValue(s)); e == nil || e.Reason != mapping.VarcharInvalid {
				t.Errorf("%s: %q is stored as %v %v", name, s, raw, e)
			}
		}
		for _, s := range []string{"+7", "1e3", "-012"} {
			raw, _, e := c.write(mapping.TextValue(s))
			if back, why := c.read(raw, Raw{}); e == nil && (why != "" || back.Text() != s) {
				t.Errorf("%s: %q is stored as %v", name, s, raw)
			}
		}
	}
	c := codec{field: &text, system: sysText, padZero: true, width: 4, zero: []string{"0000"}}
	if raw, _, e := c.write(mapping.TextValue("")); e != nil || raw != textRaw("0000") {
		t.Errorf("what means null: %v %v", raw, e)
	}
}

// TestBooleanTakesNoOtherNumber: before, 30 was stored as true.
func TestBooleanTakesNoOtherNumber(t *testing.T) {
	c := codec{field: &mapping.Field{Name: "f", Type: mapping.Int4}, system: sysBoolean}
	for n, fits := range map[int64]bool{0: true, 1: true, 2: false, -1: false, 30: false} {
		if raw, _, e := c.write(mapping.IntValue(n)); (e == nil) != fits || e != nil && e.Reason != mapping.Int4Invalid {
			t.Errorf("%d is stored as %v %v", n, raw, e)
		}
	}
}

func TestAbsentNullAndEmptyAreThree(t *testing.T) {
	f := mapping.Field{Name: "f", Type: mapping.Varchar, Length: 50}
	c := codec{field: &f, system: sysText}
	for _, raw := range []Raw{{}, {Kind: RawNull}, textRaw("")} {
		v, why := c.read(raw, Raw{})
		if why != "" {
			t.Fatal(why)
		}
		if back, _, _ := c.write(v); back != raw {
			t.Errorf("%+v came back as %+v", raw, back)
		}
	}
}

func TestRead(t *testing.T) {
	text := mapping.Field{Name: "f", Type: mapping.Varchar, Length: 50}
	whole := mapping.Field{Name: "f", Type: mapping.Int4}
	money := mapping.Field{Name: "f", Type: mapping.Float8, Scale: 2}
	moment := mapping.Field{Name: "f", Type: mapping.Timestamp}
	for _, c := range []struct {
		codec codec
		raw   Raw
		want  string // as JSON, or the fault
	}{
		{codec{field: &whole}, boolRaw(true), "1"},
		{codec{field: &whole}, boolRaw(false), "0"},
		{codec{field: &whole, system: sysBoolean}, textRaw("true"), "1"},
		{codec{field: &whole, system: sysBoolean}, textRaw(" false"), "0"},
		{codec{field: &whole, system: sysInteger}, textRaw("true"), "not a whole number"},
		{codec{field: &whole}, textRaw(" 42 "), "42"},
		{codec{field: &whole}, Raw{Kind: RawNumber, Text: "42.00"}, "42"},
		{codec{field: &whole}, Raw{Kind: RawNumber, Text: "4.2e1"}, "42"},
		{codec{field: &whole}, Raw{Kind: RawNumber, Text: "42.5"}, "not a whole number"},
		{codec{field: &whole}, textRaw(""), "not a whole number"},
		{codec{field: &whole, emptyNull: true}, textRaw(" "), "null"},
		{codec{field: &whole}, intRaw(math.MaxInt64), "beyond int4"},
		{codec{field: &whole}, Raw{Kind: RawNumber, Text: "1e400"}, "not a whole number"},
		{codec{field: &money}, intRaw(12), "12"},
		{codec{field: &money, decimals: 2}, intRaw(-1250), "-12.5"},
		{codec{field: &money, decimals: 3}, intRaw(125), "0.13"},
		{codec{field: &money}, textRaw("0012.345"), "12.35"},
		{codec{field: &money, comma: true}, textRaw("-12,345"), "-12.35"},
		{codec{field: &money, comma: true}, textRaw("1.000,50"), "not a number"},
		{codec{field: &money}, Raw{Kind: RawNumber, Text: "1e3"}, "1000"},
		{codec{field: &money}, Raw{Kind: RawNumber, Text: "123456789012345678901.5"}, "a number too large"},
		{codec{field: &money}, Raw{Kind: RawNumber, Text: strings.Repeat("9", 500)}, "not a number"},
		{codec{field: &money}, textRaw("NaN"), "not a number"},
		{codec{field: &money, system: sysDecimal, zero: []string{"0"}}, Raw{Kind: RawNumber, Text: "0.00"}, "null"},
		{codec{field: &money, system: sysDecimal, zero: []string{"0"}}, Raw{Kind: RawNumber, Text: "-0." + strings.Repeat("0", 30)}, "null"},
		{codec{field: &money, system: sysDecimal, zero: []string{"0", "-1"}}, Raw{Kind: RawNumber, Text: "-1.0"}, "null"},
		{codec{field: &money, system: sysDecimal, zero: []string{"0"}}, Raw{Kind: RawNumber, Text: "0.01"}, "0.01"},
		{codec{field: &money, system: sysText, zero: []string{"0"}}, textRaw("0.00"), "0"}, // a text is found by its letters
		{codec{field: &text}, intRaw(7), `"7"`},
		{codec{field: &mapping.Field{Name: "f", Type: mapping.Varchar, Length: 5}}, textRaw("too long for it"), `"too long for it"`},
		{codec{field: &text, charset: charsetOf("latin1")}, Raw{Kind: RawBytes, Text: "Jos\xe9"}, `"José"`},
		{codec{field: &text, charset: charsetOf("cp1252")}, textRaw("\x80 5"), `"€ 5"`},
		{codec{field: &text, charset: charsetOf("latin1")}, textRaw("José"), `"José"`},
		{codec{field: &text, charset: charsetOf("ascii")}, textRaw("\x80"), "not valid in its charset"},
		{codec{field: &text, padZero: true}, textRaw("0000"), `"0"`},
		{codec{field: &text, codes: ofCodes("null")}, textRaw("?"), "null"},
		{codec{field: &text, codes: ofCodes("fail")}, textRaw("?"), "not in the code list"},
		{codec{field: &text, codes: ofCodes("keep")}, textRaw("?"), `"?"`},
		{codec{field: &moment, loc: amsterdam}, textRaw("2026-07-01"), `"2026-06-30T22:00:00.000Z"`},
		{codec{field: &moment, loc: amsterdam}, textRaw("2026-07-01 10:00:00.1234"), `"2026-07-01T08:00:00.123Z"`},
		{codec{field: &moment, loc: amsterdam}, textRaw("2026-07-01T10:00:00+05:30"), `"2026-07-01T04:30:00.000Z"`},
		{codec{field: &moment, loc: amsterdam}, textRaw("2026-02-30"), "not a date in ISO 8601"},
		{codec{field: &moment, loc: amsterdam}, Raw{Kind: RawWall, Int: 1782900000000}, `"2026-07-01T08:00:00.000Z"`},
		{codec{field: &moment, loc: amsterdam}, Raw{Kind: RawTime, Int: 1782900000000}, `"2026-07-01T10:00:00.000Z"`},
		{codec{field: &moment, loc: amsterdam}, Raw{Kind: RawWall, Int: 1774751400000}, `"2026-03-29T01:30:00.000Z"`}, // in the gap
		{codec{field: &moment, loc: amsterdam, zero: []string{"0000-00-00"}}, textRaw("0000-00-00 00:00:00"), "null"},
		{codec{field: &moment, loc: amsterdam, format: layoutOf(t, "yyyyMMdd"), zero: []string{"0"}}, intRaw(0), "null"},
		{codec{field: &moment, loc: amsterdam, format: layoutOf(t, "yyyyMMdd")}, intRaw(20260701), `"2026-06-30T22:00:00.000Z"`},
		{codec{field: &moment, loc: amsterdam, format: layoutOf(t, "yyyyMMdd")}, intRaw(120260701), "does not have the format"},
		{codec{field: &moment, loc: amsterdam, format: layoutOf(t, "yyyyMMdd")}, textRaw("20260732"), "does not have the format"},
		{codec{field: &moment, loc: amsterdam, epoch: 1000}, Raw{Kind: RawNumber, Text: "1782900000.5"}, `"2026-07-01T10:00:00.500Z"`},
		{codec{field: &moment, loc: amsterdam, epoch: 1000}, intRaw(math.MaxInt64), "beyond the years 1 to 9999"},
		{codec{field: &moment, loc: amsterdam, epoch: 1}, intRaw(math.MinInt64 / 1000), "beyond the years 1 to 9999"},
		{codec{field: &moment, loc: amsterdam, epoch: 1000}, textRaw("999999999999999999"), "beyond the years 1 to 9999"}, // before, 1970
		{codec{field: &moment, loc: amsterdam}, boolRaw(true), "not a date"},
	} {
		v, why := c.codec.read(c.raw, Raw{})
		got := string(why)
		if why == "" {
			got = string(v.AppendJSON(nil))
		}
		if got != c.want {
			t.Errorf("%+v: %s, want %s", c.raw, got, c.want)
		}
	}
}

// TestFormatsWithAZone: what is read is the instant that the text says, whatever the
// zone of the sheet; what is written is in UTC.
func TestFormatsWithAZone(t *testing.T) {
	for _, c := range []struct{ format, text, instant, written string }{
		{"yyyy-MM-dd HH:mm:ss.SSSZ", "2026-11-22 08:47:21.199Z", "2026-11-22T08:47:21.199Z", "2026-11-22 08:47:21.199Z"},
		{"yyyy-MM-dd HH:mm:ssX", "2026-11-22 08:47:21Z", "2026-11-22T08:47:21.000Z", "2026-11-22 08:47:21Z"},
		{"yyyy-MM-dd HH:mm:ssX", "2026-11-22 09:47:21+01", "2026-11-22T08:47:21.000Z", "2026-11-22 08:47:21Z"},
		{"yyyy-MM-dd'T'HH:mm:ssXX", "2026-11-22T03:17:21-0530", "2026-11-22T08:47:21.000Z", "2026-11-22T08:47:21Z"},
		{"yyyy-MM-ddTHH:mm:ssXXX", "2026-11-22T14:17:21+05:30", "2026-11-22T08:47:21.000Z", "2026-11-22T08:47:21Z"},
		{"XXX yyyyMMddHHmm", "+01:00 202611220947", "2026-11-22T08:47:00.000Z", "Z 202611220847"},
		{"dd.MM.yyyy HH:mm x", "22.11.2026 09:47 +0100", "2026-11-22T08:47:00.000Z", "22.11.2026 08:47 +00"},
		{"yyyy-MM-dd HH:mm:ss.SSSSSSxx", "2026-11-22 08:47:21.199876+0000", "2026-11-22T08:47:21.199Z", "2026-11-22 08:47:21.199000+0000"},
		{"yyyy-MM-dd HH:mm:ss.Sxxx", "2026-11-22 08:47:21.1+00:00", "2026-11-22T08:47:21.100Z", "2026-11-22 08:47:21.1+00:00"},
		{"yyyy-MM-dd HH:mmZ", "2026-11-22 08:47+00", "", ""},
		{"yyyy-MM-dd HH:mmX", "2026-11-22 08:47", "", ""},
		{"yyyy-MM-dd HH:mmX", "2026-11-22 08:47Z ", "2026-11-22T08:47:00.000Z", "2026-11-22 08:47Z"},
		{"yyyy-MM-dd HH:mmX", "2026-11-22 08:47Z.", "", ""},
		{"yyyy-MM-dd HH:mmX", "2026-11-22 08:47+1", "", ""},
		{"X yyyy-MM-dd HH:mm", "+01 2026-11-22 0", "", ""},
	} {
		moment := codec{field: &mapping.Field{Name: "f", Type: mapping.Timestamp}, system: sysText, loc: time.UTC, format: layoutOf(t, c.format)}
		v, why := moment.read(textRaw(c.text), Raw{})
		if c.instant == "" {
			if why == "" {
				t.Errorf("%s: %q reads as %v", c.format, c.text, v)
			}
			continue
		}
		if why != "" || v.String() != c.instant {
			t.Errorf("%s: %q reads as %v %s, want %s", c.format, c.text, v, why, c.instant)
		}
		if raw, _, _ := moment.write(v); raw.Text != c.written {
			t.Errorf("%s: written as %q, want %q", c.format, raw.Text, c.written)
		}
	}
}

// TestYearsOfTwoDigits are of 1969 to 2068; another year would be read as one of these.
func TestYearsOfTwoDigits(t *testing.T) {
	short := codec{field: &mapping.Field{Name: "f", Type: mapping.Timestamp}, system: sysText, loc: amsterdam, format: layoutOf(t, "yyMMdd")}
	for text, year := range map[string]int{"690101": 1969, "991231": 1999, "000101": 2000, "261122": 2026, "681231": 2068} {
		v, why := short.read(textRaw(text), Raw{})
		if want := time.Date(year, 1, 1, 0, 0, 0, 0, amsterdam).Year(); why != "" || v.Time().In(amsterdam).Year() != want {
			t.Errorf("%s reads as %v %s, want %d", text, v, why, want)
		}
		if raw, _, e := short.write(v); e != nil || raw.Text != text {
			t.Errorf("%v: written as %q %v, want %s", v, raw.Text, e, text)
		}
	}
	for _, year := range []int{1926, 1968, 2069} {
		v := mapping.TimeValue(time.Date(year, 12, 31, 23, 30, 0, 0, amsterdam))
		if raw, _, e := short.write(v); e == nil || e.Reason != mapping.TimestampInvalid {
			t.Errorf("%d: written as %q %v", year, raw.Text, e)
		}
		if found := short.alternatives(v); len(found) > 0 {
			t.Errorf("%d: looked for as %v", year, found)
		}
	}
	if short.format.ordered {
		t.Error("69 is before 68")
	}
}

func TestJoinKeyIsUndone(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		texts := rapid.SliceOfN(rapid.StringMatching(`[a-z|\\]{0,5}`), 1, 4).Draw(t, "parts")
		parts := make([]Raw, len(texts))
		for i := range texts {
			parts[i] = textRaw(texts[i])
		}
		back := SplitKey(JoinKey(parts))
		if len(back) != len(parts) {
			t.Fatalf("%q became %q", parts, back)
		}
		for i := range parts {
			if back[i] != parts[i] {
				t.Fatalf("%q became %q", parts, back)
			}
		}
	})
	if got := JoinKey([]Raw{intRaw(7), textRaw("AB  ")}); got != "7|AB" {
		t.Errorf("got %s", got)
	}
}

func FuzzReadTime(f *testing.F) {
	for _, s := range []string{"20260701", "2026-07-01T10:00:00.000Z", "2026-07-01 10:00:00+02", "00000000", "9999-12-31T23:59:59-12:00", ""} {
		f.Add(s)
	}
	field := mapping.Field{Name: "f", Type: mapping.Timestamp}
	codecs := []codec{
		{field: &field, loc: amsterdam, system: sysText, isoText: true}, {field: &field, loc: amsterdam, system: sysText, format: layoutOf(f, "yyyyMMdd")},
		{field: &field, loc: time.UTC, system: sysText, format: layoutOf(f, "yyyy-MM-dd HH:mmX")},
		{field: &field, loc: amsterdam, system: sysText, epoch: 1000},
	}
	f.Fuzz(func(t *testing.T, s string) {
		for i, c := range codecs {
			v, why := c.read(textRaw(s), Raw{})
			if why != "" {
				continue
			}
			if y := v.Time().Year(); y < 1 || y > 9999 {
				t.Fatalf("%q reads as %v", s, v)
			}
			raw, _, e := c.write(v)
			if e != nil {
				t.Fatal(e)
			}
			if i == 0 {
				if again, why := c.read(raw, Raw{}); why != "" || again != v {
					t.Fatalf("%q reads as %v, written as %v, reads as %v: %s", s, v, raw, again, why)
				}
			}
		}
	})
}

func FuzzReadNumber(f *testing.F) {
	for _, s := range []string{"0", "-12.50", "1e3", "+.5", "00012,5", "99999999999999999999", "1e-999", "-", "."} {
		f.Add(s)
	}
	money := mapping.Field{Name: "f", Type: mapping.Float8, Scale: 4}
	whole := mapping.Field{Name: "f", Type: mapping.Int4}
	codecs := []codec{{field: &money, system: sysText}, {field: &money, system: sysText, comma: true}, {field: &money, decimals: 2, system: sysInteger}, {field: &whole, system: sysText}}
	f.Fuzz(func(t *testing.T, s string) {
		for i, c := range codecs {
			v, why := c.read(textRaw(s), Raw{})
			if why != "" {
				continue
			}
			raw, _, e := c.write(v)
			if e != nil && i == 2 {
				continue // rounded to cents it would be too large
			}
			if e != nil {
				t.Fatal(e)
			}
			if again, why := c.read(raw, Raw{}); i != 2 && (why != "" || again != v) {
				t.Fatalf("%q reads as %v, written as %v, reads as %v: %s", s, v, raw, again, why)
			}
		}
	})
}
