package remotetest_test

import (
	"bytes"
	"encoding/json"
	"flag"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"frontdesk/auth/authtest"
	"frontdesk/backend/remote/remotetest"
)

var update = flag.Bool("update", false, "write the recorded calls in testdata anew")

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// clock is a time that tests set.
type clock struct{ *authtest.Clock }

func newClock() *clock {
	return &clock{authtest.ClockAt(time.Date(2026, time.July, 1, 8, 0, 0, 0, time.UTC))}
}

func (c *clock) advance(d time.Duration) { c.Advance(d) }

// serve runs a handler for the test, with a client that leaves nothing behind.
func serve(t *testing.T, h http.Handler) (url string, client *http.Client) {
	t.Helper()
	server := httptest.NewServer(h)
	t.Cleanup(server.Close)
	return server.URL, server.Client()
}

// garage is a Garage Cloud under test and a client that is logged on.
type garage struct {
	*remotetest.JSON
	t      *testing.T
	clock  *clock
	url    string
	client *http.Client
	token  string
	tenant string
}

func newGarage(t *testing.T) *garage {
	t.Helper()
	g := &garage{t: t, clock: newClock(), tenant: "garage-noord"}
	g.JSON = remotetest.NewJSON(remotetest.Options{Now: g.clock.Now})
	g.url, g.client = serve(t, g.JSON)
	g.logOn()
	return g
}

func (g *garage) logOn() {
	g.t.Helper()
	req, err := http.NewRequest(http.MethodPost, g.url+"/oauth/token", strings.NewReader("grant_type=client_credentials"))
	require.NoError(g.t, err)
	req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	req.SetBasicAuth(remotetest.ClientID, remotetest.ClientSecret)
	g.token = ""
	r := g.send(req)
	require.Equal(g.t, 200, r.status, r.raw)
	g.token = r.text("access_token")
}

// reply is an answer of Garage Cloud.
type reply struct {
	status int
	header http.Header
	raw    string
	body   any
}

// at follows a path with dots and indexes, such as "items.0.id".
func (r reply) at(path string) any {
	v := r.body
	for part := range strings.SplitSeq(path, ".") {
		switch inner := v.(type) {
		case map[string]any:
			v = inner[part]
		case []any:
			var i int
			if json.Unmarshal([]byte(part), &i) != nil || i >= len(inner) {
				return nil
			}
			v = inner[i]
		default:
			return nil
		}
	}
	return v
}

func (r reply) text(path string) string { s, _ := r.at(path).(string); return s }
func (r reply) items() []any            { list, _ := r.at("items").([]any); return list }

// call makes a call; headers come as name, value pairs.
func (g *garage) call(method, path, body string, headers ...string) reply {
	g.t.Helper()
	req, err := http.NewRequest(method, g.url+path, strings.NewReader(body))
	require.NoError(g.t, err)
	if g.tenant != "" {
		req.Header.Set("X-Tenant", g.tenant)
	}
	for i := 0; i < len(headers); i += 2 {
		req.Header.Set(headers[i], headers[i+1])
	}
	return g.send(req)
}

func (g *garage) send(req *http.Request) reply {
	g.t.Helper()
	if g.token != "" {
		req.Header.Set("Authorization", "Bearer "+g.token)
	}
	resp, err := g.client.Do(req)
	require.NoError(g.t, err)
	defer resp.Body.Close()
	raw, err := io.ReadAll(resp.Body)
	require.NoError(g.t, err)
	r := reply{status: resp.StatusCode, header: resp.Header, raw: string(raw)}
	if len(bytes.TrimSpace(raw)) > 0 {
		require.NoError(g.t, json.Unmarshal(raw, &r.body), r.raw)
	}
	return r
}

// first is the ID of the first record of a collection.
func (g *garage) first(collection string) string {
	g.t.Helper()
	id := g.call("GET", "/v3/"+collection+"?limit=1", "").text("items.0.id")
	require.NotEmpty(g.t, id)
	return id
}
