package page_test

import (
	"encoding/xml"
	"io"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"frontdesk/backend/adopt/page"
)

// TestPageIsSelfContained writes a page of names that would be markup, scripts or addresses
// if they were not escaped, and looks for anything that is loaded or run.
func TestPageIsSelfContained(t *testing.T) {
	for _, evil := range []string{`<script>alert(1)</script>`, `"><img src=x onerror=alert(1)>`, `</style><script>1</script>`, `javascript:alert(1)`, "{{.Title}}", "x\n\x1b[31m\u2028"} {
		column := page.Column{Name: evil, Type: evil, Shape: evil}
		notes := []page.Note{{Kind: page.Error, Rule: evil, Text: evil, Cure: evil}, {Kind: page.Todo, Text: evil}, {Kind: page.Kind(evil), Text: evil}}
		page := page.Page{
			Title: evil, About: evil, Facts: []page.Fact{{Number: 1, Of: evil, Kind: page.Kind(evil)}}, Notes: notes, Missing: []string{evil}, Unused: []page.Unused{{Name: evil, Columns: []string{evil}}},
			Resources: []page.Resource{{
				Name: evil, Place: evil, Why: evil, Notes: notes, Columns: []page.Column{column}, Fields: []page.Field{{Name: evil, Type: evil, Required: true}},
				Pairs: []page.Pair{{Columns: []page.Column{column}, Field: page.Field{Name: evil, Type: evil}, Why: evil, Notes: notes}},
			}},
		}
		var b strings.Builder
		require.NoError(t, page.Write(&b))
		text := b.String()
		require.NotRegexp(t, `(?i)<(script|img|iframe|link|object)`, text)
		for _, name := range attributes(t, text) {
			require.Contains(t, []string{"class", "id", "href", "style", "viewBox", "aria-hidden", "d"}, name)
		}
		for _, link := range regexp.MustCompile(`(?:href|url)[=(]"?([^")]*)`).FindAllStringSubmatch(text, -1) {
			require.True(t, strings.HasPrefix(link[1], "#"), link[0])
		}
		require.Contains(t, text, `content="default-src 'none'; style-src 'unsafe-inline'"`)
		require.Equal(t, strings.Count(text, "<div"), strings.Count(text, "</div>"))
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

// TestPageIsWellFormed reads the body of a page as XML.
func TestPageIsWellFormed(t *testing.T) {
	var b strings.Builder
	require.NoError(t, page.Page{Title: "x", Resources: []page.Resource{{
		Name: "contact", Pairs: []page.Pair{{Field: page.Field{Name: "name"}}}, Fields: []page.Field{{Name: "kind", Required: true}}, Columns: []page.Column{{Name: "X"}},
	}}}.Write(&b))
	require.NotEmpty(t, attributes(t, b.String()))
	require.Contains(t, b.String(), "1 of 2")
	require.Contains(t, b.String(), "kind (required)")
}
