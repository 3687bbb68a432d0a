package rig

import (
	"bufio"
	"context"
	"crypto/sha256"
	"database/sql"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"frontdesk/backend/backendtest"
	"frontdesk/cmd/frontdesk/desk"
	"frontdesk/cmd/frontdesk/rig/await"
)

// Needs are the reasons of the cases that need something.
func Needs(report *backendtest.Report) (all []string) {
	for _, r := range report.Results {
		if r.Status == backendtest.Needs {
			all = append(all, r.Reason)
		}
	}
	return all
}

// Counts is how many records there are of what has a list of its own.
func (p *Practice) Counts() string {
	p.Token = p.Login(FullKey, "demo")
	var b strings.Builder
	for _, resource := range []string{"contact", "order", "vehicle", "employee", "article", "country", "flatrate"} {
		total := regexp.MustCompile(`"total":\d+`).Find(p.Call("GET", "/"+resource+"?page_size=1&total=1", p.Token, "").Body)
		fmt.Fprintf(&b, "%s %s\n", resource, total)
	}
	return b.String()
}

// As is the practice with another session.
func (p *Practice) As(token string) *Practice {
	inner := *p
	inner.Token = token
	return &inner
}

// Group is the id of a turnover group of the sample data.
func (p *Practice) Group(code string) int {
	p.T.Helper()
	found := Ids(p.Page("/turnovergroup?code=" + code))
	require.Len(p.T, found, 1, code)
	return found[0]
}

// Model is the fields of a resource as GET /model describes them.
func (p *Practice) Model(resource string) []map[string]any {
	p.T.Helper()
	var body struct {
		Data struct{ Fields []map[string]any }
	}
	require.NoError(p.T, json.Unmarshal(p.Call("GET", "/model/"+resource, p.Token, "").Body, &body))
	return body.Data.Fields
}

// Letter waits for the only mail there is to be, asking the desk something else
// meanwhile.
func (p *Practice) Letter() string {
	p.T.Helper()
	var files []string
	await.True(p.T, func() bool {
		p.Call("GET", "/authenticate", p.Token, "")
		var err error
		files, err = filepath.Glob(filepath.Join(p.Mail, "*.eml"))
		require.NoError(p.T, err)
		return len(files) > 0
	}, "no mail was written")
	require.Len(p.T, files, 1)
	return Read(p.T, files[0])
}

// Submit sends the form of the reset page.
func (p *Practice) Submit(reset, password, repeat string) Answer {
	form := url.Values{"reset": {reset}, "password": {password}, "repeat": {repeat}}
	a := p.Call("POST", "/authenticate/resetpassword", "", form.Encode(), "Content-Type", "application/x-www-form-urlencoded")
	require.Equal(p.T, "text/html; charset=utf-8", a.Header.Get("Content-Type"))
	return a
}

// Twice sends a request under one Idempotency-Key twice at once, and holds whichever gets
// to the administration until the other was answered, whose answer it returns. What else
// of the desk asks the administration meanwhile, such as a job, is held as well.
func (p *Practice) Twice(method, path, body string) Answer {
	p.T.Helper()
	key := fmt.Sprint("at-once-", p.Next())
	release := make(chan struct{})
	p.Faults.Set(func(context.Context) error { <-release; return nil })
	answers := make(chan Answer, 2)
	for range 2 {
		go func() {
			a, _ := p.Try(method, path, p.Token, body, "Idempotency-Key", key)
			answers <- a
		}()
	}
	refused := <-answers
	close(release)
	require.Contains(p.T, []int{200, 201}, (<-answers).Status)
	refused.Judge(p.T, method+" "+path)
	return refused
}

// Practice is a desk with what it takes to bring about errors: a session, a
// driver that fails on demand, and the database itself.
type Practice struct {
	*Desk
	T      testing.TB
	Token  string
	Faults *Faults
	DSN    string
	Count  *int    // of records made, for values that must be the only ones
	Backup *string // the id of one that is done
}

