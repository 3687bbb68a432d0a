package mapping_test

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"frontdesk/mapping"
)

// fieldOf is a field that the embedded model is known to have.
func fieldOf(t testing.TB, resourceName, name string) *mapping.Field {
	t.Helper()
	f := resource(t, resourceName).Field(name)
	require.NotNil(t, f, name)
	return f
}

// inBody reads one JSON value as the only field of a body.
func inBody(t *testing.T, r *mapping.Resource, field, json string) (mapping.Value, mapping.Violations) {
	t.Helper()
	b, err := mapping.DecodeBody(r, []byte(`{"`+field+`":`+json+`}`), amsterdam(t))
	require.NoError(t, err)
	return b.Record.Get(field), b.Violations
}

func TestTimestamp(t *testing.T) {
	tests := []struct{ sent, answered string }{
		{"2026-07-01T10:00:00Z", "2026-07-01T10:00:00.000Z"},
		{"2026-07-01T10:00Z", "2026-07-01T10:00:00.000Z"},
		{"2026-07-01T10:00:00+02:00", "2026-07-01T08:00:00.000Z"},
		{"2026-07-01T10:00:00+0200", "2026-07-01T08:00:00.000Z"},
		{"2026-07-01T10:00:00+02", "2026-07-01T08:00:00.000Z"},
		{"2026-07-01T10:00:00-05:30", "2026-07-01T15:30:00.000Z"},
		{"2026-07-01T10:00-0530", "2026-07-01T15:30:00.000Z"},
		{"2026-07-01T10:00:00-00:00", "2026-07-01T10:00:00.000Z"},
		{"2026-07-01T10:00:00+23:59", "2026-06-30T10:01:00.000Z"},
		{"2026-07-01T10:00:00.5Z", "2026-07-01T10:00:00.500Z"},
		{"2026-07-01T10:00:00.123+02:00", "2026-07-01T08:00:00.123Z"},
		{"2026-07-01T10:00:00.123999Z", "2026-07-01T10:00:00.123Z"},    // cut, not rounded
		{"2026-07-01T10:00:00.999999999Z", "2026-07-01T10:00:00.999Z"}, // nor carried
		{"1969-12-31T23:59:59.9995Z", "1969-12-31T23:59:59.999Z"},      // the same before 1970
		{"2024-02-29T00:00:00Z", "2024-02-29T00:00:00.000Z"},
		{"2000-02-29", "2000-02-28T23:00:00.000Z"},
		{"2026-07-01", "2026-06-30T22:00:00.000Z"}, // midnight in summer
		{"2026-01-01", "2025-12-31T23:00:00.000Z"}, // and in winter
		{"2026-03-29", "2026-03-28T23:00:00.000Z"}, // the day summer time begins
		{"2026-10-25", "2026-10-24T22:00:00.000Z"}, // and ends
		{"2026-03-29T02:30:00+01:00", "2026-03-29T01:30:00.000Z"},
		{"2026-10-25T02:30:00+02:00", "2026-10-25T00:30:00.000Z"},
		{"2026-10-25T02:30:00+01:00", "2026-10-25T01:30:00.000Z"},
		{"0001-01-01T00:00:00Z", "0001-01-01T00:00:00.000Z"},
		{"9999-12-31T23:59:59.999Z", "9999-12-31T23:59:59.999Z"},
	}
	f, loc := fieldOf(t, "order", "order_date"), amsterdam(t)
	for _, tt := range tests {
		t.Run(tt.sent, func(t *testing.T) {
			v, e := f.Parse(tt.sent, loc)
			require.Nil(t, e)
			assert.Equal(t, `"`+tt.answered+`"`, string(v.AppendJSON(nil)))
			assert.Equal(t, tt.answered, v.String())
			again, e := f.Parse(tt.answered, loc)
			require.Nil(t, e)
			assert.Equal(t, v, again, "the answered form is the same instant")
		})
	}
}

