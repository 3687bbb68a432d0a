package desk

import (
	"crypto/sha256"
	"embed"
	"encoding/base64"
	"fmt"
	"html/template"
	"math"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/gofiber/fiber/v2"

	"frontdesk/cmd/frontdesk/instrument"
	"frontdesk/gateway/webhook"
)

//go:embed status.html
var statusHTML string

//go:embed status.css
var statusCSS string

//go:embed window.js
var windowJS string

//go:embed window*.html
var windowHTML embed.FS

// windowPolicy returns the Content-Security-Policy of the pages: nothing from outside, and only
// their own style and script.
func windowPolicy() string {
	sum := func(text string) string {
		s := sha256.Sum256([]byte(text))
		return "'sha256-" + base64.StdEncoding.EncodeToString(s[:]) + "'"
	}
	return "default-src 'none'; style-src " + sum(statusCSS) + "; script-src " + sum(windowJS) + "; connect-src 'self'; frame-ancestors 'none'; base-uri 'none'; form-action 'self'"
}

// pages are the pages of the ops listener: the state now, and its history.
type pages struct {
	of       *Desk
	template *template.Template
	policy   string        // Content-Security-Policy
	turn     chan struct{} // has one place, for the page that reads callback jobs
}

func newPages(h *Desk) *pages {
	return &pages{
		of: h,
		template: template.Must(template.Must(template.New("status").Funcs(template.FuncMap{
			"style":  func() template.CSS { return template.CSS(statusCSS) },
			"script": func() template.JS { return template.JS(windowJS) }, // #nosec G203 -- our own
			"ago":    ago,
			"spans":  func() []string { return spanNames },
			"words":  func(span string) string { return spanWords[span] },
			"ahead":  func() int { return noticeAhead },
			"clock": func(t time.Time) string {
				return t.In(h.config.Server.TimeZone.Location).Format("2006-01-02 15:04:05 MST")
			},
			"day": func(t time.Time) string {
				return t.In(h.config.Server.TimeZone.Location).Format("2006-01-02 15:04 MST")
			},
			"bytes":  readable,
			"states": webhook.States,
			"millis": func(d time.Duration) string { return inMillis(float64(d) / float64(time.Millisecond)) },
			"first":  firstOf,
			"foot":   func() pageFoot { return pageFoot{Version(), hostName()} },
			"view":   func(v *windowView, t busyTable) busyView { return busyView{v, t} },
			"cause":  func(r instrument.Refusal) string { return causeOf(&r) },
			"ties":   func(title, kind string, all []PastSeen) tiesView { return tiesView{title, kind, all} },
			"link":   func(kind, name string) string { return (&windowView{}).Link(kind, name, usualSpan) },
			"place":  filepath.Base,
			"percent": func(part, of uint32) string {
				if part == 0 {
					return "0"
				}
				return strconv.FormatFloat(math.Ceil(1000*float64(part)/float64(of))/10, 'f', -1, 64) + " %"
			},
		}).Parse(statusHTML)).ParseFS(windowHTML, "window*.html")),
		policy: windowPolicy(), turn: make(chan struct{}, 1),
	}
}

// busyView is a table of a page.
type busyView struct {
	View  *windowView
	Table busyTable
}

// tiesView is a table of what was seen together with something. Kind is "" if its rows have no pages.
type tiesView struct {
	Title, Kind string
	All         []PastSeen
}

// Cut reports whether the table may be incomplete.
func (v tiesView) Cut() bool { return v.Kind != "endpoint" && len(v.All) == instrument.MostSeen }

type pageFoot struct{ Version, Host string }

// statusView is what the first page shows.
type statusView struct {
	StatusReport
	Notices []Notice    `json:"stands_out,omitempty"` // for operators
	Acts    []act       `json:"acts,omitempty"`       // for operators, newest first
	Past    *windowView `json:"past"`
}

func (p *pages) overview(c *fiber.Ctx) error {
	operator, query := p.of.isOperator(c), c.Queries()
	v := statusView{StatusReport: p.of.report(c.UserContext()), Past: p.of.past.windowOf(c.UserContext(), map[string]string{"span": query["span"], ofGateways: query[ofGateways]}, operator)}
	if operator {
		v.Notices, v.Acts = p.of.notices(c.UserContext(), &v.StatusReport), p.of.acts.newestFirst()
		v.noteNotices()
	}
	return p.answer(c, "status", v)
}

// noteNotices adds the notices to a verdict that says that all works.
func (v *statusView) noteNotices() {
	rest, works := strings.CutPrefix(v.Verdict, "All works.")
	switch n := len(v.Notices); {
	case !works || n == 0:
	case n == 1:
		v.Verdict = "It works, but look at what stands out." + rest
	default:
		v.Verdict = fmt.Sprintf("It works, but look at the %d things that stand out.%s", n, rest)
	}
}

func (p *pages) history(c *fiber.Ctx) error {
	v := p.of.past.windowOf(c.UserContext(), c.Queries(), true)
	if v.Of == "" {
		return c.Redirect(v.Link("", "", v.Span), fiber.StatusSeeOther)
	}
	return p.answer(c, "history", v)
}

func (p *pages) refusals(c *fiber.Ctx) error {
	return p.answer(c, "refusals", p.of.past.refusalsOf(c.UserContext(), c.Queries()))
}

func (p *pages) backends(c *fiber.Ctx) error {
	return p.answer(c, "backends", p.of.backendsOf(c.UserContext(), c.Queries()))
}

// answer sends a page, or its data to a program that asks for JSON.
func (p *pages) answer(c *fiber.Ctx, name string, v any) error {
	c.Vary(fiber.HeaderAccept)
	if strings.HasPrefix(c.Get(fiber.HeaderAccept), fiber.MIMEApplicationJSON) {
		return c.JSON(v)
	}
	c.Set(fiber.HeaderContentSecurityPolicy, p.policy)
	c.Type("html", "utf-8")
	return p.template.ExecuteTemplate(c, name, v)
}

// status answers the facts of the first page alone, for programs.
func (p *pages) status(c *fiber.Ctx) error { return c.JSON(p.of.report(c.UserContext())) }

// ago describes how long ago, or how far ahead, a moment is, in the largest unit that
// fits.
func ago(now, t time.Time) string {
	d, form := now.Sub(t), "%s ago"
	if d < 0 {
		d, form = -d, "in %s"
	}
	units := []struct {
		name string
		size time.Duration
	}{{"day", 24 * time.Hour}, {"hour", time.Hour}, {"minute", time.Minute}, {"second", time.Second}}
	for _, u := range units {
		if n := int(d / u.size); n > 0 {
			if n > 1 {
				u.name += "s"
			}
			return fmt.Sprintf(form, fmt.Sprintf("%d %s", n, u.name))
		}
	}
	return "now"
}

// readable formats a number of bytes for people.
func readable(n int64) string {
	const unit = 1024
	if n < unit {
		return fmt.Sprintf("%d bytes", n)
	}
	value, names := float64(n)/unit, []string{"KiB", "MiB", "GiB", "TiB"}
	for value >= unit && len(names) > 1 {
		value, names = value/unit, names[1:]
	}
	return fmt.Sprintf("%.1f %s", value, names[0])
}
