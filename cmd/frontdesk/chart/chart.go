// Package chart draws figures over time as SVG, for pages that are made on the server and load
// nothing from outside. The page sets the colours, by the class of each layer.
package chart

import (
	"fmt"
	"html/template"
	"math"
	"strconv"
	"strings"
	"time"
)

// Layer is one line or area: a value for each step, oldest first. NaN is a gap.
type Layer struct {
	Class  string // CSS class
	Name   string // shown to readers
	Values []float64
}

// Mark is a moment in the chart.
type Mark struct {
	Class string
	Word  string // label beside the mark
	At    time.Time
	Text  string
}

// Chart is a picture of layers over the same steps.
type Chart struct {
	Title  string
	From   time.Time
	Step   time.Duration
	Layers []Layer
	Stack  bool // the layers are areas on top of each other, else lines
	Marks  []Mark
	Format func(float64) string // formats a value, as 12/s or 3 ms
}

// The size of the picture in its own units; the page scales it.
const (
	width, height = 720, 140
	top           = 18 // space above the highest value, for the words of marks
)

// SVG draws the chart with its scale, the words of its marks, and the values of each step, which a
// page shows when the pointer is on the step.
func (c Chart) SVG() template.HTML {
	var b strings.Builder
	most := c.most()
	fmt.Fprintf(&b, `<svg class="chart" role="img" aria-label="%s">`, template.HTMLEscapeString(c.label(most)))
	c.picture(&b, most)
	for _, of := range []float64{0.5, 1} {
		fmt.Fprintf(&b, `<text x="4" y="%s%%">%s</text>`, percent(height-of*(height-top)-2, height), template.HTMLEscapeString(c.Format(of*most)))
	}
	c.values(&b)
	lastWord := math.Inf(-1)
	for _, m := range c.Marks {
		at := float64(m.At.Sub(c.From)) / float64(c.Step) / float64(c.steps())
		if at < 0 || at > 1 {
			continue
		}
		x := percent(at, 1)
		fmt.Fprintf(&b, `<line class="mark %s" x1="%s%%" x2="%s%%" y1="0" y2="100%%"><title>%s</title></line>`, m.Class, x, x, template.HTMLEscapeString(m.At.Format("15:04:05 MST ")+m.Text))
		switch { // leave out a word that would cover another
		case at-lastWord < 0.12:
			continue
		case at > 0.9:
			fmt.Fprintf(&b, `<text class="mark %s" x="%s%%" dx="-3" y="11" text-anchor="end">%s</text>`, m.Class, x, template.HTMLEscapeString(m.Word))
		default:
			fmt.Fprintf(&b, `<text class="mark %s" x="%s%%" dx="3" y="11">%s</text>`, m.Class, x, template.HTMLEscapeString(m.Word))
		}
		lastWord = at
	}
	b.WriteString("</svg>")
	return template.HTML(b.String()) // #nosec G203 -- all texts in it are escaped
}

// Spark draws the layers alone.
func (c Chart) Spark() template.HTML {
	var b strings.Builder
	most := c.most()
	fmt.Fprintf(&b, `<svg class="chart" role="img" aria-label="%s">`, template.HTMLEscapeString(c.label(most)))
	c.picture(&b, most)
	b.WriteString("</svg>")
	return template.HTML(b.String()) // #nosec G203 -- all texts in it are escaped
}

// picture draws the layers, scaled to the available space.
func (c Chart) picture(b *strings.Builder, most float64) {
	fmt.Fprintf(b, `<svg viewBox="0 0 %d %d" preserveAspectRatio="none" width="100%%" height="100%%">`, width, height)
	for _, of := range []float64{0.5, 1} {
		y := yOf(of*most, most)
		fmt.Fprintf(b, `<line class="grid" x1="0" x2="%d" y1="%s" y2="%s"/>`, width, y, y)
	}
	var below []float64
	for _, l := range c.Layers {
		if c.Stack {
			below = c.area(b, l, below, most)
		} else {
			c.line(b, l, most)
		}
	}
	b.WriteString("</svg>")
}

// mostPointed is how many parts of the chart the pointer can select.
const mostPointed = 180

// values draws the parts that the pointer can select: one for each step, or for several if there are many.
func (c Chart) values(b *strings.Builder) {
	together := (c.steps() + mostPointed - 1) / mostPointed
	for i := 0; i < c.steps(); i += together {
		text := c.at(i, together)
		if text == "" {
			continue
		}
		fmt.Fprintf(b, `<rect class="step" x="%s%%" width="%s%%" height="100%%"><title>%s</title></rect>`,
			percent(float64(i), float64(c.steps())), percent(float64(together), float64(c.steps())), template.HTMLEscapeString(text))
	}
}

