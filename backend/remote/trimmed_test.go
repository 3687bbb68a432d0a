package remote

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"frontdesk/backend"
	"frontdesk/mapping"
)

const trimmedSheet = `
format: 1
source: {http: {url: "${GARAGE_URL}", retries: 0}}
keep: keep.db
rules: backend
accounts: {users: []}
resources:
  article:
    key: {columns: nr}
    client: ""
    operations: {list: {path: "PATH"}}
    fields: {number: {from: code, TRIM}, description: {constant: x}, article_kind: {constant: part}, unit_type: {constant: piece}, turnover_group_id: {absent: true}}
`

// TestTrimmedTexts: a text that trim shows otherwise is found by what is shown and by nothing else, and
// where the path names it the service is still asked for it. Between, trim alone let the case go
// unheeded, and a list by its path was empty.
func TestTrimmedTexts(t *testing.T) {
	service := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		rows := []map[string]any{}
		for i, code := range []string{"AB", "ab  ", " AB"} {
			if asked := strings.TrimPrefix(r.URL.Path, "/articles/"); asked == r.URL.Path || asked == code {
				rows = append(rows, map[string]any{"nr": i + 1, "code": code})
			}
		}
		_ = json.NewEncoder(w).Encode(rows)
	})
	for _, test := range []struct {
		path, trim, asked string
		found             []int32
	}{
		{"/articles", "trim: right", "AB", []int32{1}},
		{"/articles", "trim: right", "ab", []int32{2}},
		{"/articles", "trim: right", "ab ", []int32{2}},
		{"/articles", "trim: right", " AB", []int32{3}},
		{"/articles", "trim: both", "AB", []int32{1, 3}},
		{"/articles", "trim: both, case: upper", "ab", []int32{1, 2, 3}},
		{"/articles/{filter.number}", "trim: right", "AB", []int32{1}},
	} {
		s := served(t, strings.NewReplacer("PATH", test.path, "TRIM", test.trim).Replace(trimmedSheet), service)
		articles := s.Sheet.Model.Resource("article")
		page, err := front(t, s).List(bg(), articles, backend.Query{Client: noord, Limit: 10, Filters: []backend.Filter{{Field: articles.Field("number"), Value: mapping.TextValue(test.asked)}}})
		require.NoError(t, err, "%+v", test)
		var found []int32
		for _, rec := range page.Records {
			found = append(found, rec.ID())
		}
		require.Equal(t, test.found, found, "%+v", test)
	}
}
