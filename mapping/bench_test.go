package mapping_test

import (
	"testing"

	"frontdesk/mapping"
)

// BenchmarkCreateOrder is what a POST /order costs before the backend: reading
// and judging a body of 15 fields, four of them of one line.
func BenchmarkCreateOrder(b *testing.B) {
	body := []byte(`{"contact_id":17,"vehicle_id":8,"employee_id":3,"kind":"workshop","order_status":"open",` +
		`"order_date":"2026-07-01T10:00:00+02:00","delivery_date":"2026-07-03T15:30:00+02:00","mileage":84210,` +
		`"reference":"PO-2026-118","description":"Major service and new front tyres","is_blocked":0,` +
		`"orderlines":[{"description":"Oil filter","quantity":1,"price":12.95,"turnover_group_id":2}]}`)
	order, loc := resource(b, "order"), amsterdam(b)
	b.SetBytes(int64(len(body)))
	b.ReportAllocs()
	for b.Loop() {
		read, err := mapping.DecodeBody(order, body, loc)
		if err != nil {
			b.Fatal(err)
		}
		if v := read.CheckCreate(); len(v) > 0 {
			b.Fatal(v)
		}
	}
}

// BenchmarkAnswerVehicle writes a vehicle with every field filled in.
func BenchmarkAnswerVehicle(b *testing.B) {
	vehicle, loc := resource(b, "vehicle"), amsterdam(b)
	rec := mapping.NewRecord(vehicle)
	for i := range vehicle.Fields {
		f := &vehicle.Fields[i]
		v, e := f.Parse(f.Example, loc)
		if e != nil {
			switch f.Type {
			case mapping.Int4:
				v = mapping.IntValue(0)
			case mapping.Timestamp:
				v = mapping.MilliValue(1_782_900_000_000)
			}
		}
		rec.Values[i] = v
	}
	fields := vehicle.RecordFields()
	var dst []byte
	b.ReportAllocs()
	for b.Loop() {
		dst = rec.AppendJSON(dst[:0], fields)
	}
	b.SetBytes(int64(len(dst)))
}