func TestTimestampRefused(t *testing.T) {
	refused := []string{
		"", " ", "now", "null", "2026", "2026-07", "26-07-01", "2026-7-1", "20260701", "2026-002", "2026-W27-3", "01-07-2026",
		"2026-07-01T", "2026-07-01T10", "2026-07-01T10Z", "2026-07-01T10:00", "2026-07-01T10:00:00", "2026-07-01T10:00:00.000",
		"2026-07-01 10:00:00Z", "2026-07-01t10:00:00Z", "2026-07-01T10:00:00z", "20260701T100000Z", "2026-07-01Z",
		"2026-07-01T10:00:00.Z", "2026-07-01T10:00:00,5Z", "2026-07-01T10:00.5Z", "2026-07-01T10:00:00.0000000001Z",
		"2026-02-29", "2100-02-29", "2026-04-31", "2026-13-01", "2026-00-01", "2026-01-00", "2026-02-30T00:00:00Z",
		"2026-07-01T24:00:00Z", "2026-07-01T23:60:00Z", "2026-07-01T23:59:60Z",
		"2026-07-01T10:00:00+2:00", "2026-07-01T10:00:00+02:0", "2026-07-01T10:00:00+02:00:00", "2026-07-01T10:00:00+", "2026-07-01T10:00:00CET",
		"2026-07-01T10:00:00+24:00", "2026-07-01T10:00:00+02:60", "2026-07-01T10:00:00-99:99", "2026-07-01T10:00:00+2400", "2026-07-01T10:00:00+24",
		"2026-07-01T10:00:00Z ", " 2026-07-01T10:00:00Z", "2026-07-01\n", "+2026-07-01", "-2026-07-01T10:00:00Z", "12026-07-01", "２０２６-07-01",
		"0000-01-01T00:00:00Z", "0001-01-01T00:00:00+00:01", "9999-12-31T23:59:59-00:01", "0000-01-01",
	}
	f, loc := fieldOf(t, "order", "order_date"), amsterdam(t)
	for _, s := range refused {
		t.Run(s, func(t *testing.T) {
			v, e := f.Parse(s, loc)
			if assert.NotNilf(t, e, "read as %s", v) {
				assert.Equal(t, mapping.TimestampInvalid, e.Reason)
				assert.Equal(t, []string{"order_date", s}, e.Args)
			}
		})
	}
	for _, json := range []string{"1", "true", "1782900000", `{"a":1}`, `["2026-07-01"]`} {
		_, v := inBody(t, resource(t, "order"), "order_date", json)
		assert.True(t, mapping.Is(v, mapping.TimestampInvalid), json)
	}
}

func TestInt4(t *testing.T) {
	order := resource(t, "order")
	tests := []struct {
		json, want string // want "" where it is refused
	}{
		{"0", "0"}, {"1", "1"}, {"-1", "-1"}, {"-0", "0"},
		{"2147483647", "2147483647"}, {"-2147483648", "-2147483648"},
		{"2147483648", ""}, {"-2147483649", ""}, {"99999999999999999999", ""},
		{"1.0", ""}, {"1.5", ""}, {"1e2", ""}, {"1E0", ""}, {`"1"`, ""}, {`""`, ""}, {"true", ""}, {"[]", ""}, {"{}", ""},
		{"null", "null"},
	}
	for _, tt := range tests {
		t.Run(tt.json, func(t *testing.T) {
			v, violations := inBody(t, order, "mileage", tt.json)
			if tt.want == "" {
				require.Len(t, violations, 1)
				assert.Equal(t, mapping.Int4Invalid, violations[0].Reason)
				return
			}
			require.Empty(t, violations)
			assert.Equal(t, tt.want, string(v.AppendJSON(nil)))
		})
	}
	f := order.Field("mileage")
	for _, s := range []string{"", "+1", " 1", "1 ", "0x1", "1_000", "1.0", "١", "007"} {
		_, e := f.Parse(s, time.UTC)
		assert.NotNilf(t, e, "query value %q", s)
	}
}

func TestFloat8(t *testing.T) {
	line, order := resource(t, "orderline"), resource(t, "order")
	tests := []struct {
		name   string
		r      *mapping.Resource
		field  string
		json   string
		answer string // "" where it is refused
	}{
		{"whole", line, "price", "12", "12"},
		{"decimals", line, "price", "12.95", "12.95"},
		{"no binary error", line, "price", "0.1", "0.1"},
		{"trailing zeros", line, "price", "12.50000", "12.5"},
		{"exponent", line, "price", "1.25e2", "125"},
		{"negative exponent", line, "price", "125E-2", "1.25"},
		{"minus zero", line, "price", "-0", "0"},
		{"minus zero decimals", line, "price", "-0.0", "0"},
		{"half up", line, "price", "0.00005", "0.0001"},
		{"just under half", line, "price", "0.000049999999999999999999999999", "0"},
		{"half down below zero", line, "price", "-0.00005", "-0.0001"},
		{"rounds to zero from below", line, "price", "-0.00004", "0"},
		{"half that no float64 holds", line, "price", "1.00005", "1.0001"},
		{"not half to even", line, "price", "2.00025", "2.0003"},
		{"carry", line, "price", "0.99995", "1"},
		{"two decimals", order, "total_excl", "1.005", "1.01"},
		{"two decimals below zero", order, "total_excl", "-1.005", "-1.01"},
		{"two decimals, not half to even", order, "total_excl", "2.445", "2.45"},
		{"largest", line, "price", "99999999999.9999", "99999999999.9999"},
		{"smallest", line, "price", "-99999999999.9999", "-99999999999.9999"},
		{"very small", line, "price", "1e-300", "0"},
		{"smaller than any float64", line, "price", "1e-400", "0"},
		{"far smaller than any float64", line, "price", "1e-5000", "0"},
		{"too large to be exact", line, "price", "100000000000", ""},
		{"too large once rounded", line, "price", "99999999999.99995", ""},
		{"too small once rounded", line, "price", "-99999999999.99995", ""},
		{"huge", line, "price", "1e308", ""},
		{"larger than any float64", line, "price", "1e400", ""},
		{"larger below zero", line, "price", "-1e400", ""},
		{"endless exponent", line, "price", "1e999999999999", ""},
		{"text", line, "price", `"1.5"`, ""},
		{"flag", line, "price", "true", ""},
		{"null", line, "price", "null", "null"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			v, violations := inBody(t, tt.r, tt.field, tt.json)
			if tt.answer == "" {
				require.Len(t, violations, 1)
				assert.Equal(t, mapping.Float8Invalid, violations[0].Reason)
				return
			}
			require.Empty(t, violations)
			assert.Equal(t, tt.answer, string(v.AppendJSON(nil)))
		})
	}
	f := line.Field("price")
	for _, s := range []string{"", "+1", ".5", "1.", "01", "1e", "NaN", "Inf", "-Inf", "0x1p4", "1_0", "1,5", " 1", "--1", "1" + strings.Repeat("0", 400)} {
		_, e := f.Parse(s, time.UTC)
		assert.NotNilf(t, e, "query value %q", s)
	}
}

