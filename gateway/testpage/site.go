// Package testpage is what people see of the interface in a browser: the test
// page itself, the guide, the API explorer, the catalogue of errors and the helper for
// callbacks. All of it is in the binary and nothing is fetched from elsewhere.
//
// It is not an HTTP server: it hands the gateway a list of pages by path, each
// with its body in the encodings there are and the headers that keep it safe.
// It knows nothing of sessions or keys either. What a page does, it does in the
// browser, over the documented interface.
package testpage

import (
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"fmt"
	"html/template"
	"io/fs"
	"path"
	"slices"
	"strings"
	"sync"
	"time"

	"frontdesk/mapping"
)

//go:embed assets snippets pages
var embedded embed.FS

// Options describe the interface that the pages are for.
type Options struct {
	BasePath   string        // the path that the pages are served under: /webservice_v2
	BaseURL    string        // the base address as clients reach it
	Vendor     string        // who is asked for an api_key; may be empty
	Version    string        // of this program
	SessionTTL time.Duration // how long a token is valid
	Catalogue  *mapping.Catalogue

	Environment string // what GET /util/environment calls it
	Live        bool   // its records are real
	Fill        bool   // the examples of the description may be sent as they are: the demo's
}

// policy of the pages: nothing from any other host, nothing inline.
const policy = "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self'; form-action 'self'; frame-ancestors 'none'; base-uri 'none'"

// The paths of the pages that others link to.
const (
	HomePath     = "/"
	GuidePath    = "/guide"
	ErrorsPath   = "/errors"
	ExplorerPath = "/testpage/explorer"
	CallbackPath = "/testpage/callback"
	RequestsPath = "/testpage/requests" // answers programs too, with JSON
	AgentsPath   = "/llms.txt"          // for agents, as the next one is
	MarkdownPath = "/guide.md"
)

// Page is one answer to GET.
type Page struct {
	Path      string // below the base path
	Type      string // the Content-Type
	Policy    string // the Content-Security-Policy; "" for what is no document
	Immutable bool   // its path changes with its content

	// Bare is the page as it is answered at the base path without a slash, from
	// where relative addresses lead elsewhere; nil where there is no difference.
	Bare *Page

	build func() Content
}

// Body returns the page in the best encoding that an Accept-Encoding header
// takes, the name of that encoding ("" for none) and the page's entity tag.
// Nobody may change the bytes.
func (p *Page) Body(acceptEncoding string) (body []byte, encoding, etag string) {
	c := p.build()
	body, encoding = c.Encoded(acceptEncoding)
	// A strong tag names one sequence of bytes, so each encoding has its own.
	return body, encoding, `"` + c.Sum + encoding + `"`
}

// Pages returns everything there is to see. Bodies are made when they are first
// asked for; the pages are safe for concurrent use.
func Pages(o Options) []*Page {
	s := site{Options: o, assets: assetFolder()}
	home := s.page(HomePath, "home", "./")
	home.Bare = s.page(HomePath, "home", path.Base(o.BasePath)+"/")
	pages := []*Page{
		home,
		s.page(GuidePath, "guide", "./"),
		s.page(ErrorsPath, "errors", "./"),
		s.page(ExplorerPath, "explorer", "../"),
		s.page(CallbackPath, "callback", "../"),
		s.page(RequestsPath, "requests", "../"),
		s.text(AgentsPath, "text/plain", s.forAgents),
		s.text(MarkdownPath, "text/markdown", s.markdown),
	}
	for _, a := range assets() {
		pages = append(pages, &Page{
			Path: "/testpage/" + s.assets + "/" + a.name, Type: a.kind, Immutable: true, build: a.content,
		})
	}
	return pages
}

// site makes the pages of one interface.
type site struct {
	Options
	assets string // the folder that the assets are in
}

// view is what a template sees.
type view struct {
	Options
	Page       string
	Root       string // from the page to the base path, relative
	Assets     string // from the page to the folder of the assets
	TTLSeconds int
	Minutes    string

	Reasons  []reasonHelp
	Rows     int
	Snippets []snippet
	Guide    template.HTML
	Chapters []chapter
	Modules  []string // the scripts that the page's own script loads
}

