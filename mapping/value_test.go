package mapping_test

import (
	"encoding/json"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/cockroachdb/apd/v3"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"frontdesk/mapping"
)

func TestDecimalFormat(t *testing.T) {
	tests := []struct {
		unscaled int64
		scale    int
		want     string
	}{
		{0, 0, "0"}, {0, 4, "0"}, {5, 0, "5"}, {50, 0, "50"}, {5, 4, "0.0005"}, {-5, 4, "-0.0005"}, {50, 4, "0.005"},
		{10000, 4, "1"}, {-10000, 4, "-1"}, {12950, 3, "12.95"}, {1295, 2, "12.95"}, {-1, 2, "-0.01"}, {10, 2, "0.1"},
		{100000, 4, "10"}, {100001, 4, "10.0001"}, {1, 6, "0.000001"}, {999999999999999, 4, "99999999999.9999"},
	}
	for _, tt := range tests {
		v := mapping.DecimalValue(tt.unscaled, tt.scale)
		assert.Equal(t, tt.want, string(v.AppendJSON(nil)))
		assert.Equal(t, "["+tt.want, string(v.AppendJSON([]byte("["))), "it is appended")
		assert.Equal(t, tt.want, v.String())
		assert.Zero(t, v.Decimal().Cmp(apd.New(tt.unscaled, -int32(tt.scale))))
	}
}

func TestDecimalOf(t *testing.T) {
	tests := []struct {
		in    string
		scale int
		want  string
		ok    bool
	}{
		{"1.005", 2, "1.01", true}, {"-1.005", 2, "-1.01", true}, {"1.00499", 2, "1", true}, {"2.5", 0, "3", true}, {"-2.5", 0, "-3", true},
		{"92233720368547758.07", 2, "92233720368547758.07", true}, {"92233720368547758.08", 2, "", false},
		{"1e30", 4, "", false}, {"NaN", 2, "", false}, {"Infinity", 2, "", false},
	}
	for _, tt := range tests {
		d, _, err := apd.NewFromString(tt.in)
		require.NoError(t, err)
		v, ok := mapping.DecimalOf(d, tt.scale)
		require.Equal(t, tt.ok, ok, tt.in)
		if ok {
			assert.Equal(t, tt.want, v.String())
			assert.Equal(t, tt.scale, v.Scale())
		}
	}
}

func TestValueStates(t *testing.T) {
	tests := []struct {
		name               string
		value              mapping.Value
		absent, set, empty bool
		json, shown        string
	}{
		{"absent", mapping.Value{}, true, false, true, "null", "null"},
		{"null", mapping.NullValue(), false, false, true, "null", "null"},
		{"no characters", mapping.TextValue(""), false, true, true, `""`, ""},
		{"text", mapping.TextValue("a\"b\né\xff"), false, true, false, `"a\"b\né` + "\ufffd" + `"`, "a\"b\né\xff"},
		{"zero", mapping.IntValue(0), false, true, false, "0", "0"},
		{"no bytes", mapping.BytesValue(nil), false, true, false, `""`, `""`},
		{"bytes", mapping.BytesValue([]byte{0, 255}), false, true, false, `"AP8="`, `"AP8="`},
		{"float", mapping.FloatValue(0.5), false, true, false, "0.5", "0.5"},
		{"decimal", mapping.DecimalValue(-125, 2), false, true, false, "-1.25", "-1.25"},
		{"time", mapping.MilliValue(-1), false, true, false, `"1969-12-31T23:59:59.999Z"`, "1969-12-31T23:59:59.999Z"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			assert.Equal(t, tt.absent, tt.value.IsAbsent(), "absent")
			assert.Equal(t, tt.set, tt.value.IsSet(), "set")
			assert.Equal(t, tt.empty, tt.value.IsEmpty(), "empty")
			assert.Equal(t, tt.json, string(tt.value.AppendJSON(nil)))
			assert.Equal(t, tt.shown, tt.value.String())
		})
	}
	assert.InDelta(t, -1.25, mapping.DecimalValue(-125, 2).Float(), 0)
	assert.Equal(t, time.Date(1969, 12, 31, 23, 59, 59, 999e6, time.UTC), mapping.MilliValue(-1).Time())
	assert.Zero(t, mapping.NullValue().Decimal().Cmp(apd.New(0, 0)))
}

// TestRoundTrip answers values of every datatype and reads them back.
func TestRoundTrip(t *testing.T) {
	m, err := mapping.LoadModel("testdata/vendor")
	require.NoError(t, err)
	first, last := time.Date(1, 1, 1, 0, 0, 0, 0, time.UTC).UnixMilli(), time.Date(9999, 12, 31, 23, 59, 59, 999e6, time.UTC).UnixMilli()
	text := rapid.String().Filter(func(s string) bool { return s != "" && !strings.ContainsRune(s, 0) }) // an empty one is no value
	values := []struct {
		resource, field string
		value           *rapid.Generator[mapping.Value]
	}{
		{"order", "mileage", rapid.Map(rapid.Int32(), func(n int32) mapping.Value { return mapping.IntValue(int64(n)) })},
		{"order", "reference", rapid.Map(text, mapping.TextValue)},
		{"order", "description", rapid.Map(text, mapping.TextValue)},
		{"order", "order_date", rapid.Map(rapid.Int64Range(first, last), mapping.MilliValue)},
		{"orderline", "price", rapid.Map(rapid.Int64Range(-999_999_999_999_999, 999_999_999_999_999), func(n int64) mapping.Value { return mapping.DecimalValue(n, 4) })},
		{"order", "total_excl", rapid.Map(rapid.Int64Range(-999_999_999_999_999, 999_999_999_999_999), func(n int64) mapping.Value { return mapping.DecimalValue(n, 2) })},
		{"measurement", "value", rapid.Map(rapid.Float64Range(-math.MaxFloat64, math.MaxFloat64), mapping.FloatValue)},
		{"document", "content", rapid.Map(rapid.SliceOf(rapid.Byte()), mapping.BytesValue)},
	}
	for _, tt := range values {
		r := m.Resource(tt.resource)
		f := r.Field(tt.field)
		t.Run(tt.field, rapid.MakeCheck(func(t *rapid.T) {
			want := tt.value.Draw(t, "value")
			answer := want.AppendJSON(nil)
			if !json.Valid(answer) {
				t.Fatalf("%s is no JSON", answer)
			}
			b, err := mapping.DecodeBody(r, []byte(`{"`+f.Name+`":`+string(answer)+`}`), time.UTC)
			if err != nil || len(b.Violations) > 0 {
				t.Fatalf("%s is refused: %v %v", answer, err, b.Violations)
			}
			if got := b.Record.Get(f.Name); got != want {
				t.Fatalf("%s is read as %s", answer, got)
			}
			if f.Filterable() {
				if got, e := f.Parse(want.String(), time.UTC); e != nil || got != want {
					t.Fatalf("filter value %s is read as %s: %v", want, got, e)
				}
			}
		}))
	}
}