// at describes some steps by the highest value of each layer; "" if there is nothing.
func (c Chart) at(from, together int) string {
	parts, any := make([]string, 0, len(c.Layers)), false
	for _, l := range c.Layers {
		most := math.Inf(-1)
		for _, v := range l.Values[min(from, len(l.Values)):min(from+together, len(l.Values))] {
			if v > most { // false for NaN
				most = v
			}
		}
		if !math.IsInf(most, -1) {
			parts, any = append(parts, c.Format(most)+" "+l.Name), any || most > 0
		}
	}
	if !any {
		return ""
	}
	return c.From.Add(time.Duration(from)*c.Step).Format("15:04:05 MST ") + strings.Join(parts, ", ")
}

// label describes in words what the chart shows.
func (c Chart) label(most float64) string {
	parts := make([]string, 0, len(c.Layers))
	for _, l := range c.Layers {
		last := 0.0
		if n := len(l.Values); n > 0 && !math.IsNaN(l.Values[n-1]) {
			last = l.Values[n-1]
		}
		parts = append(parts, l.Name+" now "+c.Format(last))
	}
	return fmt.Sprintf("%s: at most %s; %s", c.Title, c.Format(most), strings.Join(parts, ", "))
}

func (c Chart) steps() int {
	n := 0
	for _, l := range c.Layers {
		n = max(n, len(l.Values))
	}
	return max(n, 1)
}

// most returns the highest value, rounded up to a round number.
func (c Chart) most() float64 {
	most := 0.0
	for i := range c.steps() {
		sum := 0.0
		for _, l := range c.Layers {
			if i >= len(l.Values) || math.IsNaN(l.Values[i]) {
				continue
			}
			if c.Stack {
				sum += l.Values[i]
			} else {
				sum = max(sum, l.Values[i])
			}
		}
		most = max(most, sum)
	}
	return nice(most)
}

// nice rounds up to 1, 2 or 5 times a power of ten.
func nice(v float64) float64 {
	if v <= 0 {
		return 1
	}
	power := math.Pow(10, math.Floor(math.Log10(v)))
	for _, times := range []float64{1, 2, 5} {
		if v <= times*power*(1+1e-9) {
			return times * power
		}
	}
	return 10 * power
}

// area draws a layer on top of those below, and returns the heights that it reaches. Each value is
// drawn over the whole width of its step.
func (c Chart) area(b *strings.Builder, l Layer, below []float64, most float64) []float64 {
	n := c.steps()
	if below == nil {
		below = make([]float64, n)
	}
	reached := make([]float64, n)
	any := false
	for i := range n {
		reached[i] = below[i]
		if i < len(l.Values) && l.Values[i] > 0 {
			reached[i] += l.Values[i]
			any = true
		}
	}
	if !any {
		return reached
	}
	fmt.Fprintf(b, `<path class="area %s" d="M0 %s`, l.Class, yOf(reached[0], most))
	for i := range n {
		fmt.Fprintf(b, "V%sH%s", yOf(reached[i], most), c.xOf(float64(i+1)))
	}
	for i := n - 1; i >= 0; i-- {
		fmt.Fprintf(b, "V%sH%s", yOf(below[i], most), c.xOf(float64(i)))
	}
	b.WriteString(`Z"/>`)
	return reached
}

// line draws a layer through the middles of its steps, with gaps where there is no value.
func (c Chart) line(b *strings.Builder, l Layer, most float64) {
	var path strings.Builder
	pen := "M"
	for i, v := range l.Values {
		if math.IsNaN(v) {
			pen = "M"
			continue
		}
		x := c.xOf(float64(i) + 0.5)
		fmt.Fprintf(&path, "%s%s %s", pen, x, yOf(v, most))
		if pen == "M" { // makes a single value visible
			fmt.Fprintf(&path, "h.1")
		}
		pen = "L"
	}
	if path.Len() > 0 {
		fmt.Fprintf(b, `<path class="line %s" d="%s"/>`, l.Class, path.String())
	}
}

func (c Chart) xOf(step float64) string { return short(step * width / float64(c.steps())) }

func yOf(v, most float64) string { return short(height - v/most*(height-top)) }

func percent(part, of float64) string { return short(100 * part / of) }

func short(v float64) string { return strconv.FormatFloat(math.Round(v*10)/10, 'f', -1, 64) }
