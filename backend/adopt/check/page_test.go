package check

import (
	"encoding/xml"
	"io"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestPageIsSelfContained writes a page of texts that would be markup, scripts or addresses if they
// were not escaped, and looks for anything that is loaded or run.
func TestPageIsSelfContained(t *testing.T) {
	for _, evil := range []string{`<script>alert(1)</script>`, `"><img src=x onerror=alert(1)>`, `</style><script>1</script>`, `javascript:alert(1)`, "{{.Title}}", "x\x1b[31m\u2028"} {
		finding := Finding{Rule: evil, Severity: Severity(evil), Line: 2, Path: evil, Seen: evil, Remedy: evil}
		nowhere := finding
		nowhere.Line = 0
		r := &Report{text: "resources: # " + evil + "\n  contact: " + evil, Looked: []string{evil}, Left: Left{Resources: []string{evil}}, Findings: []Finding{finding, nowhere}}
		var b strings.Builder
		require.NoError(t, r.WritePage(&b))
		for _, name := range attributes(t, b.String()) {
			require.Contains(t, []string{"class"}, name)
		}
		require.NotRegexp(t, `(?i)<(script|img|iframe|link|object)`, b.String())
		require.Contains(t, b.String(), `content="default-src 'none'; style-src 'unsafe-inline'"`)
		require.Equal(t, 2, strings.Count(b.String(), `<div class="said `))
	}
}

// attributes are the names of those in the body of a page, which is read as XML.
func attributes(t *testing.T, text string) (names []string) {
	t.Helper()
	text = strings.ReplaceAll(text, "\x1b", "") // which XML has no place for
	dec := xml.NewDecoder(strings.NewReader(text[strings.Index(text, "<body>"):strings.Index(text, "</html>")]))
	for {
		token, err := dec.Token()
		if err == io.EOF {
			return names
		}
		require.NoError(t, err)
		if start, ok := token.(xml.StartElement); ok {
			for _, a := range start.Attr {
				names = append(names, a.Name.Local)
			}
		}
	}
}

// TestPageHasNoSecret: where a sheet has secrets and users, however it is written, there is what was
// found alone.
func TestPageHasNoSecret(t *testing.T) {
	for _, text := range []string{
		"source:\n  http:\n    secrets: {token: hidden}\nresources:\n  contact: {}\n", "source: {sql: {dsn: hidden}}\n# hidden\nresources:\n  contact: {}\n", "\"source\": {dsn: hidden}\nresources:\n  contact: {}\n",
		"keep: postgres://hidden\naccounts:\n- hidden\nresources:\n  contact: {}\n", "{source: {dsn: hidden},\nresources: {\ncontact: {}}}\n",
	} {
		r := &Report{text: text, Findings: []Finding{{Rule: "sql.zone", Severity: Error, Line: 1, Seen: "seen"}}}
		var b strings.Builder
		require.NoError(t, r.WritePage(&b))
		require.NotContains(t, b.String(), "hidden", text)
		require.Contains(t, b.String(), "sql.zone")
		require.Contains(t, b.String(), "resources:")
	}
}
