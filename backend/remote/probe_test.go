package remote

import (
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"frontdesk/backend"
	"frontdesk/backend/remote/remotetest"
)

func TestProbe(t *testing.T) {
	g := newGarage(t, remotetest.Options{})
	contacts := g.model.Resource("contact")
	probed, err := g.store.Probe(bg(), contacts, backend.Query{Client: noord, Limit: 10})
	require.NoError(t, err)
	require.Equal(t, 10, probed.Records)
	require.Empty(t, probed.Findings)

	// The same service, with a sheet that has it wrong.
	text, err := os.ReadFile("testdata/garagecloud.yaml")
	require.NoError(t, err)
	wrong := strings.NewReplacer("name: lastNameOrCompany", "name: lastName", "BUSINESS: company", "FIRM: company").Replace(string(text))
	server := httptest.NewServer(http.HandlerFunc(g.ServeHTTP))
	defer server.Close()
	file := t.TempDir() + "/wrong.yaml"
	require.NoError(t, os.WriteFile(file, []byte(wrong), 0o600))
	s := open(t, Options{Sheet: loadSheetFile(t, file, server.URL), IDStore: openIDStore(t)})
	probed, err = s.Probe(bg(), s.Sheet.Model.Resource("contact"), backend.Query{Client: noord, Limit: 10})
	require.NoError(t, err)
	require.Contains(t, probed.Findings, Finding{Field: "name", Place: "lastName", What: "no answer has it"})
	require.Contains(t, probed.Findings[1].What, "BUSINESS")
}
