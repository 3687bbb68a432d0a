package remote

import (
	"encoding/json"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"frontdesk/backend"
	"frontdesk/mapping"
)

const trimmedSheet = `
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
		require.Equal(t, test.found, numbered(t, s, mapping.Equals, test.asked), "%+v", test)
		if !strings.Contains(test.path, "{") {
			require.Equal(t, test.found, numbered(t, s, mapping.AnyOf, test.asked), "%+v", test)
		}
	}
}

// numbered lists the articles by a filter of their number; AnyOf asks for another number, too.
func numbered(t *testing.T, s *Store, o mapping.Operator, asked string) (found []int32) {
	t.Helper()
	articles := s.Sheet.Model.Resource("article")
	by := backend.Filter{Field: articles.Field("number"), Op: o, Value: mapping.TextValue(asked)}
	if o == mapping.AnyOf {
		by = backend.Filter{Field: by.Field, Op: o, Values: []mapping.Value{mapping.TextValue("none"), by.Value}}
	}
	page, err := front(t, s).List(bg(), articles, backend.Query{Client: noord, Limit: 10, Filters: []backend.Filter{by}})
	require.NoError(t, err)
	for _, rec := range page.Records {
		found = append(found, rec.ID())
	}
	return found
}

// TestServiceWithoutCase: a service may compare texts without case, whether it is asked for one or for several. Before, what it found
// of several was dropped where the case was another.
func TestServiceWithoutCase(t *testing.T) {
	service := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		rows := []map[string]any{}
		for i, code := range []string{"AB", "ab", "CD"} {
			if slices.ContainsFunc(r.URL.Query()["code"], func(asked string) bool { return strings.EqualFold(asked, code) }) {
				rows = append(rows, map[string]any{"nr": i + 1, "code": code})
			}
		}
		_ = json.NewEncoder(w).Encode(rows)
	})
	for o, placeholder := range map[mapping.Operator]string{mapping.Equals: "{filter.number}", mapping.AnyOf: "{filter.number.in}"} {
		text := strings.NewReplacer(`path: "PATH"`, `path: /articles, query: {code: "`+placeholder+`"}`, ", TRIM", "").Replace(trimmedSheet)
		require.Equal(t, []int32{1, 2}, numbered(t, served(t, text, service), o, "Ab"), "%s", o)
	}
}
