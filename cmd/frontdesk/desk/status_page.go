package desk

import (
	"bytes"
	"crypto/sha256"
	_ "embed"
	"encoding/base64"
	"fmt"
	"html/template"
	"net/http"
	"time"

	"go.uber.org/zap"

	"frontdesk/gateway/webhook"
)

//go:embed status.html
var statusHTML string

//go:embed status.css
var statusCSS string

// statusPage is the page of the ops listener: one answer, without scripts.
type statusPage struct {
	of       *Desk
	template *template.Template
	policy   string // Content-Security-Policy
}

func newStatusPage(h *Desk) *statusPage {
	sum := sha256.Sum256([]byte(statusCSS))
	return &statusPage{
		of: h,
		template: template.Must(template.New("status").Funcs(template.FuncMap{
			"style": func() template.CSS { return template.CSS(statusCSS) },
			"ago":   ago,
			"ahead": func() int { return noticeAhead },
			"clock": func(t time.Time) string {
				return t.In(h.config.Server.TimeZone.Location).Format("2006-01-02 15:04:05 MST")
			},
			"day": func(t time.Time) string {
				return t.In(h.config.Server.TimeZone.Location).Format("2006-01-02 15:04 MST")
			},
			"bytes":  readable,
			"states": webhook.States,
		}).Parse(statusHTML)),
		policy: "default-src 'none'; style-src 'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'; frame-ancestors 'none'; base-uri 'none'; form-action 'none'",
	}
}

// ServeHTTP implements http.Handler.
func (s *statusPage) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	var page bytes.Buffer
	if err := s.template.Execute(&page, s.of.report(r.Context())); err != nil {
		s.of.log.Error("status page", zap.Error(err))
		http.Error(w, "the page could not be made; the log says why", http.StatusInternalServerError)
		return
	}
	h := w.Header()
	h.Set("Content-Type", "text/html; charset=utf-8")
	h.Set("Cache-Control", "no-store")
	h.Set("Content-Security-Policy", s.policy)
	h.Set("Referrer-Policy", "no-referrer")
	if _, err := page.WriteTo(w); err != nil {
		s.of.log.Debug("status page not sent", zap.Error(err))
	}
}

// json answers the same facts for programs.
func (s *statusPage) json(w http.ResponseWriter, r *http.Request) {
	s.of.answerHealth(w, http.StatusOK, s.of.report(r.Context()))
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
