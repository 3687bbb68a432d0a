package chart

import (
	"encoding/xml"
	"io"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestSVG(t *testing.T) {
	from := time.Date(2026, 11, 23, 10, 0, 0, 0, time.UTC)
	c := Chart{
		Title: "Requests", From: from, Step: time.Minute, Stack: true, Format: short,
		Layers: []Layer{{"good", "answered", []float64{0, 10, 30}}, {"bad", `"failed" & <more>`, []float64{0, 0, 7}}, {"none", "nothing", []float64{0, 0, 0}}},
		Marks:  []Mark{{"configuration", "config", from.Add(90 * time.Second), "<abc> in force"}, {"start", "start", from.Add(-time.Minute), "before"}},
	}
	picture := string(c.SVG())
	require.Contains(t, picture, `>50</text>`, "the scale")
	require.Contains(t, picture, `>25</text>`)
	require.Contains(t, picture, `aria-label="Requests: at most 50; answered now 30, &#34;failed&#34; &amp; &lt;more&gt; now 7, nothing now 0"`)
	require.Contains(t, picture, `<path class="area good" d="M0 140V140H240V115.6H480V66.8H720V140H480V140H240V140H0Z"/>`)
	require.Contains(t, picture, `V49.7H720V66.8`, "on top of the other")
	require.Contains(t, picture, `x1="50%" x2="50%" y1="0" y2="100%"><title>10:01:30 UTC &lt;abc&gt; in force</title></line><text class="mark configuration" x="50%" dx="3" y="11">config</text>`)
	require.Contains(t, picture, `<title>10:02:00 UTC 30 answered, 7 &#34;failed&#34; &amp; &lt;more&gt;, 0 nothing</title>`, "what the last step had")
	require.NotContains(t, picture, "before")
	require.NotContains(t, picture, `class="area none"`)
	requireWellFormed(t, picture)

	lines := Chart{Title: "Time", From: from, Step: time.Minute, Format: short, Layers: []Layer{{"p95", "p95", []float64{1, math.NaN(), 2, 3}}}}
	require.Contains(t, string(lines.SVG()), `d="M90 115.6h.1M450 91.2h.1L630 66.8"`)
	requireWellFormed(t, string(lines.SVG()))
	requireWellFormed(t, string(Chart{Title: "Empty", Step: time.Minute, Format: short}.SVG()))
}

func requireWellFormed(t *testing.T, text string) {
	t.Helper()
	for d := xml.NewDecoder(strings.NewReader(text)); ; {
		if _, err := d.Token(); err == io.EOF {
			return
		} else if err != nil {
			require.NoError(t, err, text)
		}
	}
}

func TestNice(t *testing.T) {
	for v, want := range map[float64]float64{0: 1, 1: 1, 1.1: 2, 3: 5, 5.01: 10, 0.03: 0.05, 1234: 2000} {
		require.InEpsilon(t, want, nice(v), 1e-9, "%v", v)
	}
}
