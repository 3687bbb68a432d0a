package remote

import (
	"context"
	"crypto/x509"
	"encoding/pem"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"frontdesk/backend"
	"frontdesk/backend/remote/remotetest"
	"frontdesk/mapping"
)

// faultyGarage is Garage Cloud with a proxy before it.
func faultyGarage(t *testing.T, o backend.Options) (*garage, *remotetest.FaultProxy) {
	g := &garage{JSON: remotetest.NewJSON(remotetest.Options{})}
	server := httptest.NewServer(g.JSON)
	t.Cleanup(server.Close)
	proxy, err := remotetest.NewFaultProxy(server.Listener.Addr().String())
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, proxy.Close()) })
	sh := loadSheet(t, "garagecloud.yaml", proxy.URL())
	sh.Source.HTTP.MaxAnswer = 1 << 20
	g.store = open(t, Options{Sheet: sh, IDStore: openIDStore(t)})
	g.client, err = backend.NewClient(g.store, sh.Model, o)
	require.NoError(t, err)
	g.model = sh.Model
	return g, proxy
}

func TestGarageBehindFaults(t *testing.T) {
	g, proxy := faultyGarage(t, backend.Options{Timeout: ample, CircuitFailures: 1000})
	patient := g.client
	brief, err := backend.NewClient(g.store, g.model, backend.Options{Timeout: 400 * time.Millisecond, CircuitFailures: 1000})
	require.NoError(t, err)
	contacts := g.model.Resource("contact")
	posts := func() int { return g.Calls("POST /v3/{collection}") }
	never := make(chan struct{})
	for _, f := range []remotetest.Fault{
		{Kind: remotetest.Refuse}, {Kind: remotetest.ResetOnAccept}, {Kind: remotetest.ResetBefore}, {Kind: remotetest.ResetAfter},
		{Kind: remotetest.ResetMidAnswer, Bytes: 300}, {Kind: remotetest.Truncate, Bytes: 100}, {Kind: remotetest.HalfOpen},
		{Kind: remotetest.SlowBody, Gate: never}, {Kind: remotetest.EndlessBody, Body: `{"items":[`}, {Kind: remotetest.Storm},
		{Kind: remotetest.Storm, Status: 500, Body: "Traceback: password=let-me-in"}, {Kind: remotetest.Storm, Status: 200, Body: "{}"},
	} {
		require.NoError(t, proxy.Set(remotetest.Fault{}))
		known := g.first(t, "contact")
		before := posts()
		require.NoError(t, proxy.Set(f))
		if f.Kind == remotetest.HalfOpen || f.Kind == remotetest.SlowBody {
			g.client = brief
		}
		_, err := g.client.Create(bg(), noord, body(t, contacts, `{"kind":"person","name":"Once"}`), backend.Write{})
		requireUnavailable(t, err, mapping.BackendUnavailable, mapping.BackendTimeout, mapping.InternalError)
		require.LessOrEqual(t, posts()-before, 1)
		_, err = g.client.List(bg(), contacts, backend.Query{Client: noord, Limit: 10})
		requireUnavailable(t, err, mapping.BackendUnavailable, mapping.BackendTimeout, mapping.InternalError)
		_, err = g.client.Get(bg(), contacts, backend.Query{Client: noord, ID: known.ID()})
		requireUnavailable(t, err, mapping.BackendUnavailable, mapping.BackendTimeout, mapping.InternalError)
		g.client = patient
	}
}

// A log-on that fails is no 401 of the client's, and is not tried by all at once.
func TestLogOnThatFails(t *testing.T) {
	g, proxy := faultyGarage(t, backend.Options{Timeout: ample, CircuitFailures: 1000})
	require.NoError(t, proxy.Set(remotetest.Fault{Kind: remotetest.Storm, Status: 401, Body: `{"error":"invalid_client"}`}))
	for range 5 {
		_, err := g.client.List(bg(), g.model.Resource("contact"), backend.Query{Client: noord, Limit: 10})
		requireUnavailable(t, err, mapping.BackendUnavailable)
	}
	require.Equal(t, 1, proxy.Stats().Requests)
	require.Error(t, g.store.Ping(bg()))
}

