package sheet_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"frontdesk/mapping"
	"frontdesk/mapping/sheet"
)

// FuzzServiceValue writes values in all forms that a service has them in, and reads them back: what
// is written is the value, or refused.
func FuzzServiceValue(f *testing.F) {
	for _, n := range []int64{0, 1, -1, 1782900000123, -62135596800000, 253402300799999, 1 << 40} {
		f.Add("a\x00'", n, uint8(n))
	}
	amsterdam, err := time.LoadLocation("Europe/Amsterdam")
	require.NoError(f, err)
	at := sheet.Path{"a", "b"}
	fields := map[string]sheet.ServiceField{
		"plain": {}, "empty": {Conversion: sheet.Conversion{EmptyIsNull: true}}, "zero": {Conversion: sheet.Conversion{Nulls: []string{"0", "-1"}}},
		"date": {Conversion: sheet.Conversion{Kind: sheet.KindDate}}, "datetime": {Conversion: sheet.Conversion{Kind: sheet.KindDatetime}},
		"epoch": {Conversion: sheet.Conversion{Kind: sheet.KindEpoch}}, "millis": {Conversion: sheet.Conversion{Kind: sheet.KindEpochMillis}}, "instant": {Conversion: sheet.Conversion{Kind: sheet.KindTimestamp}},
		"codes":        {Conversion: sheet.Conversion{Codes: []sheet.Code{{Stored: "x", Shown: mapping.IntValue(1)}, {Stored: "2", Plain: true, Shown: mapping.TextValue("b")}, {Stored: "true", Plain: true, Shown: mapping.MilliValue(0)}}}},
		"codes, zero":  {Conversion: sheet.Conversion{Nulls: []string{"", "-"}, Codes: []sheet.Code{{Stored: "x", Shown: mapping.IntValue(1)}}}},
		"codes, empty": {Conversion: sheet.Conversion{EmptyIsNull: true, Codes: []sheet.Code{{Stored: "x", Shown: mapping.TextValue("b")}}}},
	}
	f.Fuzz(func(t *testing.T, text string, n int64, of uint8) {
		field := mapping.Field{Name: "f", Type: []mapping.Datatype{mapping.Int4, mapping.Float8, mapping.Varchar, mapping.Timestamp, mapping.Bytea}[of%5], Scale: int(of>>4)%7 - 1}
		v := map[mapping.Datatype]mapping.Value{
			mapping.Int4: mapping.IntValue(int64(int32(n))), mapping.Float8: mapping.DecimalValue(n%1e14, max(field.Scale, 0)), mapping.Varchar: mapping.TextValue(text),
			mapping.Timestamp: mapping.MilliValue(n % 253402300799999), mapping.Bytea: mapping.BytesValue([]byte(text)),
		}[field.Type]
		if field.Type == mapping.Float8 && field.Scale < 0 {
			v = mapping.FloatValue(float64(n) / 8)
		}
		for name, how := range fields {
			how.Read, how.Path, how.Zone = sheet.Spot{Path: at}, at, amsterdam
			for _, v := range []mapping.Value{v, mapping.NullValue()} {
				stored, err := how.Stored(&field, v)
				if err != nil {
					_, refused := mapping.AsViolations(err)
					require.True(t, refused, "%v", err)
					continue
				}
				record := map[string]any{}
				at.Put(record, stored)
				made, err := sheet.JSONOf(record)
				require.NoError(t, err)
				back, absent, err := how.Value(t.Context(), &field, made)
				if err != nil {
					require.Equal(t, mapping.Varchar, field.Type, "%s: %v", name, err) // a NUL, which no client sends
					continue
				}
				require.False(t, absent)
				switch {
				case how.Kind == sheet.KindDate && v.IsSet() && field.Type == mapping.Timestamp:
					require.LessOrEqual(t, back.Int(), v.Int())
					require.Less(t, v.Int()-back.Int(), int64(25*time.Hour/time.Millisecond))
				case how.Kind == sheet.KindEpoch && v.IsSet() && field.Type == mapping.Timestamp:
					require.Less(t, v.Int()-back.Int(), int64(1000))
				case how.Kind == sheet.KindDatetime && v.IsSet() && field.Type == mapping.Timestamp: // an hour that comes twice is one
					require.Zero(t, (v.Int()-back.Int())%int64(time.Hour/time.Millisecond))
				case !how.IsNull(stored):
					require.Equal(t, v, back, "%s %s", name, field.Type)
				default:
					require.False(t, back.IsSet())
				}
			}
		}
	})
}

// TestServiceMoments reads the forms of ISO 8601, and none that time.Parse takes beside them.
func TestServiceMoments(t *testing.T) {
	field := mapping.Field{Name: "f", Type: mapping.Timestamp}
	how := sheet.ServiceField{Conversion: sheet.Conversion{Zone: time.UTC}, Read: sheet.Spot{Path: sheet.Path{"at"}}}
	for text, want := range map[string]string{
		"2026-07-01T10:11:12Z": "2026-07-01T10:11:12.000Z", "2026-07-01T10:11:12.3456+02:00": "2026-07-01T08:11:12.345Z", "2026-07-01 10:11:12,5": "2026-07-01T10:11:12.500Z",
		"2026-07-01t10:11z": "2026-07-01T10:11:00.000Z", "2026-07-01T10:11:12+0200": "2026-07-01T08:11:12.000Z", "2026-07-01T10:11:12 -03": "2026-07-01T13:11:12.000Z", "2026-07-01": "2026-07-01T00:00:00.000Z",
		"2026-07-01T1:11:12Z": "", "2026-07-01T1:11:12.1Z": "", "2026-07-01T10:11:60Z": "", "2026-02-30T10:11:12Z": "", "0000-01-01T00:00:00Z": "", "2026-07-01T10:11:12.Z": "", "26-07-01T10:11:12Z": "",
	} {
		made, err := sheet.JSONOf(map[string]any{"at": text})
		require.NoError(t, err)
		v, _, err := how.Value(t.Context(), &field, made)
		if want == "" {
			require.Error(t, err, text)
			continue
		}
		require.NoError(t, err)
		require.Equal(t, want, v.String(), text)
	}
}
