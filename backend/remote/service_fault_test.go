package remote

import (
	"crypto/x509"
	"encoding/pem"
	"net/http"
	"net/http/httptest"
	"os"
	"testing"

	"github.com/stretchr/testify/require"

	"frontdesk/backend"
	"frontdesk/cmd/frontdesk/rig/must"
)

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
		must.Have(s.Get(bg(), order, backend.Query{Client: anna, ID: 12345}))(t)
	}
}
