package rows

import (
	"encoding/json"
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"

	"frontdesk/cmd/frontdesk/rig"
	"frontdesk/mapping"
)

// contractModel describes the very model that validates.
func contractModel(t *testing.T, p *rig.Practice) {
	model, err := mapping.LoadModel("")
	require.NoError(t, err)
	for _, r := range model.Resources {
		var body struct {
			Data struct {
				Name      string           `json:"name"`
				PrimaryID string           `json:"primary_id"`
				Fields    []map[string]any `json:"fields"`
				Changes   string           `json:"changes"`
			}
		}
		a := p.Call("GET", "/model/"+r.Name, p.Token, "")
		require.NoError(t, json.Unmarshal(a.Body, &body), "%s", a.Body)
		require.Equal(t, r.Name, body.Data.Name)
		require.Equal(t, "id", body.Data.PrimaryID)
		require.Equal(t, "all", body.Data.Changes)
		require.Len(t, body.Data.Fields, len(r.Fields))
		for i, got := range body.Data.Fields {
			f := r.Fields[i]
			require.Equal(t, f.Name, got["name"])
			want := []any{f.Required, f.Readonly, f.Unique, f.Primary, f.Type == mapping.Array}
			require.Equal(t, want, []any{got["required"], got["readonly"], got["unique"], got["primary"], got["array"]}, f.Name)
			members := 11
			if f.IsText() && f.InLists() && f.Length > mapping.MaxSearched {
				members++
				require.Equal(t, []any{"contains"}, got["not_filterable_by"], f.Name)
			}
			require.Len(t, got, members, f.Name)
		}
	}
	fields := map[any][]any{}
	for _, f := range p.Model("order") {
		fields[f["name"]] = []any{f["datatype"], f["reference"], f["custom_validation"], f["after"]}
	}
	for name, want := range map[string][]any{
		"contact_id": {"int4", "contact", nil, nil}, "kind": {"varchar", nil, "workshop|sales|parts|lease", nil},
		"delivery_date": {"timestamp", nil, nil, "order_date"}, "orderlines": {"orderline", "orderline", nil, nil},
	} {
		require.Equal(t, want, fields[name], name)
	}
	first := p.Model("order")[1]
	require.Equal(t, map[string]any{
		"name": "number", "datatype": "varchar", "length": 20.0, "required": false, "readonly": true, "unique": true, "primary": false,
		"reference": nil, "custom_validation": nil, "after": nil, "array": false,
	}, first)
}

// contractOps is the listener that is never under the base path.
func contractOps(t *testing.T, p *rig.Practice) {
	healthy := func(path string, want int) string {
		t.Helper()
		a := p.AskOps(path)
		require.Equal(t, want, a.Status, path)
		require.True(t, json.Valid(a.Body), "%s", a.Body)
		return string(a.Body)
	}
	healthy("/healthz", http.StatusOK)
	require.Contains(t, healthy("/readyz", http.StatusOK), `"ok"`)
	p.Faults.Set(rig.Fails)
	healthy("/healthz", http.StatusOK)
	require.NotContains(t, healthy("/readyz", http.StatusServiceUnavailable), "secret")
	p.Faults.None()
	healthy("/readyz", http.StatusOK)
	require.Contains(t, p.OpsText("/"), "<title>frontdesk: ok</title>")
	for _, path := range []string{"/order", "/webservice_v2/order", "/webservice_v2/healthz"} {
		require.Equal(t, http.StatusNotFound, p.AskOps(path).Status, path)
	}
}
