package desk

import (
	"context"
	"html/template"
	"math"
	"net/url"
	"strconv"
	"strings"
	"time"

	"frontdesk/cmd/frontdesk/chart"
	"frontdesk/cmd/frontdesk/instrument"
)

// spanNames are the spans that pages offer, shortest first; spanWords are their names in words.
var (
	spanNames = []string{"10m", "30m", "2h", "6h", "24h"}
	spanWords = map[string]string{"10m": "10 minutes", "30m": "30 minutes", "2h": "2 hours", "6h": "6 hours", "24h": "24 hours"}
)

const usualSpan = "30m"

// spanOf returns the span that an address names, or the usual one.
func spanOf(query map[string]string) (string, instrument.Span) {
	if span, ok := instrument.Spans[query["span"]]; ok {
		return query["span"], span
	}
	return usualSpan, instrument.Spans[usualSpan]
}

// ofGateways is the parameter that makes a page show all gateways, and allGateways its value.
const ofGateways, allGateways = "gateways", "all"

// windowView is what the charts and tables of a page are made of.
type windowView struct {
	Span     string            `json:"span"`
	Of       string            `json:"of,omitempty"` // endpoint, key, client, reason or backend; "" for everything
	Name     string            `json:"name,omitempty"`
	Since    time.Time         `json:"since"`
	Step     int               `json:"step_seconds"`
	Points   []PastPoint       `json:"points"`
	Marks    []instrument.Mark `json:"marks"`
	Busy     []busyTable       `json:"busiest,omitempty"`
	Key      *PastKey          `json:"key,omitempty"`
	Client   *PastClient       `json:"client,omitempty"`
	Endpoint *PastEndpoint     `json:"endpoint,omitempty"`
	Gateways []GatewayRow      `json:"gateways,omitempty"` // the gateways that are summed up; empty for this one alone
	There    int               `json:"gateways_there"`     // how many gateways there are; 0 if sessions are in memory
	Fault    string            `json:"fault,omitempty"`    // why all gateways could not be summed up
	Known    bool              `json:"-"`                  // whether the history has anything of Name
	Refusals string            `json:"-"`                  // address of the list of refusals
	series   *instrument.Series
	levels   []instrument.Levels
	now      time.Time
}

// PastPoint is what happened in one step, for programs.
type PastPoint struct {
	Requests uint32             `json:"requests"`
	Refused  uint32             `json:"refused"`
	Failed   uint32             `json:"failed"`
	Took     map[string]float64 `json:"took_ms,omitempty"`    // percentiles, and the mean
	Backend  *float64           `json:"backend_ms,omitempty"` // the backend's part of the mean
	Levels   map[string]uint32  `json:"levels,omitempty"`
}

// busyTable is a table of the busiest series of one kind.
type busyTable struct {
	Kind  string    `json:"kind"`
	Title string    `json:"-"`
	Timed bool      `json:"-"`
	Rows  []busyRow `json:"rows"`
	Rest  uint32    `json:"rest"` // requests of the series without a row
}

type busyRow struct {
	Name     string        `json:"name"`
	Requests uint32        `json:"requests"`
	Refused  uint32        `json:"refused"`
	Failed   uint32        `json:"failed"`
	P95      time.Duration `json:"p95_ns,omitempty"` // the highest of the steps
	points   []instrument.Entry
}

// pastKinds are the kinds of series that pages show, by their name in an address. The last one has a
// page of its own.
var pastKinds = []struct {
	kind        instrument.Kind
	name, title string
}{{instrument.Endpoint, "endpoint", "Endpoints"}, {instrument.Key, "key", "Keys"}, {instrument.Client, "client", "Clients"}, {instrument.Reason, "reason", "Reasons of refusals and failures"}, {instrument.Calls, backendKind, "Calls of the backend"}}

const backendKind = "backend"

// levelNames are the names of instrument.Levels, in its order.
var levelNames = [...]string{"connections", "backend_running", "waiting", "pool", "callbacks_due", "callbacks_failing"}

