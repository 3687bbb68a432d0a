package desk

import (
	"cmp"
	"crypto/sha256"
	"crypto/subtle"
	_ "embed"
	"encoding/base64"
	"fmt"
	"html/template"
	"math"
	"net/http"
	"net/netip"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"frontdesk/cmd/frontdesk/chart"
	"frontdesk/cmd/frontdesk/history"
	"frontdesk/config"
)

//go:embed window.js
var windowJS string

// windowPolicy is the Content-Security-Policy of the pages: nothing from outside, and only
// the style and the script that are in them.
func windowPolicy() string {
	sum := func(text string) string {
		s := sha256.Sum256([]byte(text))
		return "'sha256-" + base64.StdEncoding.EncodeToString(s[:]) + "'"
	}
	return "default-src 'none'; style-src " + sum(statusCSS) + "; script-src " + sum(windowJS) + "; connect-src 'self'; frame-ancestors 'none'; base-uri 'none'; form-action 'self'"
}

// spanNames are the spans that pages offer, shortest first, and spanWords what they are called.
var (
	spanNames = []string{"10m", "30m", "2h", "6h", "24h"}
	spanWords = map[string]string{"10m": "10 minutes", "30m": "30 minutes", "2h": "2 hours", "6h": "6 hours", "24h": "24 hours"}
)

const usualSpan = "30m"

// windowView is what the charts and tables of a page are made of.
type windowView struct {
	Span     string         `json:"span"`
	Of       string         `json:"of,omitempty"` // endpoint, key, client or reason; "" for everything
	Name     string         `json:"name,omitempty"`
	Since    time.Time      `json:"since"`
	Step     int            `json:"step_seconds"`
	Points   []PastPoint    `json:"points"`
	Marks    []history.Mark `json:"marks"`
	Busy     []busyTable    `json:"busiest,omitempty"`
	Key      *PastKey       `json:"key,omitempty"`
	series   history.Series
	levels   []history.Levels
	now      time.Time
	known    bool
	refusals string // where they are listed
}

// PastPoint is what happened in one step, for programs.
type PastPoint struct {
	Requests uint32             `json:"requests"`
	Refused  uint32             `json:"refused"`
	Failed   uint32             `json:"failed"`
	SentKiB  uint32             `json:"sent_kib"`
	Took     map[string]float64 `json:"took_ms,omitempty"`
	Backend  map[string]float64 `json:"backend_ms,omitempty"`
	Levels   map[string]uint32  `json:"levels,omitempty"`
}

// PastKey is what is configured of an api_key, for its page.
type PastKey struct {
	Name       string        `json:"name"`
	Mode       string        `json:"mode"`
	Hashes     []PastKeyHash `json:"hashes"`
	Limits     []string      `json:"limits"`
	Allow      []string      `json:"allow"`
	Addresses  int           `json:"addresses"`
	Configured bool          `json:"configured"`
}

// PastKeyHash is one of the hashes of an api_key.
type PastKeyHash struct {
	SHA256   string     `json:"sha256"`
	LastUsed *time.Time `json:"last_used"`
	Expires  *time.Time `json:"expires"`
}

// busyTable are the busiest of one kind.
type busyTable struct {
	Kind  string    `json:"kind"`
	Title string    `json:"-"`
	Rows  []busyRow `json:"rows"`
	Rest  uint32    `json:"rest"` // requests of those without a row
}

type busyRow struct {
	Name     string         `json:"name"`
	Requests uint32         `json:"requests"`
	Refused  uint32         `json:"refused"`
	Failed   uint32         `json:"failed"`
	P95      time.Duration  `json:"p95_ns"` // the highest of the steps
	series   history.Series `json:"-"`
}

// pastKinds are the kinds of series that pages are of, by their name in an address.
var pastKinds = []struct {
	kind        history.Kind
	name, title string
}{{history.Endpoint, "endpoint", "Endpoints"}, {history.Key, "key", "Keys"}, {history.Client, "client", "Clients"}, {history.Reason, "reason", "Reasons of refusals and failures"}}

// gaugeNames are those of history.Levels, in its order.
var gaugeNames = [...]string{"connections", "backend_running", "waiting", "pool", "callbacks_due", "callbacks_failing"}