// TestPlainFloat8 is a float8 of a vendor's model that asks for no fixed number
// of decimals.
func TestPlainFloat8(t *testing.T) {
	m, err := mapping.LoadModel("testdata/vendor")
	require.NoError(t, err)
	f := m.Resource("measurement").Field("value")
	for sent, answer := range map[string]string{
		"0.1": "0.1", "1e21": "1e+21", "1.7976931348623157e308": "1.7976931348623157e+308", "-0.00000005": "-5e-08", "5e-324": "5e-324",
	} {
		v, e := f.Parse(sent, time.UTC)
		require.Nil(t, e, sent)
		assert.Equal(t, answer, string(v.AppendJSON(nil)))
	}
	_, e := f.Parse("1e309", time.UTC)
	assert.NotNil(t, e)
}

func TestBytea(t *testing.T) {
	document := resource(t, "document")
	tests := []struct {
		name, json, want string
		ok               bool
	}{
		{"empty", `""`, "", true},
		{"no padding needed", `"Zm9v"`, "foo", true},
		{"one pad", `"Zm8="`, "fo", true},
		{"two pads", `"Zg=="`, "f", true},
		{"all bytes", `"AP+A/w=="`, "\x00\xff\x80\xff", true},
		{"escaped slash", `"\/\/\/\/"`, "\xff\xff\xff", true},
		{"padding left out", `"Zg"`, "", false},
		{"too much padding", `"Zg==="`, "", false},
		{"padding inside", `"Zg==Zg=="`, "", false},
		{"bits after the end", `"Zh=="`, "", false},
		{"line feed", `"Zm9v\nZm9v"`, "", false},
		{"line feed at the end", `"Zm9v\n"`, "", false},
		{"carriage return", `"Zm9v\r\n"`, "", false},
		{"space", `"Zm9v Zm9v"`, "", false},
		{"URL alphabet", `"_-__"`, "", false},
		{"no text", `1`, "", false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			v, violations := inBody(t, document, "content", tt.json)
			if !tt.ok {
				require.Len(t, violations, 1)
				assert.Equal(t, mapping.ByteaInvalid, violations[0].Reason)
				return
			}
			require.Empty(t, violations)
			assert.Equal(t, tt.want, v.Text())
			assert.Equal(t, mapping.KindBytes, v.Kind())
		})
	}
}

func TestText(t *testing.T) {
	order := resource(t, "order")
	tests := []struct {
		name, json, want string
		ok               bool
	}{
		{"plain", `"PO-1"`, "PO-1", true},
		{"empty", `""`, "", true},
		{"beyond ASCII", `"Citroën 🚗"`, "Citroën 🚗", true},
		{"escapes", `"a\tb\"\\\u00e9\ud83d\ude97"`, "a\tb\"\\é🚗", true},
		{"spaces are kept", `"  x "`, "  x ", true},
		{"NUL", `"a\u0000b"`, "", false},
		{"number", `5`, "", false},
		{"flag", `true`, "", false},
		{"object", `{"a":1}`, "", false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			for _, field := range []string{"reference", "description"} { // varchar and text alike
				v, violations := inBody(t, order, field, tt.json)
				if !tt.ok {
					require.Len(t, violations, 1)
					assert.Equal(t, mapping.VarcharInvalid, violations[0].Reason)
					continue
				}
				require.Empty(t, violations)
				assert.Equal(t, tt.want, v.Text())
			}
		})
	}
	f := order.Field("reference")
	for _, s := range []string{"a\x00", "\xff", "a\xc3"} {
		_, e := f.Parse(s, time.UTC)
		assert.NotNilf(t, e, "query value %q", s)
	}
}
