package records

import (
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"frontdesk/cmd/frontdesk/desk"
	"frontdesk/cmd/frontdesk/rig"
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
