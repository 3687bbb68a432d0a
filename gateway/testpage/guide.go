package testpage

import (
	"bytes"
	"html/template"
	"regexp"
	"strings"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/renderer/html"
	"github.com/yuin/goldmark/text"

	"frontdesk/docs"
)

// chapter is a heading of the guide.
type chapter struct {
	ID, Title string
	Part      bool // a top-level entry of the list of chapters
}

var (
	checkoutOnly = regexp.MustCompile(`(?s)<!-- checkout -->.*?<!-- /checkout -->\n*`)
	servedOnly   = regexp.MustCompile(`(?s)<!-- served:\s*(.*?)\s*-->`)
	headingLine  = regexp.MustCompile(`(?m)^#+ `)
	program      = regexp.MustCompile(`\{\{[\w./]+\}\}`)
	numbered     = regexp.MustCompile(`^\d+\. `)
)

// The address and key of the demo in the commands of the tutorial, which are replaced.
const (
	tutorialBase = "http://127.0.0.1:8080/webservice_v2"
	tutorialKey  = "11111111-1111-4111-8111-111111111111"
)

// guideText returns the tutorial, the details, and the page of generators as one text, with the address of this
// installation, and without the parts that need a checkout.
func (s site) guideText() string {
	_, tutorial, _ := strings.Cut(served(docs.Integrators), "\n") // the page has a title of its own
	if !s.Fill {
		tutorial = strings.NewReplacer("FRONTDESK_USER=demo", "FRONTDESK_USER=your-username", "FRONTDESK_PASSWORD=demo", "FRONTDESK_PASSWORD=your-password").Replace(tutorial)
	}
	programs := program.ReplaceAllStringFunc(below(served(docs.Generators)), func(name string) string {
		text, err := docs.Programs.ReadFile(strings.Trim(name, "{}"))
		must(err)
		return strings.TrimSpace(string(text))
	})
	replaced := []string{
		"](limits.md)", "](#limits-429-and-the-headers-before-it)", "](limits.md#logins)", "](#limits-429-and-the-headers-before-it)",
		"](kits/generators.md#", "](#", "](kits/generators.md)", "](#generators-of-clients)",
		tutorialBase, s.BaseURL, "](interface.md)", "](#the-interface)", "](interface.md#", "](#", "](integrators.md#", "](#",
	}
	if !s.Fill {
		replaced = append(replaced, tutorialKey, "your-api_key")
	}
	return strings.NewReplacer(replaced...).Replace(tutorial + "\n\n" + below(docs.Interface) + "\n\n" + programs)
}

// markdown returns the guide as its source, without links that lead out of it.
func (s site) markdown() string {
	return "# The guide\n" + foreignMarkdown.ReplaceAllString(s.guideText(), "$1")
}

// foreignMarkdown is foreignLink in the source.
var foreignMarkdown = regexp.MustCompile(`\[([^\]\n]+)\]\([^#)\n][^)\n]*\)`)

// served returns a text without the parts that need a checkout, and with their replacements.
func served(text string) string {
	return servedOnly.ReplaceAllString(checkoutOnly.ReplaceAllString(text, ""), "$1")
}

// below moves headings one level down, to the fourth at most.
func below(text string) string {
	return headingLine.ReplaceAllStringFunc(text, func(marks string) string { return strings.Repeat("#", min(len(marks), 4)) + " " })
}

// guide renders the guide, and lists its chapters.
func (s site) guide() (template.HTML, []chapter) {
	source := []byte(s.guideText())
	md := goldmark.New(goldmark.WithExtensions(extension.Table), goldmark.WithParserOptions(parser.WithAutoHeadingID()), goldmark.WithRendererOptions(html.WithXHTML()))
	tree := md.Parser().Parse(text.NewReader(source))
	var chapters []chapter
	must(ast.Walk(tree, func(n ast.Node, entering bool) (ast.WalkStatus, error) {
		if !entering {
			return ast.WalkContinue, nil
		}
		if h, ok := n.(*ast.Heading); ok {
			chapters = append(chapters, heading(h, source)...)
		}
		return ast.WalkContinue, nil
	}))
	var b bytes.Buffer
	must(md.Renderer().Render(&b, source, tree))
	page := strings.NewReplacer("<pre><code", `<pre tabindex="0"><code`, "<table>", `<div class="wide" tabindex="0" role="group" aria-label="Table"><table>`, "</table>", "</table></div>").Replace(b.String())
	page = foreignLink.ReplaceAllString(page, "$1")
	return template.HTML(page), chapters // safe: our own documentation, and goldmark omits raw HTML
}

// foreignLink leads out of the page: to files of the source, or to other hosts.
var foreignLink = regexp.MustCompile(`(?s)<a href="[^#"][^"]*">(.*?)</a>`)

// heading removes the number from the text of a heading, not from its id, and returns its chapter.
func heading(h *ast.Heading, source []byte) []chapter {
	if first, ok := h.FirstChild().(*ast.Text); ok {
		if n := numbered.FindIndex(first.Segment.Value(source)); n != nil {
			first.Segment.Start += n[1]
		}
	}
	id, _ := h.AttributeString("id")
	name, ok := id.([]byte)
	if !ok || h.Level > 3 {
		return nil
	}
	var title strings.Builder
	for c := h.FirstChild(); c != nil; c = c.NextSibling() {
		if t, ok := c.(*ast.Text); ok {
			title.Write(t.Segment.Value(source))
		}
	}
	return []chapter{{ID: string(name), Title: title.String(), Part: h.Level == 2}}
}