// windowOf makes the view of everything, with the names of who was busiest only where they
// may be seen, or of what an address names.
func (p *past) windowOf(query url.Values, names bool) *windowView {
	name := query.Get("span")
	span, ok := history.Spans[name]
	if !ok {
		name = usualSpan
		span = history.Spans[name]
	}
	zone := p.of.config.Server.TimeZone.Location
	v := &windowView{Span: name, Step: int(span.Step / time.Second), now: time.Now().In(zone), refusals: "/refusals"}
	kind, of := history.All, history.Name{}
	for _, k := range pastKinds {
		if word := query.Get(k.name); word != "" {
			kind, v.Of, v.Name = k.kind, k.name, word
			of = history.Name{Word: word}
			if method, endpoint, both := strings.Cut(word, " "); both && kind == history.Endpoint {
				of = history.Name{Method: method, Word: endpoint}
			}
			v.refusals += "?" + url.Values{k.name: {word}}.Encode()
			break
		}
	}
	v.series, v.known = p.Of(kind, of, span)
	if !v.known {
		v.series = history.Series{At: v.now.Add(-span.Step * time.Duration(span.Points)), Step: span.Step, Points: make([]history.Point, span.Points)}
	}
	v.Since = v.series.At.In(zone)
	for _, m := range p.Marks(v.Since) {
		m.At = m.At.In(zone)
		v.Marks = append(v.Marks, m)
	}
	if kind == history.All {
		v.levels = p.Levels(span)
		for _, k := range pastKinds {
			if !names {
				break
			}
			v.Busy = append(v.Busy, p.busiest(k.kind, k.name, k.title, span))
		}
	}
	if kind == history.Key {
		v.Key = p.of.pastKey(v.Name)
	}
	for i, point := range v.series.Points {
		one := PastPoint{Requests: point.Requests, Refused: point.Refused, Failed: point.Failed, SentKiB: point.Sent, Took: millis(point.Took), Backend: millis(point.Backend)}
		if i < len(v.levels) {
			one.Levels = map[string]uint32{}
			for g, n := range v.levels[i] {
				one.Levels[gaugeNames[g]] = n
			}
		}
		v.Points = append(v.Points, one)
	}
	return v
}

func millis(t history.Times) map[string]float64 {
	if t == (history.Times{}) {
		return nil
	}
	all := map[string]float64{}
	for _, percentile := range history.Percentiles {
		all["p"+strconv.Itoa(percentile)] = float64(t.Of(percentile)) / float64(time.Millisecond)
	}
	return all
}

// busyRows is how many rows a table has.
const busyRows = 10

func (p *past) busiest(kind history.Kind, name, title string, span history.Span) busyTable {
	all, rest := p.Busiest(kind, span)
	t := busyTable{Kind: name, Title: title, Rows: []busyRow{}, Rest: rest.Sum().Requests}
	for i, s := range all {
		sum := s.Sum()
		if i >= busyRows {
			t.Rest += sum.Requests
			continue
		}
		row := busyRow{Name: s.Name.String(), Requests: sum.Requests, Refused: sum.Refused, Failed: sum.Failed, series: s}
		for _, point := range s.Points {
			row.P95 = max(row.P95, point.Took.Of(95))
		}
		t.Rows = append(t.Rows, row)
	}
	return t
}

// pastKey is what the configuration in force says of a key.
func (h *Desk) pastKey(name string) *PastKey {
	keys := h.keys()
	i := slices.IndexFunc(keys, func(k config.Key) bool { return k.Name == name })
	if i < 0 {
		return &PastKey{Name: name}
	}
	key := &keys[i]
	k := &PastKey{Name: name, Mode: cmp.Or(key.Mode, config.ModeEnforce), Configured: true, Addresses: len(key.Addresses.Allow) + len(key.Addresses.Deny)}
	for _, hash := range key.Hashes {
		one := PastKeyHash{SHA256: hash.Hash.Short()}
		if last := h.metrics.lastUse(hash.Hash); !last.IsZero() {
			one.LastUsed = &last
		}
		if end := soonest(key.Expires, hash.Expires); !end.IsZero() {
			one.Expires = &end.Time
		}
		k.Hashes = append(k.Hashes, one)
	}
	for _, rule := range key.Allow {
		k.Allow = append(k.Allow, rule.String())
	}
	if key.Rate != nil {
		k.Limits = append(k.Limits, "of the key "+rateWords(key.Rate))
	}
	if key.ClientRate != nil {
		k.Limits = append(k.Limits, "of each client "+rateWords(key.ClientRate))
	}
	if key.Concurrent > 0 {
		k.Limits = append(k.Limits, fmt.Sprintf("%d at once", key.Concurrent))
	}
	if key.PerDay > 0 {
		k.Limits = append(k.Limits, fmt.Sprintf("%d a day", key.PerDay))
	}
	return k
}