// Further api_keys of a practice.
const (
	SlowKey = "77777777-7777-4777-8777-777777777777"
	TinyKey = "66666666-6666-4666-8666-666666666666"
	// VehiclesKey may use vehicles only, where TinyKey may use nothing at all.
	VehiclesKey = "44444444-4444-4444-8444-444444444444"
	// PartKey may use some fields only.
	PartKey = "33333333-3333-4333-8333-333333333333"
	// ChangesKey may follow the contacts only.
	ChangesKey = "abababab-abab-4bab-8bab-abababababab"
)

// KeyConfig is an api_key for deskOptions.keys.
func KeyConfig(name, key, rest string) string {
	return fmt.Sprintf("  - name: %s\n    key_sha256: [\"%x\"]\n%s", name, sha256.Sum256([]byte(key)), rest)
}

// BodyLimit is that of a practice: more than a text field holds.
const BodyLimit = 256 << 10

// MostConnections is how many a practice has from one address: more than its tests
// open beside each other.
const MostConnections = 150

// NewPractice starts a desk; backend is more of its section backend, a comma in
// front.
func NewPractice(t *testing.T, dsn string, bound func(*desk.Bounds)) *Practice {
	p := &Practice{T: t, Faults: new(Faults), DSN: dsn, Count: new(int), Backup: new(string)}
	p.Desk = Start(t, Options{
		DSN: dsn, Wrap: p.Faults.Wrap, Server: "  body_limit: 256KiB",
		Bound: func(b *desk.Bounds) {
			b.PerAddress = MostConnections
			if bound != nil {
				bound(b)
			}
		},
		Keys: KeyConfig("slow", SlowKey, "    allow: [\"* /*\"]\n    rate: {per_second: 0.001, burst: 1}\n") +
			KeyConfig("follower", ChangesKey, "    allow: [GET /changes, GET /changes/digest, GET /contact]\n") +
			KeyConfig("vehicles", VehiclesKey, "    allow: [\"* /vehicle\"]\n") + KeyConfig("nothing", TinyKey, "    allow: []\n") +
			KeyConfig("part", PartKey, "    allow: [\"* /contact\": {without: [birth_date, note]}, POST /contact/bulk, GET /order, PUT /order: {only: [delivery_date, reference]}, GET /changes, GET /changes/digest, GET /model/*, POST /backup/owner]\n"),
	})
	p.Token = p.Login(FullKey, "demo")
	return p
}

// In is the practice within a subtest, whose failures end only that.
func (p *Practice) In(t testing.TB) *Practice {
	d := *p.Desk
	d.T = t
	inner := *p
	inner.Desk, inner.T = &d, t
	return &inner
}

// Next is a number that was not used before.
func (p *Practice) Next() int {
	*p.Count++
	return *p.Count
}

// Post creates a record that must be accepted, and returns its id.
func (p *Practice) Post(resource, body string, args ...any) int {
	p.T.Helper()
	return p.Create(p.Token, resource, fmt.Sprintf(body, args...))
}

// Put changes a record, which must be accepted.
func (p *Practice) Put(path, body string) {
	p.T.Helper()
	a := p.Call("PUT", path, p.Token, body)
	require.Equal(p.T, 200, a.Status, "%s", a.Body)
}

// The records that rows are about. Where there is nothing to say about one, it
// is as plain as it can be.

// Contact creates a contact.
func (p *Practice) Contact() int { return p.Post("contact", `{"kind":"person","name":"Jansen"}`) }

// Order creates an order in that status.
func (p *Practice) Order(status string) int {
	return p.Post("order", `{"contact_id":1,"kind":"workshop","order_status":"%s","order_date":"2026-07-01"}`, status)
}

// Line creates a line of an order.
func (p *Practice) Line(order int) int {
	return p.Post("orderline", `{"order_id":%d,"description":"Work","quantity":1,"price":10,"turnover_group_id":1}`, order)
}

