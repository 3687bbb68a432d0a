package draft

import (
	"cmp"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestJSONAPISorts: whether a service of JSON:API sorts, none of its answers tells; it is asked.
// One that sorts by a single member is not sorted by, since pages need the id behind it.
func TestJSONAPISorts(t *testing.T) {
	type object = map[string]any
	for name, most := range map[string]int{"by several": 2, "by one": 1, "by none": 0} {
		t.Run(name, func(t *testing.T) {
			service := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				var rows []object
				for i, of := range []string{"B", "C", "A", "C"} {
					rows = append(rows, object{"type": "customers", "id": string("9210"[i]), "attributes": object{"name": of, "memo": "about " + of, "email": "x@example.com"}})
				}
				by := strings.FieldsFunc(r.FormValue("sort"), func(c rune) bool { return c == ',' })
				if len(by) > most && most > 0 {
					w.WriteHeader(http.StatusBadRequest)
					return
				}
				slices.SortStableFunc(rows, func(a, b object) int {
					for _, member := range by[:min(most, len(by))] {
						of := func(row object) string {
							if name := strings.TrimPrefix(member, "-"); name != "id" {
								return row["attributes"].(object)[name].(string)
							}
							return row["id"].(string)
						}
						c := cmp.Compare(of(a), of(b))
						if strings.HasPrefix(member, "-") {
							c = -c
						}
						if c != 0 {
							return c
						}
					}
					return 0
				})
				_ = json.NewEncoder(w).Encode(object{"data": rows})
			}))
			defer service.Close()
			s, err := Asked{URL: service.URL}.Sample(t.Context(), "/customers")
			require.NoError(t, err)
			require.Equal(t, "/customers", s.Path)
			d := heard(t, Options{Samples: []Sample{s}})
			if most < 2 {
				require.NotContains(t, d.Text, "{sort}")
				require.Contains(t, d.Text, "Does it sort?")
				return
			}
			require.Contains(t, d.Text, `sort: "{sort}"`)
			require.Contains(t, d.Text, `sort: {by: {id: [id, "-id"], name: [name, "-name"], note: [memo, "-memo"]}}`)
			require.NotContains(t, d.Text, "Does it sort?")
		})
	}
}
