package remote

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/stretchr/testify/require"

	"frontdesk/auth"
	"frontdesk/backend"
	"frontdesk/mapping"
)

// TestWhatTheInterfaceDerivesIsSent: before, the size and the sum of a content were
// derived by the drivers of databases alone.
func TestWhatTheInterfaceDerivesIsSent(t *testing.T) {
	var sent map[string]any
	service := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		stored := map[string]any{"id": 5, "org": 1, "file": "a.txt", "about": "contact", "of": 7, "bytes": nil}
		if r.Method != http.MethodGet {
			sent = nil
			_ = json.NewDecoder(r.Body).Decode(&sent)
			for key, v := range sent {
				stored[key] = v
			}
		}
		_ = json.NewEncoder(w).Encode(stored)
	})
	server := httptest.NewServer(service)
	t.Cleanup(server.Close)
	s := openDriver(t, `
format: 2
source: {http: {url: "${URL}"}}
rules: backend
client: org
accounts: {users: []}
resources:
  document:
    path: /d
    key: id
    operations: {only: [get, create, update]}
    fields: {name: file, size: bytes, sha256: {path: sum, readonly: true}, content: content, resource: about, resource_id: of}
`, server.URL, "")
	c := front(t, s)

	one := auth.Client{ID: 1, Name: "one"}
	rec := mapping.NewRecord(s.Sheet.Model.Resource("document"))
	rec.Set("name", mapping.TextValue("a.txt"))
	rec.Set("resource", mapping.TextValue("contact"))
	rec.Set("resource_id", mapping.IntValue(7))
	rec.Set("content", mapping.BytesValue([]byte("Hello")))
	stored, err := c.Create(t.Context(), one, mapping.BodyOf(rec), backend.Write{})
	require.NoError(t, err)
	require.EqualValues(t, 5, sent["bytes"])
	require.NotContains(t, sent, "sum", "the service keeps it itself")
	require.EqualValues(t, 5, stored.Get("size").Int())

	patch := mapping.NewRecord(rec.Resource)
	patch.Set("content", mapping.BytesValue([]byte("Hello, world")))
	_, err = c.Update(t.Context(), one, 5, mapping.BodyOf(patch), backend.Write{})
	require.NoError(t, err)
	require.EqualValues(t, 12, sent["bytes"])
}
