package main

import (
	"bufio"
	"bytes"
	"context"
	"math/rand/v2"
	"net"
	"net/http"
	"net/url"
	"path/filepath"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/valyala/fasthttp"
	"go.uber.org/zap"

	"frontdesk/config"
	"frontdesk/gateway"
)

// benchRecords is how many orders the benchmarks run over.
const benchRecords = 100_000

// benchData is one seeded database for all benchmarks of a run.
var benchData struct {
	once sync.Once
	dsn  string
	err  error
}

func benchDSN(b *testing.B) string {
	benchData.once.Do(func() {
		benchData.dsn = "sqlite:" + filepath.Join(b.TempDir(), "..", "..", databaseFile)
		benchData.err = seedDatabase(benchData.dsn, benchRecords)
	})
	require.NoError(b, benchData.err)
	return benchData.dsn
}

// BenchmarkHTTP sends real requests over loopback connections, 32 at once. The
// client's own work is in the figures.
func BenchmarkHTTP(b *testing.B) {
	d := startDesk(b, deskOptions{dsn: benchDSN(b), extra: "log: {access: false}"})
	token := d.login(fullKey, "demo")
	get := func(path func() string) func() []byte { return func() []byte { return asked(token, path()) } }
	fixed := func(path string) func() []byte { return func() []byte { return asked(token, path) } }
	post := func(body string) func() []byte { return func() []byte { return posted(token, body) } }
	for _, c := range []struct {
		name    string
		status  int
		request func() []byte
	}{
		{"get", 200, get(func() string { return "/order?id=" + strconv.Itoa(1+rand.IntN(benchRecords)) })},
		{"list50", 200, fixed("/order?page_size=50")},
		{"list50/page1000", 200, fixed("/order?page_size=50&page=1000")},
		{"list50/keyset", 200, fixed("/order?page_size=50&after=50000")},
		{"list50/total", 200, fixed("/order?page_size=50&total=1")},
		{"create", 201, post(benchOrder)},
		{"refused/endpoint", 400, fixed("/nowhere")},
		{"refused/token", 401, func() []byte { return []byte("GET /webservice_v2/order?id=5 HTTP/1.1\r\nHost: x\r\n\r\n") }},
		{"refused/body", 403, post(`{"contact_id":"x","nope":1}`)},
	} {
		b.Run(c.name, func(b *testing.B) { drive(b, []string{d.base}, answeredBy(c.status, c.request)) })
	}
}

const benchOrder = `{"contact_id":11,"vehicle_id":15,"employee_id":2,"kind":"workshop","order_status":"open","order_date":"2026-05-06T07:08:09Z",` +
	`"delivery_date":"2026-06-07T08:09:10Z","mileage":123456,"reference":"REF-0000012345","description":"Winter service and tyre change. ` +
	`Customer waits in the showroom; call before replacing the brake discs.","is_blocked":0,"is_archived":0}`

// answeredBy is for drive: requests that are all answered by one status.
func answeredBy(status int, request func() []byte) func() ([]byte, int) {
	return func() ([]byte, int) { return request(), status }
}

// drive sends requests over 32 kept connections, spread over the servers, and
// reads the answers. next returns a request and the status it is to be answered by.
func drive(b *testing.B, servers []string, next func() ([]byte, int)) {
	var hosts []string
	for _, base := range servers {
		u, err := url.Parse(base)
		require.NoError(b, err)
		hosts = append(hosts, u.Host)
	}
	var connections atomic.Int64
	b.SetParallelism(16) // times two cores
	b.RunParallel(func(pb *testing.PB) {
		conn, err := net.Dial("tcp", hosts[int(connections.Add(1))%len(hosts)])
		if err != nil {
			b.Error(err)
			return
		}
		defer conn.Close()
		r := bufio.NewReaderSize(conn, 64<<10)
		for pb.Next() {
			request, status := next()
			if _, err := conn.Write(request); err != nil {
				b.Error(err)
				return
			}
			if got, err := readAnswer(r); err != nil || got != status {
				b.Errorf("answered %d, %v", got, err)
				return
			}
		}
	})
}

// readAnswer reads one answer with as little work as can be.
func readAnswer(r *bufio.Reader) (status int, err error) {
	length := 0
	for {
		line, err := r.ReadSlice('\n')
		if err != nil {
			return 0, err
		}
		line = bytes.TrimSpace(line)
		if len(line) == 0 {
			break
		}
		if status == 0 {
			status, _ = strconv.Atoi(string(line[9:12]))
		}
		if value, ok := bytes.CutPrefix(line, []byte("Content-Length: ")); ok {
			length, _ = strconv.Atoi(string(value))
		}
	}
	_, err = r.Discard(length)
	return status, err
}

// BenchmarkGateway is the hot path without a network: what the stages and the
// store cost, and what they allocate.
func BenchmarkGateway(b *testing.B) {
	c := config.Default()
	c.Server.Listen, c.Ops.Listen, c.Log.Access = "127.0.0.1:0", "", false
	c.Backend.DSN = config.Secret(benchDSN(b))
	c.Mail.Folder = b.TempDir()
	keys, err := demoKeys()
	require.NoError(b, err)
	c.APIKeys = keys
	h, err := build(program{ctx: context.Background()}, c, "bench", zap.NewNop())
	require.NoError(b, err)
	defer h.close()

	serve := func(method, target, token, body string, resp *fasthttp.Response) {
		req := fasthttp.AcquireRequest()
		defer fasthttp.ReleaseRequest(req)
		req.Header.SetMethod(method)
		req.SetRequestURI(target)
		req.Header.Set("token", token)
		req.SetBodyString(body)
		h.gateway.Serve(context.Background(), req, resp, gateway.Peer{Address: "127.0.0.1"})
	}
	var resp fasthttp.Response
	serve("GET", "/webservice_v2"+loginPath(demoFullKey, "demo", "demo"), "", "", &resp)
	require.Equal(b, http.StatusOK, resp.StatusCode(), "%s", resp.Body())
	token := string(resp.Body()[len(`{"token":"`):][:36])

	for _, c := range []struct{ name, method, target, body string }{
		{"get", "GET", "/webservice_v2/order/77777", ""},
		{"list50", "GET", "/webservice_v2/order?page_size=50", ""},
		{"create", "POST", "/webservice_v2/order", benchOrder},
		{"refused/endpoint", "GET", "/webservice_v2/nowhere", ""},
		{"refused/body", "POST", "/webservice_v2/order", `{"contact_id":"x","nope":1}`},
	} {
		b.Run(c.name, func(b *testing.B) {
			b.ReportAllocs()
			var resp fasthttp.Response
			for b.Loop() {
				resp.Reset()
				serve(c.method, c.target, token, c.body, &resp)
			}
		})
	}
}
