package remote

import (
	"bytes"
	"context"
	"fmt"
	"net"
	"strconv"
	"strings"
	"testing"

	"frontdesk/backend"
	"frontdesk/cmd/frontdesk/rig/must"
)

// trivial is an upstream that answers every request on a connection with what
// answers has for its method, and does nothing else.
func trivial(t testing.TB, answers map[string]string) string {
	listener := must.Have(net.Listen("tcp", "127.0.0.1:0"))(t)
	t.Cleanup(func() { _ = listener.Close() })
	go func() {
		for {
			c, err := listener.Accept()
			if err != nil {
				return
			}
			go serveTrivial(c, answers)
		}
	}()
	return "http://" + listener.Addr().String()
}

func serveTrivial(c net.Conn, answers map[string]string) {
	defer func() { _ = c.Close() }()
	in := make([]byte, 0, 64<<10)
	for {
		n, err := c.Read(in[len(in):cap(in)])
		if err != nil {
			return
		}
		in = in[:len(in)+n]
		head := bytes.Index(in, []byte("\r\n\r\n"))
		if head < 0 {
			continue
		}
		length := 0
		if _, rest, ok := bytes.Cut(in[:head], []byte("Content-Length: ")); ok {
			digits, _, _ := bytes.Cut(rest, []byte("\r\n"))
			length, _ = strconv.Atoi(string(digits))
		}
		if len(in) < head+4+length {
			continue
		}
		method, rest, _ := strings.Cut(string(in[:64]), " ")
		path, _, _ := strings.Cut(rest, " ")
		answer, ok := answers[method+" "+path]
		if !ok {
			answer = answers[method]
		}
		in = in[:0]
		if _, err := c.Write([]byte(answer)); err != nil {
			return
		}
	}
}

func httpAnswer(status int, body string) string {
	return fmt.Sprintf("HTTP/1.1 %d OK\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%s", status, len(body), body)
}

// orderRecord is an order of 1 KB.
func orderRecord() string {
	s := `{"id":12345,"number":"O012345","contact_id":4711,"vehicle_id":815,"employee_id":7,"kind":"workshop","order_status":"open",` +
		`"order_date":"2026-11-20T10:00:00.000Z","delivery_date":"2026-11-21T08:09:10.000Z","mileage":123456,"reference":"REF-0000012345",` +
		`"description":"%s","invoice_number":null,"total_excl":1234.56,"total_incl":1493.82,"is_system":0,"is_blocked":0,"is_archived":0,` +
		`"created_at":"2026-11-20T10:00:00.000Z","modified_at":"2026-11-20T10:00:00.000Z","_version":3}`
	return fmt.Sprintf(s, strings.Repeat("x", 1024-len(s)+2))
}

// trivialService is a service with a sheet whose fields are all named as the interface names
// them.
func trivialService(t testing.TB) *Driver {
	return serviceAt(t, trivial(t, map[string]string{"GET": httpAnswer(200, orderRecord()), "POST": httpAnswer(201, `{"id":12345}`)}), "")
}

// serviceAt is a service with such a sheet; headers are those of its source.
func serviceAt(t testing.TB, url, headers string) *Driver {
	return open(t, Options{IDStore: openIDStore(t), Sheet: plainSheet(t, url, headers), RequestID: func(ctx context.Context) string {
		id, _ := ctx.Value(askedAs{}).(string)
		return id
	}})
}

// askedAs is the key of a request's id in its context.
type askedAs struct{}

func BenchmarkGet(b *testing.B) {
	s := trivialService(b)
	c := front(b, s)
	r := s.Sheet.Model.Resource("order")
	var out []byte
	b.ReportAllocs()
	for b.Loop() {
		rec, err := c.Get(bg(), r, backend.Query{Client: anna, ID: 12345})
		if err != nil {
			b.Fatal(err)
		}
		out = rec.AppendJSON(out[:0], r.RecordFields())
	}
}
