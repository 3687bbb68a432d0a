package remote

import (
	"testing"

	"frontdesk/backend"
)

// plainOrders is the sheet of a service whose fields are all named as the interface names them.
const plainOrders = `
source: {http: {url: "${SERVICE_URL}", connections: 8, max_answer: 1MiB}}
resources:
  contact: {path: /contact, key: id, fields: {kind: kind, name: name}}
  order:
    path: /order
    key: id
    version: _version
    fields:
      number: number
      contact_id: contact_id
      kind: kind
      order_status: order_status
      order_date: order_date
      delivery_date: delivery_date
      mileage: mileage
      reference: reference
      description: description
      invoice_number: invoice_number
      total_excl: {path: total_excl, readonly: true}
      total_incl: {path: total_incl, readonly: true}
      created_at: {path: created_at, readonly: true}
      modified_at: {path: modified_at, readonly: true}
`

func plainConnector(b *testing.B) *connector {
	return speakingTo(b, plainOrders, trivial(b, map[string]string{"GET": httpAnswer(200, orderRecord()), "POST": httpAnswer(201, orderRecord())}))
}

func BenchmarkConnectorGet(b *testing.B) {
	c := plainConnector(b)
	r := c.of("order")
	var out []byte
	b.ReportAllocs()
	for b.Loop() {
		row, err := c.get(bg(), r, anna, "12345")
		if err != nil {
			b.Fatal(err)
		}
		all, err := c.take(bg(), r, anna, []map[string]any{row})
		if err != nil || all[0].err != nil {
			b.Fatal(err, all[0].err)
		}
		out = all[0].rec.AppendJSON(out[:0], r.RecordFields())
	}
}

func BenchmarkConnectorCreate(b *testing.B) {
	c := plainConnector(b)
	rec := c.record(b, "order", `{"contact_id":4711,"kind":"workshop","order_status":"open","order_date":"2026-11-20T10:00:00Z","mileage":123456,"reference":"REF-0000012345","description":"x"}`)
	b.ReportAllocs()
	for b.Loop() {
		if _, err := c.create(bg(), nil, c.of("order"), anna, rec); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkDirectGet and BenchmarkDirectCreate are the same by the driver of format 1.
func BenchmarkDirectGet(b *testing.B) {
	s := trivialService(b)
	r := s.Sheet.Model.Resource("order")
	var out []byte
	b.ReportAllocs()
	for b.Loop() {
		rec, err := s.Get(bg(), r, backend.Query{Client: anna, ID: 12345})
		if err != nil {
			b.Fatal(err)
		}
		out = rec.AppendJSON(out[:0], r.RecordFields())
	}
}

func BenchmarkDirectCreate(b *testing.B) {
	s := serviceAt(b, trivial(b, map[string]string{"GET": httpAnswer(200, orderRecord()), "POST": httpAnswer(201, orderRecord())}), "")
	r := s.Sheet.Model.Resource("order")
	rec := patch(b, r, `{"contact_id":4711,"kind":"workshop","order_status":"open","order_date":"2026-11-20T10:00:00Z","mileage":123456,"reference":"REF-0000012345","description":"x"}`).Record
	b.ReportAllocs()
	for b.Loop() {
		if err := s.Write(bg(), func(tx backend.Tx) error { _, err := tx.Create(bg(), anna, rec); return err }); err != nil {
			b.Fatal(err)
		}
	}
}