// windowOf makes the view of everything, or of the series that an address names. It holds the names of
// keys and clients only if names is true.
func (p *past) windowOf(ctx context.Context, query map[string]string, names bool) *windowView {
	all := query[ofGateways] == allGateways
	name, span := spanOf(query)
	did := p.inSpan(ctx, span, all)
	zone := p.of.config.Server.TimeZone.Location
	v := &windowView{
		Span: name, Since: did.At.In(zone), Step: int(span.Step / time.Second), now: time.Now().In(zone), Refusals: "/refusals", Gateways: did.Gateways, Fault: did.Fault,
	}
	if p.others != nil {
		v.There = int(p.others.there.Load())
	}
	kind := instrument.All
	for _, k := range pastKinds {
		if word := query[k.name]; word != "" {
			kind, v.Of, v.Name = k.kind, k.name, word
			v.Refusals += "?" + url.Values{k.name: {word}}.Encode()
			if k.name == backendKind {
				_, resource, _ := strings.Cut(word, " of ")
				v.Refusals = "/backends?" + url.Values{"resource": {resource}}.Encode() + "#slowest"
			}
			break
		}
	}
	v.series, v.Known = did.Of(kind, v.Name)
	for _, m := range did.Marks {
		m.At = m.At.In(zone)
		if !names && m.Kind != "circuit" {
			m.Text, _, _ = strings.Cut(m.Text, ": ")
		}
		v.Marks = append(v.Marks, m)
	}
	switch kind {
	case instrument.All:
		v.Known, v.levels = true, did.Levels
		for _, k := range pastKinds[:len(pastKinds)-1] {
			if names {
				v.Busy = append(v.Busy, busiest(did.View, k.kind, k.name, k.title))
			}
		}
	case instrument.Key:
		v.Key = p.of.pastKey(v.Name, did.Refusals)
	case instrument.Client:
		v.Client = p.of.pastClient(v.Name)
	case instrument.Endpoint:
		v.Endpoint = p.of.pastEndpoint(v.Name)
	}
	v.addPoints()
	return v
}

// addPoints fills in Points.
func (v *windowView) addPoints() {
	for i, e := range v.series.Points {
		one := PastPoint{Requests: e.Requests, Refused: e.Refused, Failed: e.Failed}
		if e.Percentiles != (instrument.Times{}) {
			one.Took = map[string]float64{"mean": mean(e.Took, e.Requests)}
			for k, percentile := range instrument.Percentiles {
				one.Took["p"+strconv.Itoa(percentile)] = 1000 * float64(e.Percentiles[k])
			}
			backend := mean(e.Backend, e.Requests)
			one.Backend = &backend
		}
		if i < len(v.levels) {
			one.Levels = map[string]uint32{}
			for l, n := range v.levels[i] {
				one.Levels[levelNames[l]] = n
			}
		}
		v.Points = append(v.Points, one)
	}
}

// mean returns how many ms a request took on average.
func mean(seconds float32, requests uint32) float64 {
	return 1000 * float64(seconds) / float64(max(requests, 1))
}

// busyRows is how many rows a table has.
const busyRows = 10

func busiest(v *instrument.View, kind instrument.Kind, name, title string) busyTable {
	all, rest := v.Busiest(kind)
	t := busyTable{Kind: name, Title: title, Timed: kind == instrument.Endpoint, Rows: []busyRow{}, Rest: rest.Requests}
	for i, s := range all {
		if i < busyRows {
			t.Rows = append(t.Rows, rowOfSeries(s))
		} else {
			t.Rest += s.Sum.Requests
		}
	}
	return t
}

func rowOfSeries(s *instrument.Series) busyRow {
	return busyRow{Name: s.Name, Requests: s.Sum.Requests, Refused: s.Sum.Refused, Failed: s.Sum.Failed, P95: seconds(s.Sum.Percentiles[1]), points: s.Points}
}

func seconds(s float32) time.Duration { return time.Duration(float64(s) * float64(time.Second)) }

// Charts returns the charts of a page.
func (v *windowView) Charts() []chart.Chart {
	base := chart.Chart{From: v.Since, Step: time.Duration(v.Step) * time.Second}
	for _, m := range v.Marks {
		base.Marks = append(base.Marks, chart.Mark{Class: m.Kind, Word: markWords[m.Kind], At: m.At, Text: m.Text})
	}
	rate, times := base, base
	rate.Title, rate.Stack, rate.Format = "Requests a second", true, perSecond
	rate.Layers = v.rates()
	if v.Of == backendKind {
		rate.Title, rate.Layers[1].Name = "Calls a second", "not made: no room, or the circuit is open"
	}
	charts := []chart.Chart{rate}
	if v.Of == "" || v.Of == "endpoint" || v.Of == backendKind {
		times.Title, times.Format = "Time of requests", inMillis
		times.Layers = []chart.Layer{v.times("whole", "p95", func(e *instrument.Entry) float64 { return 1000 * float64(e.Percentiles[1]) }),
			v.times("mean", "mean", func(e *instrument.Entry) float64 { return mean(e.Took, e.Requests) })}
		if v.Of != backendKind {
			times.Layers = append(times.Layers, v.times("backend", "of the mean the backend", func(e *instrument.Entry) float64 { return mean(e.Backend, e.Requests) }))
		}
		charts = append(charts, times)
	}
	if len(v.levels) > 0 {
		busy, calls := base, base
		busy.Title, busy.Format = "Connections of clients, and what waits", count
		busy.Layers = []chart.Layer{v.level(instrument.Connections, "whole", "connections"), v.level(instrument.Waiting, "bad", "calls and logins that wait")}
		calls.Title, calls.Format = "Callbacks", count
		calls.Layers = []chart.Layer{v.level(instrument.Due, "whole", "due"), v.level(instrument.Failing, "bad", "tried in vain")}
		charts = append(charts, busy, calls)
	}
	return charts
}