func rateWords(r *config.Rate) string {
	return fmt.Sprintf("%v requests a second, %d at once", r.PerSecond, r.Burst)
}

// Charts are the pictures of a page.
func (v *windowView) Charts() []chart.Chart {
	n := len(v.series.Points)
	ok, refused, failed, whole, backend := make([]float64, n), make([]float64, n), make([]float64, n), make([]float64, n), make([]float64, n)
	for i, p := range v.series.Points {
		seconds := v.series.Step.Seconds()
		if i == n-1 { // which is still under way
			seconds = min(seconds, max(1, v.now.Sub(v.series.At.Add(v.series.Step*time.Duration(i))).Seconds()))
		}
		ok[i], refused[i], failed[i] = float64(p.Requests-p.Refused-p.Failed)/seconds, float64(p.Refused)/seconds, float64(p.Failed)/seconds
		whole[i], backend[i] = ms(p.Took, p.Requests > 0), ms(p.Backend, p.Backend != history.Times{})
	}
	var marks []chart.Mark
	for _, m := range v.Marks {
		marks = append(marks, chart.Mark{Class: m.Kind, At: m.At, Text: m.Text})
	}
	base := chart.Chart{From: v.Since, Step: v.series.Step, Marks: marks}
	rate, times := base, base
	rate.Title, rate.Stack, rate.Format = "Requests a second", true, perSecond
	rate.Layers = []chart.Layer{{Class: "good", Name: "answered", Values: ok}, {Class: "warn", Name: "refused (4xx)", Values: refused}, {Class: "bad", Name: "failed (5xx)", Values: failed}}
	times.Title, times.Format = "Time of 95 in 100 requests (p95)", inMillis
	times.Layers = []chart.Layer{{Class: "whole", Name: "whole request", Values: whole}, {Class: "backend", Name: "of it the backend", Values: backend}}
	charts := []chart.Chart{rate, times}
	if len(v.levels) > 0 {
		busy, calls := base, base
		busy.Title, busy.Format = "Connections of clients, and what waits", count
		busy.Layers = []chart.Layer{v.gauge(history.Connections, "whole", "connections"), v.gauge(history.Waiting, "bad", "calls and logins that wait")}
		calls.Title, calls.Format = "Callbacks", count
		calls.Layers = []chart.Layer{v.gauge(history.Due, "whole", "due"), v.gauge(history.Failing, "bad", "tried in vain")}
		charts = append(charts, busy, calls)
	}
	return charts
}

func (v *windowView) gauge(g history.Gauge, class, name string) chart.Layer {
	l := chart.Layer{Class: class, Name: name, Values: make([]float64, len(v.levels))}
	for i, levels := range v.levels {
		l.Values[i] = float64(levels[g])
	}
	return l
}

func ms(t history.Times, timed bool) float64 {
	if !timed {
		return math.NaN()
	}
	return float64(t.Of(95)) / float64(time.Millisecond)
}

func perSecond(v float64) string { return strconv.FormatFloat(v, 'g', 3, 64) + "/s" }
func count(v float64) string     { return strconv.FormatFloat(v, 'f', -1, 64) }

func inMillis(v float64) string {
	if v >= 1000 {
		return strconv.FormatFloat(v/1000, 'g', 3, 64) + " s"
	}
	return strconv.FormatFloat(v, 'g', 3, 64) + " ms"
}

// Slowest is the p95 of a row in words.
func (r busyRow) Slowest() string { return inMillis(float64(r.P95) / float64(time.Millisecond)) }

// Times are the beginning, the middle and the end of the charts.
func (v *windowView) Times() []string {
	form := "15:04"
	if v.Span == "10m" {
		form = "15:04:05"
	}
	half := v.now.Sub(v.Since) / 2
	return []string{v.Since.Format(form), v.Since.Add(half).Format(form), "now"}
}

// Link is the address of the page of one series, or with no kind of everything.
func (v *windowView) Link(kind, name, span string) string {
	q := url.Values{}
	if kind != "" {
		q.Set(kind, name)
	}
	if span != usualSpan {
		q.Set("span", span)
	}
	path := "/history"
	if kind == "" {
		path = "/"
	}
	if len(q) == 0 {
		return path
	}
	return path + "?" + q.Encode()
}

// Refusals is where the refusals and failures of this page are listed.
func (v *windowView) Refusals() string { return v.refusals }

// Known tells whether there is anything of it in the history.
func (v *windowView) Known() bool { return v.known }

// Words say what the span is.
func (v *windowView) Words() string { return spanWords[v.Span] }

// Spans are those that can be chosen.
func (v *windowView) Spans() []string { return spanNames }

