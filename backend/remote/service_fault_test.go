package remote

import (
	"crypto/x509"
	"encoding/pem"
	"net/http"
	"net/http/httptest"
	"os"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"frontdesk/backend"
	"frontdesk/mapping"
)

// A log-on that fails is no 401 of the client's, and is not tried by all at once.
func TestLogOnThatFails(t *testing.T) {
	var asked atomic.Int32
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		asked.Add(1)
		w.WriteHeader(http.StatusUnauthorized)
		_, _ = w.Write([]byte(`{"error":"invalid_client"}`))
	}))
	t.Cleanup(server.Close)
	d := openDriver(t, `
format: 2
source: {http: {url: "${URL}", log_on: {request: {path: /token}, token: token, headers: {Authorization: "{token}"}}}}
rules: backend
accounts: {users: []}
resources:
  contact: {key: id, get: {path: "/contacts/{key}"}, fields: {kind: {constant: person}, name: name}}
`, server.URL, "")
	client := front(t, d)
	for range 5 {
		_, err := client.Get(bg(), client.Model().Resource("contact"), backend.Query{Client: noord, ID: 1})
		requireUnavailable(t, err, mapping.BackendUnavailable)
	}
	require.EqualValues(t, 1, asked.Load())
	require.Error(t, d.Ping(bg()))
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
	sh.Source.Service.CAFile = file
	s = open(t, Options{Sheet: sh, IDStore: openIDStore(t)})
	for range 3 {
		_, err = s.Get(bg(), order, backend.Query{Client: anna, ID: 12345})
		require.NoError(t, err)
	}
}
