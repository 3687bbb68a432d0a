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
	"frontdesk/mapping"
	"frontdesk/mapping/sheet"
)

func TestExplain(t *testing.T) {
	g := newGarage(t, remotetest.Options{})
	explain := func(sh *sheet.Sheet, resource string, op mapping.Scope) []string {
		x, err := Explainer(Options{Sheet: sh})
		require.NoError(t, err)
		lines, err := x.Explain(sh.Model.Resource(resource), op)
		require.NoError(t, err)
		return lines
	}
	require.Equal(t, []string{
		"PATCH " + g.store.Sheet.Source.HTTP.URL + "/v3/turnover-groups/{key}",
		`If-Match: "v{version}"`,
		"Content-Type: application/json",
		"X-Tenant: {client.name}",
		"Authorization: Bearer {token}",
		`{"code":"{code}","label":"{description}","vatRate":"{vat_kind}","ledger":{"domestic":"{ledger_account}","eu":"{ledger_account_eu}","export":"{ledger_account_export}"},"blocked":"{is_blocked}","archived":"{is_archived}"}`,
		"the record is at the answer itself",
	}, explain(g.store.Sheet, "turnovergroup", mapping.OpUpdate))
	lines := strings.Join(explain(g.store.Sheet, "orderline", mapping.OpGet), "\n")
	require.Contains(t, lines, "/v3/orders/{key.1}/lines/{key.2}")
	require.Contains(t, lines, "article_id ← article.id")
	_, err := g.store.Explain(g.model.Resource("country"), mapping.OpDelete)
	require.ErrorContains(t, err, "there is no delete of country")
	a := newAutolijn(t, remotetest.Options{})
	for _, r := range a.model.Resources {
		for _, op := range []mapping.Scope{mapping.OpGet, mapping.OpList, mapping.OpCreate, mapping.OpUpdate, mapping.OpDelete} {
			if !a.store.Supports(r, op) {
				continue
			}
			lines := strings.Join(explain(a.store.Sheet, r.Name, op), "\n")
			require.NotContains(t, lines, "geheim")
			require.NotContains(t, lines, "cannot be shown")
		}
	}
}

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

func TestProbeOfAdapter(t *testing.T) {
	s, c := protocolFixture(t)
	create(t, c, anna, "contact", `{"kind":"person","name":"Wit"}`)
	probed, err := s.Probe(bg(), c.Model().Resource("contact"), backend.Query{Client: anna, Limit: 10})
	require.NoError(t, err)
	require.Equal(t, 1, probed.Records)
	require.Empty(t, probed.Findings)
	x, err := Explainer(Options{Sheet: s.Sheet})
	require.NoError(t, err)
	lines, err := x.Explain(c.Model().Resource("contact"), mapping.OpGet)
	require.NoError(t, err)
	require.Contains(t, lines[0], "/v1/records/contact/{id}")
}
