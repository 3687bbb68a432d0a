package remote

import (
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"frontdesk/backend"
	"frontdesk/mapping/sheet"
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
		all, err := c.take(bg(), r, anna, []sheet.JSON{row})
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

// BenchmarkDirectGet and BenchmarkDirectCreate are the same by a driver without a copy.
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

// copiedOrders is a driver with a copy of one order, which any get and create is answered with.
func copiedOrders(b *testing.B) *Driver {
	url := trivial(b, map[string]string{
		"GET /order/12345": httpAnswer(200, orderRecord()), "GET /order": httpAnswer(200, "["+orderRecord()+"]"),
		"GET /contact": httpAnswer(200, "[]"), "POST": httpAnswer(201, orderRecord()),
	})
	file := b.TempDir() + "/plain.yaml"
	text := "format: 2\nrules: backend\naccounts: {users: [{username: jan, password_hash: $argon2id$x, client: {id: 1, name: Noord}}]}\n" + plainOrders
	require.NoError(b, os.WriteFile(file, []byte(strings.NewReplacer("key: id,", "key: id, walk: {paging: {style: none}},", "key: id\n", "key: id\n    walk: {paging: {style: none}}\n").Replace(text)), 0o600))
	d := open(b, Options{IDStore: openIDStore(b), Sheet: loadSheetFile(b, file, url)})
	_, err := d.List(bg(), d.Sheet.Model.Resource("order"), backend.Query{Client: anna, Limit: 1})
	require.NoError(b, err)
	return d
}

func BenchmarkCopiedGet(b *testing.B) {
	d := copiedOrders(b)
	r := d.Sheet.Model.Resource("order")
	b.ReportAllocs()
	for b.Loop() {
		if _, err := d.Get(bg(), r, backend.Query{Client: anna, ID: 12345}); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkCopiedCreate(b *testing.B) {
	d := copiedOrders(b)
	rec := patch(b, d.Sheet.Model.Resource("order"), `{"contact_id":4711,"kind":"workshop","order_status":"open","order_date":"2026-11-20T10:00:00Z"}`).Record
	b.ReportAllocs()
	for b.Loop() {
		if err := d.Write(bg(), func(tx backend.Tx) error { _, err := tx.Create(bg(), anna, rec); return err }); err != nil {
			b.Fatal(err)
		}
	}
}
