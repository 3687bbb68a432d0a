package main

import (
	"bufio"
	"context"
	"crypto/sha256"
	"database/sql"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// practice is a desk with what it takes to bring about errors: a session, a
// driver that fails on demand, and the database itself.
type practice struct {
	*desk
	t      testing.TB
	token  string
	faults *faults
	dsn    string
	count  *int    // of records made, for values that must be the only ones
	backup *string // the id of one that is done
}

// Further api_keys of a practice.
const (
	slowKey = "77777777-7777-4777-8777-777777777777"
	tinyKey = "66666666-6666-4666-8666-666666666666"
)

// keyConfig is an api_key for deskOptions.keys.
func keyConfig(name, key, rest string) string {
	return fmt.Sprintf("  - name: %s\n    key_sha256: [\"%x\"]\n%s", name, sha256.Sum256([]byte(key)), rest)
}

// bodyLimit is that of a practice: more than a text field holds.
const bodyLimit = 256 << 10

// mostConnections is how many a practice has from one address: more than its tests
// open beside each other.
const mostConnections = 150

// newPractice starts a desk; backend is more of its section backend, a comma in
// front.
func newPractice(t *testing.T, dsn, backend string) *practice {
	p := &practice{t: t, faults: new(faults), dsn: dsn, count: new(int), backup: new(string)}
	p.desk = startDesk(t, deskOptions{
		dsn: dsn, wrap: p.faults.wrap, backend: backend, server: fmt.Sprintf("  body_limit: 256KiB\n  connections: {per_address: %d}", mostConnections),
		keys: keyConfig("slow", slowKey, "    allow: [\"* /*\"]\n    rate: {per_second: 0.001, burst: 1}\n"),
	})
	p.token = p.login(fullKey, "demo")
	return p
}

// in is the practice within a subtest, whose failures end only that.
func (p *practice) in(t testing.TB) *practice {
	d := *p.desk
	d.t = t
	inner := *p
	inner.desk, inner.t = &d, t
	return &inner
}

// next is a number that was not used before.
func (p *practice) next() int {
	*p.count++
	return *p.count
}

func (p *practice) post(resource, body string, args ...any) int {
	p.t.Helper()
	return p.create(p.token, resource, fmt.Sprintf(body, args...))
}

// put changes a record, which must be accepted.
func (p *practice) put(path, body string) {
	p.t.Helper()
	a := p.call("PUT", path, p.token, body)
	require.Equal(p.t, 200, a.Status, "%s", a.Body)
}

// The records that rows are about. Where there is nothing to say about one, it
// is as plain as it can be.

func (p *practice) contact() int { return p.post("contact", `{"kind":"person","name":"Jansen"}`) }

func (p *practice) order(status string) int {
	return p.post("order", `{"contact_id":1,"kind":"workshop","order_status":"%s","order_date":"2026-07-01"}`, status)
}

func (p *practice) line(order int) int {
	return p.post("orderline", `{"order_id":%d,"description":"Work","quantity":1,"price":10,"turnover_group_id":1}`, order)
}

// closedOrder is an invoiced order and a line of it.
func (p *practice) closedOrder() []any {
	order := p.order("open")
	line := p.line(order)
	p.put(fmt.Sprintf("/order/%d", order), `{"order_status":"invoiced"}`)
	return []any{order, line}
}

// plate is a Dutch license plate that no other vehicle has.
func (p *practice) plate() string {
	n := p.next()
	return fmt.Sprintf("QQ-%03d-%c", n%1000, 'A'+n/1000)
}

func (p *practice) vehicle(more string) int {
	return p.post("vehicle", `{"license_plate":"%s","brand":"Opel","model":"Astra"%s}`, p.plate(), more)
}

func (p *practice) ownedVehicle() int {
	vehicle := p.vehicle("")
	p.post("vehicleroleline", `{"vehicle_id":%d,"contact_id":1,"role":"owner"}`, vehicle)
	return vehicle
}

// flatrate is a flat rate with a line that has sort_order 10, one that has
// nothing, an article, and that article's number.
func (p *practice) flatrate() []any {
	n := p.next()
	number := fmt.Sprintf("ART-%d", n)
	rate := p.post("flatrate", `{"number":"R-%d","description":"Rate"}`, n)
	p.post("flatrateline", `{"flatrate_id":%d,"sort_order":10}`, rate)
	line := p.post("flatrateline", `{"flatrate_id":%d}`, rate)
	article := p.post("article", `{"number":"%s","description":"Oil","article_kind":"part","unit_type":"litre","turnover_group_id":1,"price":1}`, number)
	return []any{rate, line, article, number}
}

// ended is the token of a session that was logged out.
func (p *practice) ended() string {
	token := p.login(fullKey, "demo")
	require.Equal(p.t, 200, p.call("GET", "/authenticate/logout", token, "").Status)
	return token
}

// alter changes the database behind the desk's back, as an older administration
// would have filled it.
func (p *practice) alter(statement string, args ...any) {
	p.t.Helper()
	driver, source := "sqlite", strings.TrimPrefix(p.dsn, "sqlite:")+"?_pragma=busy_timeout(10000)"
	if strings.HasPrefix(p.dsn, "postgres") {
		driver, source = "pgx", p.dsn
	}
	db, err := sql.Open(driver, source)
	require.NoError(p.t, err)
	defer db.Close()
	_, err = db.ExecContext(context.Background(), fmt.Sprintf(statement, args...))
	require.NoError(p.t, err)
}

// raw sends bytes as they are, and reads the one answer.
func (d *desk) raw(request string) answer {
	d.t.Helper()
	base, err := url.Parse(d.base)
	require.NoError(d.t, err)
	conn, err := net.Dial("tcp", base.Host)
	require.NoError(d.t, err)
	defer conn.Close()
	require.NoError(d.t, conn.SetDeadline(time.Now().Add(30*time.Second)))
	written := make(chan struct{})
	go func() { // the desk may answer, and stop reading, before all is written
		defer close(written)
		_, _ = io.WriteString(conn, request)
	}()
	method, _, _ := strings.Cut(request, " ")
	resp, err := http.ReadResponse(bufio.NewReader(conn), &http.Request{Method: method})
	require.NoError(d.t, err)
	data, err := io.ReadAll(resp.Body)
	require.NoError(d.t, err)
	require.NoError(d.t, conn.Close())
	<-written
	a := answer{Status: resp.StatusCode, Header: resp.Header, Body: data}
	a.judge(d.t, strings.SplitN(request, "\r\n", 2)[0])
	return a
}

// rawRequest is a request without a body for raw, with the target as it is.
func rawRequest(method, target string, headers ...string) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s /webservice_v2%s HTTP/1.1\r\nHost: desk\r\nConnection: close\r\n", method, target)
	for _, h := range headers {
		b.WriteString(h + "\r\n")
	}
	return b.String() + "\r\n"
}