func (s site) page(at, name, root string) *Page {
	build := sync.OnceValue(func() Content {
		v := view{
			Options: s.Options, Page: name, Root: root, Assets: root + "testpage/" + s.assets + "/",
			TTLSeconds: int(s.SessionTTL.Seconds()), Minutes: Lifetime(s.SessionTTL),
		}
		switch name {
		case "errors":
			v.Reasons, v.Rows = reasonsOf(s.Catalogue), len(s.Catalogue.Entries())
		case "explorer":
			for _, module := range []string{"answer", "copy", "description", "dom", "fields", "history", "request", "samples", "session"} {
				v.Modules = append(v.Modules, v.Assets+module+".js")
			}
		case "guide":
			v.Guide, v.Chapters = s.guide()
		case "callback":
			v.Snippets = snippets()
		}
		var b strings.Builder
		if err := templates(name).Execute(&b, v); err != nil {
			panic(err) // the templates and their data are ours
		}
		return Compress([]byte(b.String()))
	})
	return &Page{Path: at, Type: "text/html; charset=utf-8", Policy: policy, build: build}
}

// text returns a page without markup.
func (s site) text(at, kind string, write func() string) *Page {
	return &Page{Path: at, Type: kind + "; charset=utf-8", build: sync.OnceValue(func() Content { return Compress([]byte(write())) })}
}

// forAgents says in one page what the interface is.
func (s site) forAgents() string {
	page, err := embedded.ReadFile("pages/llms.txt")
	must(err)
	return strings.NewReplacer("{{BaseURL}}", s.BaseURL, "{{Lifetime}}", Lifetime(s.SessionTTL)).Replace(string(page))
}

// Lifetime words how long a token is valid.
func Lifetime(d time.Duration) string {
	switch {
	case d == time.Minute:
		return "1 minute"
	case d%time.Minute == 0:
		return fmt.Sprintf("%d minutes", d/time.Minute)
	default:
		return d.String()
	}
}

func templates(name string) *template.Template {
	return template.Must(template.New("layout.html").ParseFS(embedded, "pages/layout.html", "pages/"+name+".html"))
}

// snippet shows how a signature is checked in one language.
type snippet struct{ ID, Language, Code string }

func snippets() []snippet {
	all := []snippet{{ID: "js", Language: "JavaScript"}, {ID: "go", Language: "Go"}, {ID: "py", Language: "Python"}, {ID: "php", Language: "PHP"}}
	for i := range all {
		code, err := embedded.ReadFile("snippets/verify." + all[i].ID + ".txt")
		if err != nil {
			panic(err) // the file is in the binary
		}
		all[i].Code = strings.TrimSuffix(string(code), "\n")
	}
	return all
}

// asset is a file that the pages load.
type asset struct {
	name, kind string
	content    func() Content
}

var kinds = map[string]string{
	".css": "text/css; charset=utf-8",
	".js":  "text/javascript; charset=utf-8",
	".svg": "image/svg+xml",
}

// assets are read once: they are the same whatever the options.
var assets = sync.OnceValue(func() []asset {
	var all []asset
	must(fs.WalkDir(embedded, "assets", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		raw, err := embedded.ReadFile(name)
		all = append(all, asset{name: path.Base(name), kind: kinds[path.Ext(name)], content: sync.OnceValue(func() Content { return Compress(raw) })})
		return err
	}))
	slices.SortFunc(all, func(a, b asset) int { return strings.Compare(a.name, b.name) })
	return all
})

// assetFolder is named by a hash of its content, so that a browser may cache it for ever.
var assetFolder = sync.OnceValue(func() string {
	sum := sha256.New()
	must(fs.WalkDir(embedded, "assets", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		data, err := embedded.ReadFile(name)
		sum.Write([]byte(name))
		sum.Write(data)
		return err
	}))
	return hex.EncodeToString(sum.Sum(nil)[:6])
})

// must panics if a call fails that cannot fail, because its data are in the binary.
func must(err error) {
	if err != nil {
		panic(err)
	}
}
