// Package chart draws figures over time as SVG: for pages that are made on the server and
// need nothing from outside. Colours are the page's, by the class of each layer.
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
	Class  string // of CSS
	Name   string // as readers of the picture are told
	Values []float64
}

// Mark is a moment in the chart.
type Mark struct {
	Class string
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
	Format func(float64) string // of a value, as 12/s or 3 ms
}

// The size of the picture in its own units; the page scales it.
const (
	width, height = 720, 140
	top           = 10 // above the highest value
)

// SVG draws the chart.
func (c Chart) SVG() template.HTML {
	var b strings.Builder
	most := c.most()
	label := c.label(most)
	fmt.Fprintf(&b, `<svg class="chart" viewBox="0 0 %d %d" preserveAspectRatio="none" role="img" aria-label="%s">`, width, height, template.HTMLEscapeString(label))
	for _, of := range []float64{0.5, 1} {
		y := yOf(of*most, most)
		fmt.Fprintf(&b, `<line class="grid" x1="0" x2="%d" y1="%s" y2="%s"/>`, width, y, y)
	}
	var below []float64
	for _, l := range c.Layers {
		if c.Stack {
			below = c.area(&b, l, below, most)
		} else {
			c.line(&b, l, most)
		}
	}
	for _, m := range c.Marks {
		at := float64(m.At.Sub(c.From)) / float64(c.Step)
		if at < 0 || at > float64(c.steps()) {
			continue
		}
		x := c.xOf(at)
		text := template.HTMLEscapeString(m.At.Format("15:04:05 MST ") + m.Text)
		fmt.Fprintf(&b, `<line class="mark %s" x1="%s" x2="%s" y1="0" y2="%d"><title>%s</title></line>`, m.Class, x, x, height, text)
	}
	b.WriteString("</svg>")
	return template.HTML(b.String()) // #nosec G203 -- all texts in it are escaped
}

// Most is the top of the scale, as the page writes it beside the picture.
func (c Chart) Most() string { return c.Format(c.most()) }

// label says in words what the picture shows.
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

// most is the highest value, rounded up to one that reads well.
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

// area draws a layer on those below and returns what it reaches. A step is as wide as it
// took: what happened in it is told for all of it.
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
	fmt.Fprintf(b, `Z"><title>%s</title></path>`, template.HTMLEscapeString(l.Name))
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
		if pen == "M" { // one value alone is seen too
			fmt.Fprintf(&path, "h.1")
		}
		pen = "L"
	}
	if path.Len() > 0 {
		fmt.Fprintf(b, `<path class="line %s" d="%s"><title>%s</title></path>`, l.Class, path.String(), template.HTMLEscapeString(l.Name))
	}
}

func (c Chart) xOf(step float64) string { return short(step * width / float64(c.steps())) }

func yOf(v, most float64) string { return short(height - v/most*(height-top)) }

func short(v float64) string { return strconv.FormatFloat(math.Round(v*10)/10, 'f', -1, 64) }