// A key whose write got no answer stays taken: nobody knows what became of it.
func TestKeyOfLostWriteStaysTaken(t *testing.T) {
	g, proxy := faultyGarage(t, backend.Options{Timeout: ample})
	contacts := g.model.Resource("contact")
	require.NotEmpty(t, g.first(t, "contact"))
	keyed := func(key string) error {
		_, err := g.client.Create(bg(), noord, body(t, contacts, `{"kind":"person","name":"Lost"}`), backend.Write{Idempotency: &backend.Idempotency{
			Key: key, Sum: [32]byte{1}, Answer: func(mapping.Record) []byte { return []byte("x") },
		}})
		return err
	}
	proxy.Next(remotetest.Fault{Kind: remotetest.ResetAfter})
	requireUnavailable(t, keyed("lost"), mapping.BackendUnavailable)
	require.True(t, mapping.Is(keyed("lost"), mapping.IdempotencyInUse))
	require.Equal(t, 1, g.Calls("POST /v3/{collection}"))
	require.NoError(t, proxy.Set(remotetest.Fault{Kind: remotetest.Refuse}))
	requireUnavailable(t, keyed("unsent"), mapping.BackendUnavailable)
	require.NoError(t, proxy.Set(remotetest.Fault{}))
	require.NoError(t, keyed("unsent"), "what was never sent was not done")
}

func TestTLS(t *testing.T) {
	server := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/v1/model" {
			_, _ = w.Write([]byte(adapterModel))
			return
		}
		_, _ = w.Write([]byte(orderRecord()))
	}))
	defer server.Close()
	sh := adapterSheet(t, strings.Replace(server.URL, "127.0.0.1", "example.com", 1))
	sh.Source.Frontdesk.URL = server.URL
	_, err := Open(bg(), Options{Sheet: sh})
	var unknown x509.UnknownAuthorityError
	require.ErrorAs(t, err, &unknown)
	file := t.TempDir() + "/ca.pem"
	require.NoError(t, os.WriteFile(file, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: server.Certificate().Raw}), 0o600))
	sh.Source.Frontdesk.CAFile = file
	s := open(t, Options{Sheet: sh})
	for range 3 {
		_, err = s.Get(bg(), s.Sheet.Model.Resource("order"), backend.Query{Client: anna, ID: 12345})
		require.NoError(t, err)
	}
	ctx, cancel := context.WithTimeout(bg(), ample)
	defer cancel()
	_, err = s.Get(ctx, s.Sheet.Model.Resource("order"), backend.Query{Client: anna, ID: 12345})
	require.NoError(t, err)
}

// What an adapter says of a resource is passed on as it is; the gateway judges it.
func TestAdapterDescribesItsModel(t *testing.T) {
	says := map[string]string{"order": "<html>", "contact": `{"name":"contact"}`}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		name, found := strings.CutPrefix(r.URL.Path, "/v1/model/")
		switch {
		case r.URL.Path == "/v1/model":
			_, _ = w.Write([]byte(strings.Replace(adapterModel, `"idempotency"`, `"describes_model":true,"idempotency"`, 1)))
		case found && says[name] != "":
			_, _ = w.Write([]byte(says[name]))
		default:
			http.NotFound(w, r)
		}
	}))
	defer server.Close()
	c := front(t, open(t, Options{Sheet: adapterSheet(t, server.URL)}))
	for name, want := range map[string]string{"order": "<html>", "contact": `{"name":"contact"}`, "vehicle": ""} {
		got, err := c.DescribeModel(bg(), name)
		require.NoError(t, err)
		require.Equal(t, want, string(got))
	}
}