// Plate is a Dutch license plate that no other vehicle has.
func (p *Practice) Plate() string {
	n := p.Next()
	return fmt.Sprintf("QQ-%03d-%c", n%1000, 'A'+n/1000)
}

// Vehicle creates a vehicle with a plate of its own.
func (p *Practice) Vehicle(more string) int {
	return p.Post("vehicle", `{"license_plate":"%s","brand":"Opel","model":"Astra"%s}`, p.Plate(), more)
}

// Alter changes the database behind the desk's back, as an older administration
// would have filled it.
func (p *Practice) Alter(statement string, args ...any) {
	p.T.Helper()
	require.NoError(p.T, alter(p.DSN, fmt.Sprintf(statement, args...)))
}

func alter(dsn, statement string) error {
	driver, source := "sqlite", strings.TrimPrefix(dsn, "sqlite:")+"?_pragma=busy_timeout(10000)"
	if strings.HasPrefix(dsn, "postgres") {
		driver = "pgx"
		source, _, _ = strings.Cut(dsn, "&pool_max_conns") // which is the pool's own
	}
	db, err := sql.Open(driver, source)
	if err != nil {
		return err
	}
	defer db.Close()
	_, err = db.ExecContext(context.Background(), statement)
	return err
}

// Settled waits until no transaction is under way that is older than what was written, on the whole server, so that
// PostgreSQL has /changes tell all of it. Other tests have such transactions too.
func (p *Practice) Settled() {
	if !strings.HasPrefix(p.DSN, "postgres") {
		return
	}
	conn := Beside(p.T, p.DSN)
	var last, oldest int64
	require.NoError(p.T, conn.QueryRow(p.T.Context(), "SELECT pg_current_xact_id()::text::bigint").Scan(&last))
	await.True(p.T, func() bool {
		require.NoError(p.T, conn.QueryRow(p.T.Context(), "SELECT pg_snapshot_xmin(pg_current_snapshot())::text::bigint").Scan(&oldest))
		return oldest > last
	})
	require.NoError(p.T, conn.Close(p.T.Context()))
}

// Raw sends bytes as they are, and reads the one answer.
func (d *Desk) Raw(request string) Answer {
	d.T.Helper()
	base, err := url.Parse(d.Base)
	require.NoError(d.T, err)
	conn, err := net.Dial("tcp", base.Host)
	require.NoError(d.T, err)
	defer conn.Close()
	written := make(chan struct{})
	go func() { // the desk may answer, and stop reading, before all is written
		defer close(written)
		_, _ = io.WriteString(conn, request)
	}()
	method, _, _ := strings.Cut(request, " ")
	resp, err := http.ReadResponse(bufio.NewReader(conn), &http.Request{Method: method})
	require.NoError(d.T, err)
	data, err := io.ReadAll(resp.Body)
	require.NoError(d.T, err)
	require.NoError(d.T, conn.Close())
	<-written
	a := Answer{Status: resp.StatusCode, Header: resp.Header, Body: data}
	a.Judge(d.T, strings.SplitN(request, "\r\n", 2)[0])
	return a
}

// RawRequest is a request without a body for raw, with the target as it is.
func RawRequest(method, target string, headers ...string) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s /webservice_v2%s HTTP/1.1\r\nHost: desk\r\nConnection: close\r\n", method, target)
	for _, h := range headers {
		b.WriteString(h + "\r\n")
	}
	return b.String() + "\r\n"
}

// GroupsSheet is a mapping sheet of one table, with the files of its database and of what it
// keeps, and the hash of a password, in place of %q.
const GroupsSheet = `format: 2
source: {sql: {engine: sqlite, dsn: %q}}
keep: %q
rules: backend
accounts: {users: [{username: demo, password_hash: %q, email: d@example.nl, client: {id: 1, name: demo}}]}
resources:
  turnovergroup:
    table: grp
    client: ""
    key: {columns: nr}
    fields: {code: code, description: oms, vat_kind: {constant: high}, ledger_account: {constant: "8000"}}
    operations: {only: [get, list]}
`