// Spark is a row's requests as a small picture.
func (r busyRow) Spark() template.HTML {
	values, bad := make([]float64, len(r.series.Points)), make([]float64, len(r.series.Points))
	for i, p := range r.series.Points {
		bad[i] = float64(p.Refused + p.Failed)
		values[i] = float64(p.Requests) - bad[i]
	}
	return chart.Chart{Title: r.Name, From: r.series.At, Step: r.series.Step, Stack: true, Format: count,
		Layers: []chart.Layer{{Class: "good", Name: "answered", Values: values}, {Class: "bad", Name: "refused or failed", Values: bad}}}.SVG()
}

// refusalsView is the page of refusals and failures.
type refusalsView struct {
	Filters []refusalFilter   `json:"-"`
	All     []history.Refusal `json:"refusals"`
	Last    int               `json:"-"` // how many the list has at most
	zone    *time.Location
}

// refusalFilter is one that is set, and the address without it.
type refusalFilter struct{ Name, Value, Without string }

type refusalFacet struct {
	name string
	of   func(*history.Refusal) string
}

// refusalMembers are what refusals can be filtered by.
var refusalMembers = []refusalFacet{
	{"key", func(r *history.Refusal) string { return r.Key }}, {"client", func(r *history.Refusal) string { return r.Client }},
	{"endpoint", func(r *history.Refusal) string { return strings.TrimSpace(r.Method + " " + r.Endpoint) }},
	{"reason", func(r *history.Refusal) string { return cmp.Or(r.Cause, r.Reason) }}, {"status", func(r *history.Refusal) string { return strconv.Itoa(r.Status) }},
}

func refusalMember(name string, r *history.Refusal) string {
	return refusalMembers[slices.IndexFunc(refusalMembers, func(m refusalFacet) bool { return m.name == name })].of(r)
}

func (p *past) refusalsOf(query url.Values) refusalsView {
	v := refusalsView{Last: 1000, All: []history.Refusal{}, zone: p.of.config.Server.TimeZone.Location}
	for _, m := range refusalMembers {
		if query.Has(m.name) {
			without := url.Values{}
			for _, other := range refusalMembers {
				if other.name != m.name && query.Has(other.name) {
					without.Set(other.name, query.Get(other.name))
				}
			}
			v.Filters = append(v.Filters, refusalFilter{m.name, query.Get(m.name), "/refusals?" + without.Encode()})
		}
	}
	v.All = append(v.All, p.History.Refusals(func(r *history.Refusal) bool {
		return !slices.ContainsFunc(refusalMembers, func(m refusalFacet) bool { return query.Has(m.name) && m.of(r) != query.Get(m.name) })
	})...)
	return v
}

// More is the address with one filter more.
func (v refusalsView) More(name, value string) string {
	q := url.Values{name: {value}}
	for _, f := range v.Filters {
		if f.Name != name {
			q.Set(f.Name, f.Value)
		}
	}
	return "/refusals?" + q.Encode()
}

// Clock is a moment as the list shows it.
func (v refusalsView) Clock(t time.Time) string { return t.In(v.zone).Format("02 Jan 15:04:05") }

// guarded lets those in who ask from this machine, or with the token of the configuration:
// whose requests were refused is more than health and metrics.
func (h *Desk) guarded(next http.HandlerFunc) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		if h.isOperator(r) {
			next(w, r)
			return
		}
		if h.config.Ops.Token == "" {
			http.Error(w, "this page is for this machine only; ops.token lets others see it", http.StatusForbidden)
			return
		}
		w.Header().Set("WWW-Authenticate", `Basic realm="frontdesk, any name and ops.token as the password"`)
		http.Error(w, "this page wants ops.token, as the password or as a bearer token", http.StatusUnauthorized)
	}
}

func (h *Desk) isOperator(r *http.Request) bool {
	forwarded := r.Header.Get("Forwarded") != "" || r.Header.Get("X-Forwarded-For") != "" // a proxy on this machine asks for somebody
	if from, err := netip.ParseAddrPort(r.RemoteAddr); err == nil && from.Addr().Unmap().IsLoopback() && !forwarded {
		return true
	}
	token := string(h.config.Ops.Token)
	if token == "" {
		return false
	}
	_, given, _ := r.BasicAuth()
	if bearer, ok := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer "); ok {
		given = bearer
	}
	asked, wanted := sha256.Sum256([]byte(given)), sha256.Sum256([]byte(token))
	return subtle.ConstantTimeCompare(asked[:], wanted[:]) == 1
}