// markWords are the words beside the marks in a chart.
var markWords = map[string]string{markStart: "start", markStop: "stop", "configuration": "config", "circuit": "circuit", "key": "key"}

// rates returns how many requests a second were answered, refused, and failed.
func (v *windowView) rates() []chart.Layer {
	per := func(i int) float64 {
		step := float64(v.Step)
		if i == len(v.series.Points)-1 { // the last step is still under way
			step = min(step, max(1, v.now.Sub(v.Since).Seconds()-step*float64(i)))
		}
		return 1 / step
	}
	return outcomes(v.series.Points, per)
}

// outcomes returns the layers of all charts of requests.
func outcomes(points []instrument.Entry, per func(i int) float64) []chart.Layer {
	ok, refused, failed := make([]float64, len(points)), make([]float64, len(points)), make([]float64, len(points))
	for i, p := range points {
		ok[i], refused[i], failed[i] = per(i)*(float64(p.Requests)-float64(p.Refused)-float64(p.Failed)), per(i)*float64(p.Refused), per(i)*float64(p.Failed)
	}
	return []chart.Layer{{Class: "good", Name: "answered", Values: ok}, {Class: "warn", Name: "refused (4xx)", Values: refused}, {Class: "bad", Name: "failed (5xx)", Values: failed}}
}

func (v *windowView) times(class, name string, of func(*instrument.Entry) float64) chart.Layer {
	l := chart.Layer{Class: class, Name: name, Values: make([]float64, len(v.series.Points))}
	for i := range v.series.Points {
		if l.Values[i] = of(&v.series.Points[i]); v.series.Points[i].Requests == 0 {
			l.Values[i] = math.NaN()
		}
	}
	return l
}

func (v *windowView) level(of instrument.Level, class, name string) chart.Layer {
	l := chart.Layer{Class: class, Name: name, Values: make([]float64, len(v.levels))}
	for i, levels := range v.levels {
		l.Values[i] = float64(levels[of])
	}
	return l
}

func perSecond(v float64) string { return strconv.FormatFloat(v, 'g', 3, 64) + "/s" }
func count(v float64) string     { return strconv.FormatFloat(v, 'f', -1, 64) }

func inMillis(v float64) string {
	if v >= 1000 {
		return strconv.FormatFloat(v/1000, 'g', 3, 64) + " s"
	}
	return strconv.FormatFloat(v, 'g', 3, 64) + " ms"
}

// Slowest formats the p95 of a row.
func (r busyRow) Slowest() string { return inMillis(float64(r.P95) / float64(time.Millisecond)) }

// Spark draws a row's requests as a small chart.
func (r busyRow) Spark() template.HTML {
	return chart.Chart{Title: r.Name, Stack: true, Format: count, Layers: outcomes(r.points, func(int) float64 { return 1 })}.Spark()
}

// Times returns the times at the beginning, the middle and the end of the charts.
func (v *windowView) Times() []string {
	form := "15:04 MST"
	if v.Span == "10m" {
		form = "15:04:05 MST"
	}
	half := v.now.Sub(v.Since) / 2
	return []string{v.Since.Format(form), v.Since.Add(half).Format(form), "now"}
}

// Sum returns what all gateways of a page did together.
func (v *windowView) Sum() GatewayRow {
	var sum GatewayRow
	for _, row := range v.Gateways {
		sum.Requests, sum.Refused, sum.Failed = sum.Requests+row.Requests, sum.Refused+row.Refused, sum.Failed+row.Failed
	}
	return sum
}

// Now returns when the page was made.
func (v *windowView) Now() time.Time { return v.now }

// Last returns the last mark; nil if there is none.
func (v *windowView) Last() *instrument.Mark {
	if len(v.Marks) == 0 {
		return nil
	}
	last := v.Marks[len(v.Marks)-1]
	if last.Kind == "configuration" { // the verdict has the problem already
		last.Text, _, _ = strings.Cut(last.Text, ": ")
	}
	return &last
}

// OfAll reports whether the page shows all gateways.
func (v *windowView) OfAll() bool { return len(v.Gateways) > 0 }

// Link returns the address of the page of one series, or of everything if kind is "".
func (v *windowView) Link(kind, name, span string) string {
	return v.link(kind, name, span, v.OfAll())
}

// Other returns the address of the same page for all gateways, or for this one alone.
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
