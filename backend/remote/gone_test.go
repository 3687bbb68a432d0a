package remote

import (
	"io"
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"

	"frontdesk/backend"
	"frontdesk/mapping"
)

// TestWritesOfWhatIsGone has a service that shows a record and knows none of it when it is
// written: a program of the vendor has removed it meanwhile. Before, that was a failure of ours.
func TestWritesOfWhatIsGone(t *testing.T) {
	service := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method != http.MethodGet {
			w.WriteHeader(http.StatusNotFound)
			return
		}
		_, _ = io.WriteString(w, `{"nr":5,"name":"N"}`)
	})
	s := served(t, `
format: 1
source: {http: {url: "${GARAGE_URL}"}}
keep: keep.db
rules: backend
accounts: {users: []}
resources:
  contact:
    key: {columns: nr}
    operations: {get: {path: "/c/{key}"}, update: {path: "/c/{key}"}, delete: {path: "/c/{key}"}}
    fields: {kind: {constant: person}, name: name}
`, service)
	c, r := front(t, s), s.Sheet.Model.Resource("contact")
	_, err := c.Update(bg(), anna, 5, patch(t, r, `{"name":"M"}`), backend.Write{})
	require.True(t, mapping.Is(err, mapping.RecordNotFound), "%v", err)
	require.Equal(t, "Field: id value: 5 not found", wording(t, err, mapping.OpUpdate))
	err = c.Delete(bg(), anna, r, 5, backend.Write{})
	require.True(t, mapping.Is(err, mapping.RecordNotFound), "%v", err)
	require.Equal(t, "closed", c.State())
}
