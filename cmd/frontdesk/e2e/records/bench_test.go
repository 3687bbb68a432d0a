package records

import (
	"context"
	"math/rand/v2"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/valyala/fasthttp"

	"frontdesk/cmd/frontdesk/desk"
	"frontdesk/cmd/frontdesk/rig"
	"frontdesk/config"
	"frontdesk/gateway"
)

// benchData is one seeded database for all benchmarks of a run.
var benchData struct {
	once   sync.Once
	folder string
	err    error
}

func benchDSN(b *testing.B) string {
	benchData.once.Do(func() {
		if benchData.folder, benchData.err = os.MkdirTemp("", "frontdesk-bench-"); benchData.err == nil {
			benchData.err = rig.SeedDatabase("sqlite:"+filepath.Join(benchData.folder, desk.DatabaseFile), rig.BenchRecords)
		}
	})
	require.NoError(b, benchData.err)
	return "sqlite:" + filepath.Join(benchData.folder, desk.DatabaseFile)
}

func removeBenchData() error { return os.RemoveAll(benchData.folder) } // of "" it removes nothing

// BenchmarkHTTP sends real requests over loopback connections, 32 at once. The
// client's own work is in the figures.
func BenchmarkHTTP(b *testing.B) {
	d := rig.Start(b, rig.Options{DSN: benchDSN(b), Extra: "log: {access: false}"})
	token := d.Login(rig.FullKey, "demo")
	get := func(path func() string) func() []byte { return func() []byte { return rig.Asked(token, path()) } }
	fixed := func(path string) func() []byte { return func() []byte { return rig.Asked(token, path) } }
	post := func(body string) func() []byte { return func() []byte { return rig.Posted(token, body) } }
	for _, c := range []struct {
		name    string
		status  int
		request func() []byte
	}{
		{"get", 200, get(func() string { return "/order?id=" + strconv.Itoa(1+rand.IntN(rig.BenchRecords)) })},
		{"list50", 200, fixed("/order?page_size=50")},
		{"list50/page1000", 200, fixed("/order?page_size=50&page=1000")},
		{"list50/keyset", 200, fixed("/order?page_size=50&after=50000")},
		{"list50/total", 200, fixed("/order?page_size=50&total=1")},
		{"create", 201, post(rig.BenchOrder)},
		{"refused/endpoint", 400, fixed("/nowhere")},
		{"refused/token", 401, func() []byte { return []byte("GET /webservice_v2/order?id=5 HTTP/1.1\r\nHost: x\r\n\r\n") }},
		{"refused/body", 403, post(`{"contact_id":"x","nope":1}`)},
	} {
		b.Run(c.name, func(b *testing.B) { rig.Drive(b, []string{d.Base}, answeredBy(c.status, c.request)) })
	}
}

// answeredBy is for drive: requests that are all answered by one status.
func answeredBy(status int, request func() []byte) func() ([]byte, int) {
	return func() ([]byte, int) { return request(), status }
}

// BenchmarkGateway is the hot path without a network: what the stages and the
// store cost, and what they allocate.
func BenchmarkGateway(b *testing.B) {
	c := config.Default()
	c.Server.Listen, c.Ops.Listen, c.Log.Access = "127.0.0.1:0", "", false
	c.Backend.DSN = config.Secret(benchDSN(b))
	c.Mail.Folder = b.TempDir()
	demo, err := desk.DemoConfig("", "", "")
	require.NoError(b, err)
	c.APIKeys = demo.APIKeys
	h, err := desk.Build(desk.Program{Ctx: context.Background()}, c, "bench", desk.NoLogs())
	require.NoError(b, err)
	defer h.Close()

	serve := func(method, target, token, body string, resp *fasthttp.Response) {
		req := fasthttp.AcquireRequest()
		defer fasthttp.ReleaseRequest(req)
		req.Header.SetMethod(method)
		req.SetRequestURI(target)
		req.Header.Set("token", token)
		req.SetBodyString(body)
		h.Gateway.Serve(context.Background(), req, resp, gateway.Peer{Address: "127.0.0.1"})
	}
	var resp fasthttp.Response
	serve("GET", "/webservice_v2"+rig.LoginPath(desk.DemoFullKey, "demo", "demo"), "", "", &resp)
	require.Equal(b, http.StatusOK, resp.StatusCode(), "%s", resp.Body())
	token := string(resp.Body()[len(`{"token":"`):][:36])

	for _, c := range []struct{ name, method, target, body string }{
		{"get", "GET", "/webservice_v2/order/77777", ""},
		{"list50", "GET", "/webservice_v2/order?page_size=50", ""},
		{"create", "POST", "/webservice_v2/order", rig.BenchOrder},
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
