package desk

import (
	"bytes"
	"embed"
	"fmt"
	"html/template"
	"math"
	"net/http"
	"net/url"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"go.uber.org/zap"

	"frontdesk/cmd/frontdesk/history"
	"frontdesk/gateway/webhook"
)

//go:embed status.html
var statusHTML string

//go:embed status.css
var statusCSS string

//go:embed window*.html
var windowHTML embed.FS

// pages are those of the ops listener: what is, and what was.
type pages struct {
	of       *Desk
	template *template.Template
	policy   string        // Content-Security-Policy
	turn     chan struct{} // of reading callback jobs
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
			"bytes":    readable,
			"states":   webhook.States,
			"millis":   func(d time.Duration) string { return inMillis(float64(d) / float64(time.Millisecond)) },
			"first":    firstOf,
			"foot":     func() pageFoot { return pageFoot{Version(), hostName()} },
			"view":     func(v *windowView, t busyTable) busyView { return busyView{v, t} },
			"endpoint": func(r history.Refusal) string { return refusalMember("endpoint", &r) },
			"cause":    func(r history.Refusal) string { return refusalMember("reason", &r) },
			"ties":     func(title, kind string, all []PastSeen) tiesView { return tiesView{title, kind, all} },
			"link":     func(kind, name string) string { return (&windowView{}).Link(kind, name, usualSpan) },
			"place":    filepath.Base,
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

// tiesView is a table of what something was seen with; of a kind that has pages, or of none.
type tiesView struct {
	Title, Kind string
	All         []PastSeen
}

// Cut tells whether there may have been more.
func (v tiesView) Cut() bool { return v.Kind != "endpoint" && len(v.All) == history.MostSeen }

type pageFoot struct{ Version, Host string }

// statusView is what the first page shows.
type statusView struct {
	StatusReport
	Notices []Notice    `json:"stands_out,omitempty"` // for operators
	Acts    []act       `json:"acts,omitempty"`       // for operators, newest first
	Past    *windowView `json:"past"`
}

func (p *pages) overview(w http.ResponseWriter, r *http.Request) {
	operator, query := p.of.isOperator(r), r.URL.Query()
	v := statusView{StatusReport: p.of.report(r.Context()), Past: p.of.past.windowOf(r.Context(), url.Values{"span": query["span"], ofGateways: query[ofGateways]}, operator)}
	if operator {
		v.Notices, v.Acts = p.of.notices(&v.StatusReport), p.of.acts.newestFirst()
	}
	p.answer(w, r, "status", v)
}

func (p *pages) history(w http.ResponseWriter, r *http.Request) {
	v := p.of.past.windowOf(r.Context(), r.URL.Query(), true)
	if v.Of == "" {
		http.Redirect(w, r, v.Link("", "", v.Span), http.StatusSeeOther)
		return
	}
	p.answer(w, r, "history", v)
}

func (p *pages) refusals(w http.ResponseWriter, r *http.Request) {
	p.answer(w, r, "refusals", p.of.past.refusalsOf(r.URL.Query()))
}

func (p *pages) backends(w http.ResponseWriter, r *http.Request) {
	p.answer(w, r, "backends", p.of.backendsOf(r.Context(), r.URL.Query()))
}

// answer sends a page, or what it is made of to a program that asks for JSON.
func (p *pages) answer(w http.ResponseWriter, r *http.Request, name string, v any) {
	h := w.Header()
	h.Set("Vary", "Accept")
	if strings.HasPrefix(r.Header.Get("Accept"), "application/json") {
		answerHealth(p.of.log, w, http.StatusOK, v)
		return
	}
	var page bytes.Buffer
	if err := p.template.ExecuteTemplate(&page, name, v); err != nil {
		p.of.log.Error("operators' page", zap.String("page", name), zap.Error(err))
		http.Error(w, "the page could not be made; the log says why", http.StatusInternalServerError)
		return
	}
	h.Set("Content-Type", "text/html; charset=utf-8")
	h.Set("Cache-Control", "no-store")
	h.Set("Content-Security-Policy", p.policy)
	h.Set("Referrer-Policy", "no-referrer")
	if _, err := page.WriteTo(w); err != nil {
		p.of.log.Debug("operators' page not sent", zap.Error(err))
	}
}

// status answers the facts of the first page alone, for programs.
func (p *pages) status(w http.ResponseWriter, r *http.Request) {
	answerHealth(p.of.log, w, http.StatusOK, p.of.report(r.Context()))
}

// ago says how long ago, or how far ahead, a moment is, in the one unit that
// people would use.
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

// readable writes a number of bytes.
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
