package mapfixture

import (
	"errors"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// TestDifferences compares bodies, with what stands for what varies.
func TestDifferences(t *testing.T) {
	for name, c := range map[string]struct {
		expected, seen string
		lines          []string
	}{
		"same":               {`{"a": [1, "x", null], "b": true}`, `{"b": true, "a": [1.0, "x", null]}`, nil},
		"any":                {`{"a": "<any>", "b": "<any>"}`, `{"a": {"c": 1}, "b": null}`, nil},
		"id":                 {`{"id": "<id>"}`, `{"id": 17}`, nil},
		"no id":              {`{"id": "<id>"}`, `{"id": 0}`, []string{`- id: "<id>"`, `+ id: 0`}},
		"id that is text":    {`{"id": "<id>"}`, `{"id": "17"}`, []string{`- id: "<id>"`, `+ id: "17"`}},
		"timestamp":          {`{"at": "<timestamp>"}`, `{"at": "2026-07-01T10:00:00.000Z"}`, nil},
		"no timestamp":       {`{"at": "<timestamp>"}`, `{"at": "2026-07-01"}`, []string{`- at: "<timestamp>"`, `+ at: "2026-07-01"`}},
		"value":              {`{"data": {"price": 1.25}}`, `{"data": {"price": 1.26}}`, []string{`- data.price: 1.25`, `+ data.price: 1.26`}},
		"null":               {`{"a": null}`, `{"a": ""}`, []string{`- a: null`, `+ a: ""`}},
		"member left out":    {`{"a": 1, "b": 2}`, `{"a": 1}`, []string{`- b: 2`}},
		"member too many":    {`{"a": 1}`, `{"a": 1, "b": {"c": 2}}`, []string{`+ b: {"c":2}`}},
		"element left out":   {`{"data": [{"id": 1}, {"id": 2}]}`, `{"data": [{"id": 1}]}`, []string{`- data[1]: {"id":2}`}},
		"element in a list":  {`{"data": [{"id": 1}, {"id": 2}]}`, `{"data": [{"id": 1}, {"id": 3}]}`, []string{`- data[1].id: 2`, `+ data[1].id: 3`}},
		"list and no list":   {`{"data": []}`, `{"data": {}}`, []string{`- data: []`, `+ data: {}`}},
		"text for a number":  {`{"a": 1}`, `{"a": "1"}`, []string{`- a: 1`, `+ a: "1"`}},
		"longer than a line": {`{"a": "` + strings.Repeat("x", 90) + `"}`, `{"a": 1}`, []string{`- a: "` + strings.Repeat("x", 69) + "…", `+ a: 1`}},
	} {
		expected, err := parse(c.expected)
		require.NoError(t, err, name)
		seen, err := parse(c.seen)
		require.NoError(t, err, name)
		require.Equal(t, c.lines, differences("", expected, seen), name)
	}
}

func plainText(text string) (string, error) { return text, nil }

func written(t *testing.T, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "fixture.yaml")
	require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
	return path
}

// TestRecord writes answers into a file, which reads again as the same.
func TestRecord(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("ETag", `"7"`)
		switch {
		case r.Method == http.MethodPost:
			w.WriteHeader(http.StatusCreated)
			_, _ = w.Write([]byte(`{"data": {"id": 5, "name": "<b> & \"c\"", "created_at": "2026-07-01T10:00:00.000Z", "modified_at": null}}`))
		case r.URL.Path == "/x/5":
			_, _ = w.Write([]byte(`{"data": {"id": 5}, "page": 1}`))
		default:
			w.WriteHeader(http.StatusNoContent)
		}
	}))
	defer server.Close()
	path := written(t, `# Kept.
cases:
  - name: 'made: "x"'
    request:
      method: POST
      path: /x
      headers: {Idempotency-Key: a}
      body: |
        {"name": "x"}
    answer: {headers: {ETag: <any>}}
    keep: {x: data.id}
  - {name: found, request: {path: "/x/{x}"}}
  - {name: nothing, request: {method: DELETE, path: "/x/{x}/y"}}
`)
	transport := http.DefaultTransport.(*http.Transport).Clone()
	defer transport.CloseIdleConnections()
	g := Gateway{BaseURL: server.URL, HTTP: &http.Client{Transport: transport}, Now: time.Now, Record: true}
	f, err := Read(path, plainText, true)
	require.NoError(t, err)
	_, err = Read(path, plainText, false)
	require.ErrorContains(t, err, "cases[0].answer.status: found 0, expected a status such as 200, or map test --record")
	results, err := g.Run(t.Context(), f)
	require.NoError(t, err)
	require.Len(t, results, 3)
	text := f.Text()
	require.NoError(t, os.WriteFile(path, text, 0o600))
	require.Equal(t, `# Kept.
cases:
  - name: "made: \"x\""
    request:
      method: POST
      path: "/x"
      headers:
        Idempotency-Key: "a"
      body: |
        {"name": "x"}
    answer:
      status: 201
      headers:
        ETag: "<any>"
      body: |
        {
          "data": {
            "id": "<id>",
            "name": "<b> & \"c\"",
            "created_at": "<timestamp>",
            "modified_at": null
          }
        }
    keep:
      x: "data.id"
  - name: "found"
    request:
      method: GET
      path: "/x/{x}"
    answer:
      status: 200
      body: |
        {
          "data": {
            "id": 5
          },
          "page": 1
        }
  - name: "nothing"
    request:
      method: DELETE
      path: "/x/{x}/y"
    answer:
      status: 204
`, string(text))
	again, err := Read(path, plainText, false)
	require.NoError(t, err)
	g.Record = false
	results, err = g.Run(t.Context(), again)
	require.NoError(t, err)
	for _, r := range results {
		require.True(t, r.Passed(), "%s: %v", r.Case, r.Differences)
	}
}

// TestRead holds what is wrong with a fixture to its place.
func TestRead(t *testing.T) {
	for text, want := range map[string]string{
		"cases: []\n":                     "1:8: cases: missing, expected at least one case",
		"login: {username: a}\ncases: []": "1:8: login: expected username and password, or none of them",
		"cases:\n  - {name: a, request: {path: /x}, answer: {status: 99}}\n":                                                             "cases[0].answer.status: found 99",
		"cases:\n  - {name: a, request: {path: /x}, answer: {status: 200, body: '{'}}\n":                                                 "cases[0].answer.body: is no JSON",
		"cases:\n  - {name: a, request: {path: /x}, answer: {status: 200}}\n  - {name: a, request: {path: /x}, answer: {status: 200}}\n": `3:12: cases[1].name: found "a", expected a name that no other case has`,
	} {
		_, err := Read(written(t, text), plainText, false)
		require.ErrorContains(t, err, want)
	}
	_, err := Read(written(t, "login: {username: a, password: \"${X}\"}\ncases: []\n"), func(s string) (string, error) {
		if s == "${X}" {
			return "", errors.New("variable X is not set")
		}
		return s, nil
	}, false)
	require.ErrorContains(t, err, "login.password: variable X is not set")
	_, err = Read(filepath.Join(t.TempDir(), "none.yaml"), plainText, false)
	require.ErrorIs(t, err, os.ErrNotExist)
}
