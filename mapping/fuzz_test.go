package mapping_test

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/cockroachdb/apd/v3"
	"github.com/go-json-experiment/json/jsontext"

	"frontdesk/mapping"
)

// FuzzDecodeBody reads any body. What is read is written as JSON and reads back
// as the same record with nothing wrong.
func FuzzDecodeBody(f *testing.F) {
	for _, seed := range []string{
		`{}`, "", "\ufeff{}", `{"reference":"PO-1","mileage":-0,"order_date":"2026-07-01","colour":[{}]}`,
		`{"order_date":"2026-07-01T10:00:00.1239+02:00","description":"\ud83d\ude97\u0000"}`,
		`{"orderlines":[{"quantity":1.50,"price":-0.00005,"description":"x"},{}],"reference":null}`,
		`{"orderlines":[5,null,{}]}`, `{"orderlines":{}}`, `{"id":1,"id":1}`,
	} {
		f.Add([]byte(seed))
	}
	order, loc := resource(f, "order"), amsterdam(f)
	every := make([]int, len(order.Fields))
	for i := range every {
		every[i] = i
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		b, err := mapping.DecodeBody(order, body, loc)
		if err != nil {
			if !mapping.Is(err, mapping.EmptyBody) && !mapping.Is(err, mapping.BodyNotJSON) {
				t.Fatalf("%q: %v", body, err)
			}
			return
		}
		if !json.Valid(body) {
			t.Fatalf("%q is no JSON, but was read", body)
		}
		b.CheckCreate()
		b.CheckUpdate()
		b.CheckMerged(b.Record)

		written := b.Record.AppendJSON(nil, every)
		again, err := mapping.DecodeBody(order, written, loc)
		if err != nil {
			t.Fatalf("%q was written as %s: %v", body, written, err)
		}
		if len(again.Violations) > 0 {
			t.Fatalf("%q was written as %s: %v", body, written, again.Violations)
		}
		sameRecord(t, b.Record, again.Record)
	})
}

// FuzzDecodePlain reads any body. What is read as a plain one is read the same as any other.
func FuzzDecodePlain(f *testing.F) {
	for _, seed := range plainBodies {
		f.Add([]byte(seed), false)
	}
	for _, seed := range otherBodies {
		f.Add([]byte(seed), true)
	}
	order, loc := resource(f, "order"), amsterdam(f)
	f.Fuzz(func(t *testing.T, body []byte, without bool) {
		var arrays mapping.Arrays
		if without {
			arrays = onlyArrays{}
		}
		got, ok := mapping.DecodePlain(order, arrays, body, loc)
		if !ok {
			return
		}
		want, err := mapping.DecodeAny(order, arrays, body, loc)
		if err != nil {
			t.Fatalf("%q was read, but: %v", body, err)
		}
		if !reflect.DeepEqual(want, got) {
			t.Fatalf("%q was read as %+v, not as %+v", body, got, want)
		}
		if len(got.Violations) > 0 || !json.Valid(body) {
			t.Fatalf("%q was read: %v", body, got.Violations)
		}
	})
}

// sameRecord compares values where null and absent are written alike.
func sameRecord(t *testing.T, want, got mapping.Record) {
	t.Helper()
	for i := range want.Values {
		field := &want.Resource.Fields[i]
		if field.Type == mapping.Array {
			if len(want.Children[i]) != len(got.Children[i]) {
				t.Fatalf("%s has %d elements, want %d", field.Name, len(got.Children[i]), len(want.Children[i]))
			}
			for n := range want.Children[i] {
				sameRecord(t, want.Children[i][n], got.Children[i][n])
			}
			continue
		}
		if want.Values[i] != got.Values[i] && want.Values[i].IsSet() {
			t.Fatalf("%s reads back as %s, want %s", field.Name, got.Values[i], want.Values[i])
		}
	}
}

