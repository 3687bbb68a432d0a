package remote

import (
	"context"
	"crypto/x509"
	"encoding/pem"
	"net/http"
	"net/http/httptest"
	"os"
	"testing"

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

func TestTLS(t *testing.T) {
	server := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = w.Write([]byte(orderRecord()))
	}))
	defer server.Close()
	sh := plainSheet(t, server.URL, "")
	s := open(t, Options{Sheet: sh, IDStore: openIDStore(t)})
	order := sh.Model.Resource("order")
	_, err := s.Get(bg(), order, backend.Query{Client: anna, ID: 12345})
	var unknown x509.UnknownAuthorityError
	require.ErrorAs(t, err, &unknown)
	file := t.TempDir() + "/ca.pem"
	require.NoError(t, os.WriteFile(file, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: server.Certificate().Raw}), 0o600))
	sh.Source.HTTP.CAFile = file
	s = open(t, Options{Sheet: sh, IDStore: openIDStore(t)})
	for range 3 {
		_, err = s.Get(bg(), order, backend.Query{Client: anna, ID: 12345})
		require.NoError(t, err)
	}
	ctx, cancel := context.WithTimeout(bg(), ample)
	defer cancel()
	_, err = s.Get(ctx, order, backend.Query{Client: anna, ID: 12345})
	require.NoError(t, err)
}
