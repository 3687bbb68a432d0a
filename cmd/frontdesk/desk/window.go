package desk

import (
	"context"
	"crypto/sha256"
	_ "embed"
	"encoding/base64"
	"html/template"
	"math"
	"net/url"
	"strconv"
	"strings"
	"time"

	"frontdesk/cmd/frontdesk/chart"
	"frontdesk/cmd/frontdesk/history"
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
	Of       string         `json:"of,omitempty"` // endpoint, key, client, reason or backend; "" for everything
	Name     string         `json:"name,omitempty"`
	Since    time.Time      `json:"since"`
	Step     int            `json:"step_seconds"`
	Points   []PastPoint    `json:"points"`
	Marks    []history.Mark `json:"marks"`
	Busy     []busyTable    `json:"busiest,omitempty"`
	Key      *PastKey       `json:"key,omitempty"`
	Client   *PastClient    `json:"client,omitempty"`
	Endpoint *PastEndpoint  `json:"endpoint,omitempty"`
	Gateways []GatewayRow   `json:"gateways,omitempty"` // whose sum it is; none if it is this one alone
	There    int            `json:"gateways_there"`     // how many there are; 0 where sessions are in memory
	Fault    string         `json:"fault,omitempty"`    // why there is no sum
	Known    bool           `json:"-"`                  // whether there is anything of it in the history
	Refusals string         `json:"-"`                  // where what is on this page is listed one by one
	series   history.Series
	levels   []history.Levels
	now      time.Time
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

// busyTable are the busiest of one kind.
type busyTable struct {
	Kind  string    `json:"kind"`
	Title string    `json:"-"`
	Rows  []busyRow `json:"rows"`
	Rest  uint32    `json:"rest"` // requests of those without a row
}

type busyRow struct {
	Name     string        `json:"name"`
	Requests uint32        `json:"requests"`
	Refused  uint32        `json:"refused"`
	Failed   uint32        `json:"failed"`
	P95      time.Duration `json:"p95_ns"` // the highest of the steps
	series   history.Series
}

// pastKinds are the kinds of series that pages are of, by their name in an address.
var pastKinds = []struct {
	kind        history.Kind
	name, title string
}{{history.Endpoint, "endpoint", "Endpoints"}, {history.Key, "key", "Keys"}, {history.Client, "client", "Clients"}, {history.Reason, "reason", "Reasons of refusals and failures"}, {history.Calls, backendKind, "Calls of the backend"}}

// backendKind is the kind whose table has a page of its own.
const backendKind = "backend"

// gaugeNames are those of history.Levels, in its order.
var gaugeNames = [...]string{"connections", "backend_running", "waiting", "pool", "callbacks_due", "callbacks_failing"}

// ofGateways is the parameter with which a page is of all gateways, and allGateways its value.
const ofGateways, allGateways = "gateways", "all"

// windowOf makes the view of everything, with the names of who was busiest only where they
// may be seen, or of what an address names.
func (p *past) windowOf(ctx context.Context, query map[string]string, names bool) *windowView {
	name := query["span"]
	span, ok := history.Spans[name]
	if !ok {
		name = usualSpan
		span = history.Spans[name]
	}
	zone := p.of.config.Server.TimeZone.Location
	v := &windowView{Span: name, Step: int(span.Step / time.Second), now: time.Now().In(zone), Refusals: "/refusals"}
	kind, of := history.All, history.Name{}
	for _, k := range pastKinds {
		if word := query[k.name]; word != "" {
			kind, v.Of, v.Name = k.kind, k.name, word
			of = history.Name{Word: word}
			if method, endpoint, both := strings.Cut(word, " "); both && kind == history.Endpoint {
				of = history.Name{Method: method, Word: endpoint}
			}
			v.Refusals += "?" + url.Values{k.name: {word}}.Encode()
			if k.name == backendKind {
				_, resource, _ := strings.Cut(word, " of ")
				v.Refusals = "/backends?" + url.Values{"resource": {resource}}.Encode() + "#slowest"
			}
			break
		}
	}
	if kind == history.All {
		v.series, v.levels = p.Window(span)
		v.Known = true
	} else if v.series, v.Known = p.Of(kind, of, span); !v.Known {
		v.series = history.Series{At: v.now.Add(-span.Step * time.Duration(span.Points)), Step: span.Step, Points: make([]history.Point, span.Points)}
	}
	v.Since = v.series.At.In(zone)
	for _, m := range p.Marks(v.Since) {
		m.At = m.At.In(zone)
		v.Marks = append(v.Marks, markFor(m, names))
	}
	if kind == history.All {
		for _, k := range pastKinds {
			if !names || k.name == backendKind {
				break
			}
			v.Busy = append(v.Busy, p.busiest(k.kind, k.name, k.title, span))
		}
	}
	if p.others != nil {
		v.There = int(p.others.there.Load())
	}
	if query[ofGateways] == allGateways {
		v.gather(ctx, p, span, names)
	}
	for i := range v.Busy {
		v.Busy[i].cut()
	}
	switch kind {
	case history.Key:
		v.Key = p.of.pastKey(v.Name)
	case history.Client:
		v.Client = p.of.pastClient(v.Name)
	case history.Endpoint:
		v.Endpoint = p.of.pastEndpoint(of)
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

// markFor is a mark as those see it who may see names, or may not.
func markFor(m history.Mark, names bool) history.Mark {
	if !names && m.Kind != "circuit" {
		m.Text, _, _ = strings.Cut(m.Text, ": ")
	}
	return m
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

// cut keeps the busiest rows of a table.
func (t *busyTable) cut() {
	for _, row := range t.Rows[min(busyRows, len(t.Rows)):] {
		t.Rest += row.Requests
	}
	t.Rows = t.Rows[:min(busyRows, len(t.Rows))]
}

func (p *past) busiest(kind history.Kind, name, title string, span history.Span) busyTable {
	all, rest := p.Busiest(kind, span)
	t := busyTable{Kind: name, Title: title, Rows: []busyRow{}, Rest: rest.Sum().Requests}
	for _, s := range all {
		sum := s.Sum()
		row := busyRow{Name: s.Name.String(), Requests: sum.Requests, Refused: sum.Refused, Failed: sum.Failed, series: s}
		for _, point := range s.Points {
			row.P95 = max(row.P95, point.Took.Of(95))
		}
		t.Rows = append(t.Rows, row)
	}
	return t
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
	if v.Of == backendKind {
		rate.Title, rate.Layers[1].Name, rate.Layers[2].Name = "Calls a second", "not made: no room, or the circuit is open", "failed"
		times.Title, times.Layers = "Time of 95 in 100 calls (p95)", []chart.Layer{{Class: "backend", Name: "whole call", Values: whole}}
	}
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
	form := "15:04 MST"
	if v.Span == "10m" {
		form = "15:04:05 MST"
	}
	half := v.now.Sub(v.Since) / 2
	return []string{v.Since.Format(form), v.Since.Add(half).Format(form), "now"}
}

// Link is the address of the page of one series, or with no kind of everything.
func (v *windowView) Link(kind, name, span string) string {
	return v.link(kind, name, span, v.OfAll())
}

// Sum is what all gateways of a page did together.
func (v *windowView) Sum() GatewayRow {
	var sum GatewayRow
	for _, row := range v.Gateways {
		sum.Requests, sum.Refused, sum.Failed = sum.Requests+row.Requests, sum.Refused+row.Refused, sum.Failed+row.Failed
	}
	return sum
}

// OfAll tells whether the page is of all gateways.
func (v *windowView) OfAll() bool { return len(v.Gateways) > 0 }

// Other is the address of the same of all gateways, or of this one alone.
func (v *windowView) Other() string { return v.link(v.Of, v.Name, v.Span, !v.OfAll()) }

func (v *windowView) link(kind, name, span string, all bool) string {
	q := url.Values{}
	if all {
		q.Set(ofGateways, allGateways)
	}
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