// FuzzTimestamp reads any text. What is read is answered in a form that reads
// back as the same instant.
func FuzzTimestamp(f *testing.F) {
	for _, seed := range []string{
		"2026-07-01", "2026-07-01T10:00Z", "2026-07-01T10:00:00.123456789+02:00", "0001-01-01T00:00:00Z", "9999-12-31T23:59:59.999Z",
		"2026-03-29T02:30:00", "1940-05-16", "2024-02-29T23:59:59-2359", "2026-07-01T10:00:00+14",
	} {
		f.Add(seed)
	}
	field, loc := fieldOf(f, "order", "order_date"), amsterdam(f)
	f.Fuzz(func(t *testing.T, s string) {
		v, e := field.Parse(s, loc)
		if e != nil {
			return
		}
		answer := v.String()
		at, err := time.Parse("2006-01-02T15:04:05.000Z", answer)
		if err != nil || len(answer) != len("2026-07-01T10:00:00.000Z") {
			t.Fatalf("%q is answered as %q: %v", s, answer, err)
		}
		if !at.Equal(v.Time()) {
			t.Fatalf("%q is answered as %q, but is %s", s, answer, v.Time())
		}
		again, e := field.Parse(answer, loc)
		if e != nil || again != v {
			t.Fatalf("%q is answered as %q, which reads back as %s", s, answer, again)
		}
	})
}

// FuzzFloat8 reads any text. What is read is a JSON number, kept to half a unit
// of its last decimal, and answered in a form that reads back the same.
func FuzzFloat8(f *testing.F) {
	for _, seed := range []string{"0", "-0.00005", "1.005", "1e400", "1e-400", "99999999999.99995", "-1E+3", "00", "1.", "NaN", "1e-99999999999"} {
		f.Add(seed)
	}
	field := fieldOf(f, "orderline", "price")
	f.Fuzz(func(t *testing.T, s string) {
		v, e := field.Parse(s, time.UTC)
		if e != nil {
			return
		}
		if !json.Valid([]byte(s)) {
			t.Fatalf("%q is no JSON number, but was read as %s", s, v)
		}
		answer := v.String()
		again, e := field.Parse(answer, time.UTC)
		if e != nil || again != v || !json.Valid([]byte(answer)) {
			t.Fatalf("%q is answered as %q, which reads back as %s", s, answer, again)
		}
		exact, _, err := apd.NewFromString(s)
		if err != nil || exact.Exponent < -500 {
			return // too small for exact arithmetic here
		}
		var off apd.Decimal
		if _, err := apd.BaseContext.WithPrecision(1000).Sub(&off, exact, v.Decimal()); err != nil {
			return
		}
		off.Negative = false
		if off.Cmp(apd.New(5, -5)) > 0 {
			t.Fatalf("%q became %s", s, v)
		}
	})
}

// FuzzPlate lays out any text as a Dutch plate. A plate keeps its characters,
// and laying it out again changes nothing.
func FuzzPlate(f *testing.F) {
	for _, seed := range []string{"GT-123-B", "gt123b", "AA-86", "cdj123", "--12--34ab", "M-GT 1234", "ı2-ab-34"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, s string) {
		plate, ok := mapping.DutchPlate(s)
		if !ok {
			if plate != "" {
				t.Fatalf("%q is no plate, but %q came of it", s, plate)
			}
			return
		}
		if again, ok := mapping.DutchPlate(plate); !ok || again != plate {
			t.Fatalf("%q became %q, which became %q", s, plate, again)
		}
		if strings.Trim(plate, "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-") != "" || mapping.BarePlate(plate) != mapping.BarePlate(s) {
			t.Fatalf("%q became %q", s, plate)
		}
	})
}

// FuzzJSONString compares what is written of a text with what the library writes.
func FuzzJSONString(f *testing.F) {
	for _, seed := range []string{"", "Jansen", "eight by eight, and seven", "a\"b", `a\b`, "\x00", "\x1f234567", "1234567\x7f", "Müller", "12345678é", "1234567\xff", "123456789\n"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, s string) {
		want, _ := jsontext.AppendQuote(nil, s) // its error tells of bytes that are no UTF-8
		if got := mapping.AppendJSONString(nil, s); string(got) != string(want) {
			t.Fatalf("%q became %s, not %s", s, got, want)
		}
	})
}

// FuzzTime compares what is written of a moment with what package time writes.
func FuzzTime(f *testing.F) {
	for _, seed := range []int64{0, -1, 1, 999, 1_782_900_000_123, -62_135_596_800_000, 253_402_300_799_999} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, ms int64) {
		at := time.UnixMilli(ms % 253_402_300_800_000).UTC() // as far as a year has four digits
		if at.Year() < 1 {
			return
		}
		if got, want := mapping.TimeValue(at).String(), at.Format("2006-01-02T15:04:05.000Z"); got != want {
			t.Fatalf("%d became %s, not %s", ms, got, want)
		}
	})
}
