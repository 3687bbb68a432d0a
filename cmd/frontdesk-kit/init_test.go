package main

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestMapInitService drafts sheets of an HTTP service: of a saved answer, of a description, and
// by asking it with a token.
func TestMapInitService(t *testing.T) {
	dir := t.TempDir()
	const answer = `{"items": [{"id": 1, "name": "Jansen", "type": "BUSINESS"}, {"id": 2, "name": "Bakker", "type": "PRIVATE"}], "total": 2}`
	sample := filepath.Join(dir, "contacts.json")
	require.NoError(t, os.WriteFile(sample, []byte(answer), 0o600))
	described := filepath.Join(dir, "openapi.json")
	require.NoError(t, os.WriteFile(described, []byte(`{"swagger": "2.0", "basePath": "/v2", "paths": {"/contacts": {"get": {"responses": {"200": {"schema": {"type": "array", "items": {"$ref": "#/definitions/Contact"}}}}}}},
		"definitions": {"Contact": {"type": "object", "properties": {"id": {"type": "integer"}, "name": {"type": "string"}}}}}`), 0o600))
	var asked []string
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked = append(asked, r.Method+" "+r.URL.RequestURI()+" "+r.Header.Get("Authorization"))
		switch r.URL.Path {
		case "/contacts":
			w.Header().Set("X-Total-Count", "2")
			_, _ = fmt.Fprint(w, answer)
		case "/moved":
			http.Redirect(w, r, "/contacts", http.StatusFound)
		default:
			http.NotFound(w, r)
		}
	}))
	defer server.Close()
	t.Setenv("SERVICE_URL", server.URL)
	t.Setenv("SERVICE_TOKEN", "let-me-in")
	for name, args := range map[string][]string{
		"sample": {"--sample", "/contacts=" + sample}, "named": {"--sample", sample}, "openapi": {"--openapi", described}, "both": {"--openapi", described, "--sample", "/v2/contacts=" + sample}, "asked": {"--ask", "/contacts?limit=2"},
	} {
		draft := filepath.Join(dir, name+".yaml")
		code, _, stderr := cli("", append([]string{"map", "init", "--out", draft}, args...)...)
		require.Zero(t, code, stderr)
		require.Regexp(t, `^Of 1 path: 1 resource with \d+ fields?; \d+ guesses, \d+ lines marked TODO.\nNot found: `, stderr)
		text, err := os.ReadFile(draft)
		require.NoError(t, err)
		require.NotContains(t, string(text), "Jansen")
		require.NotContains(t, string(text), "let-me-in")
	}
	require.Equal(t, []string{"GET /contacts?limit=2 Bearer let-me-in"}, asked)

	for message, args := range map[string][]string{
		"expected --engine of a database, or --sample":              {},
		"--engine: expected a database, or --sample":                {"--engine", "sqlite", "--dsn", "x.db", "--sample", sample},
		"--engine sqlite: expected DATABASE_DSN in the environment": {"--engine", "sqlite"},
		"--sample: open " + sample + ".none":                        {"--sample", sample + ".none"},
		"--openapi: open ":                                          {"--openapi", described + ".none"},
		"--ask contacts: expected a path that begins with /":        {"--ask", "contacts"},
		"ask for /none: the service answers 404 Not Found":          {"--ask", "/none"},
		"ask for /moved: the service answers 302 Found":             {"--ask", "/moved"},
		"read /openapi: expected a list of records, or one":         {"--sample", filepath.Join(dir, "empty.json")},
	} {
		if message == "read /openapi: expected a list of records, or one" {
			require.NoError(t, os.WriteFile(args[1], []byte("[]"), 0o600))
			message = "read /empty: expected a list of records, or one"
		}
		code, out, stderr := cli("", append([]string{"map", "init"}, args...)...)
		require.NotZero(t, code, message)
		require.Empty(t, out)
		require.Contains(t, stderr, message)
	}
}

// TestMapPage writes the page of a check of DEALERPAK: all columns and fields are
// on it, findings where they are, and nobody's name.
func TestMapPage(t *testing.T) {
	dir := dealerpak(t, "description: {from: OMS, length: 30", "description: {from: OMSCHR, length: 30")
	check := filepath.Join(dir, "check.html")
	code, _, stderr := cli("", "map", "check", "--sheet", filepath.Join(dir, "sheet.yaml"), "--html", check)
	require.Equal(t, 1, code, stderr)
	text, err := os.ReadFile(check)
	require.NoError(t, err)
	for _, wanted := range []string{"Mapping sheet sheet.yaml", "→ article</h2>", "<code>sql.column-missing</code>", "has no column OMSCHR", "birth_date", "Not used at all", "99999999"} {
		require.Contains(t, string(text), wanted)
	}
	for _, value := range []string{"Veluwe", "piet.dekker", "$2a$", os.Getenv("DEALERPAK_DSN")} {
		require.NotContains(t, string(text), value)
	}
	info, err := os.Stat(check)
	require.NoError(t, err)
	require.Equal(t, os.FileMode(0o600), info.Mode().Perm())
	code, _, stderr = cli("", "map", "check", "--sheet", filepath.Join(dir, "sheet.yaml"), "--html", check)
	require.Equal(t, 2, code)
	require.Contains(t, stderr, "--html "+check+": expected a file that is not there yet")
}
