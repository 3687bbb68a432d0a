package accesslog

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"math"
	"slices"
	"strings"
	"time"

	"frontdesk/cmd/frontdesk/terminal"
)

// Loads are the numbers of requests, and their durations, by client, by api_key, by
// endpoint, or by what they named that is deprecated.
type Loads struct {
	by             string
	all            load
	parts          map[string]*load
	oldest, newest time.Time
}

// byDeprecated counts by what is deprecated, and by api_key.
const byDeprecated = "deprecated"

// countedAs are the names that a request is counted under.
func (l *Line) countedAs(by string) []string {
	switch by {
	case "client":
		return []string{cmp.Or(l.Client, "not known")}
	case "endpoint":
		return []string{l.asked()}
	case byDeprecated:
		names := make([]string, len(l.Deprecated))
		for i, name := range l.Deprecated {
			names[i] = name + " by " + cmp.Or(l.Key, "not known")
		}
		return names
	default:
		return []string{cmp.Or(l.Key, "not known")}
	}
}

// Count counts the requests of moments that hold by key, client, endpoint or deprecated.
func (l Logs) Count(ctx context.Context, by string, holds func(time.Time) bool) (*Loads, error) {
	c, line := Loads{by: by, parts: map[string]*load{}}, Line{}
	err := l.read(ctx, func(text []byte) {
		if line.Read(text) && holds(line.At()) {
			c.add(&line)
		}
	})
	switch {
	case err != nil || c.all.requests > 0:
	case by == byDeprecated:
		err = errors.New("no request of that time named anything that is deprecated")
	default:
		err = errors.New("there is no line of an access log in that time")
	}
	return &c, err
}

func (c *Loads) add(line *Line) {
	names := line.countedAs(c.by)
	if len(names) == 0 {
		return
	}
	for _, name := range names {
		part := c.parts[name]
		if part == nil {
			part = new(load)
			c.parts[name] = part
		}
		part.add(line)
	}
	c.all.add(line)
	at := line.At()
	if c.oldest.IsZero() || at.Before(c.oldest) {
		c.oldest = at
	}
	if at.After(c.newest) {
		c.newest = at
	}
}

// Write writes so many lines at most, those first that have most requests, most errors,
// the longest p95, or that of the administration (backend).
func (c *Loads) Write(out io.Writer, sort string, limit int) error {
	fmt.Fprintf(out, "%s from %s to %s\n", terminal.Several(c.all.requests, "request"), terminal.Minute(c.oldest), terminal.Minute(c.newest))
	ranks := make(map[string]float64, len(c.parts))
	for name, part := range c.parts {
		ranks[name] = part.rank(sort)
	}
	names := slices.SortedFunc(maps.Keys(c.parts), func(a, b string) int {
		return cmp.Or(cmp.Compare(ranks[b], ranks[a]), cmp.Compare(c.parts[b].requests, c.parts[a].requests), cmp.Compare(a, b))
	})
	table := terminal.NewTable(out)
	fmt.Fprintf(table, "%s\tREQUESTS\tERRORS\t5XX\tP50\tP95\tP99\tBACKEND P95\n", strings.ToUpper(c.by))
	for _, name := range names[:min(max(limit, 0), len(names))] {
		fmt.Fprintf(table, "%s\t%s\n", terminal.Safe(name), c.parts[name])
	}
	fmt.Fprintf(table, "all %d\t%s\n", len(names), &c.all)
	return table.Flush()
}

// load sums up some requests.
type load struct {
	requests, errors, failures int64
	took, backend              spread
}

func (l *load) add(line *Line) {
	l.requests++
	if line.Status >= 400 {
		l.errors++
	}
	if line.Status >= 500 {
		l.failures++
	}
	l.took.add(line.Duration)
	if line.Backend != untold {
		l.backend.add(line.Backend)
	}
}

// rank is the number that loads are sorted by.
func (l *load) rank(by string) float64 {
	switch by {
	case "errors":
		return float64(l.errors)
	case "p95":
		return l.took.at(0.95)
	case "backend":
		return l.backend.at(0.95)
	default:
		return float64(l.requests)
	}
}

// String returns the columns of a load.
func (l *load) String() string {
	backend := "-"
	if l.backend.count > 0 {
		backend = lasting(l.backend.at(0.95))
	}
	return fmt.Sprintf("%s\t%s\t%s\t%s\t%s\t%s\t%s", terminal.Count(l.requests), terminal.Count(l.errors), terminal.Count(l.failures),
		lasting(l.took.at(0.5)), lasting(l.took.at(0.95)), lasting(l.took.at(0.99)), backend)
}

// spread is how long things took, in steps of a fiftieth: any number of them takes as much
// memory as there are steps between the shortest and the longest.
type spread struct {
	count int64
	steps map[int]int64
}

const (
	spreadStep = 1.02
	shortest   = 1e-6 // seconds: what took less is as good as nothing
)

func (s *spread) add(seconds float64) {
	if s.steps == nil {
		s.steps = map[int]int64{}
	}
	step := -1
	if seconds > shortest {
		step = int(math.Ceil(math.Log(seconds/shortest) / math.Log(spreadStep)))
	}
	s.steps[step]++
	s.count++
}

// at is what that share of them took at most, up to a fiftieth more.
func (s *spread) at(share float64) (seconds float64) {
	rank := int64(math.Ceil(share * float64(s.count)))
	for _, step := range slices.Sorted(maps.Keys(s.steps)) {
		if rank -= s.steps[step]; rank > 0 {
			continue
		}
		if step < 0 {
			return 0
		}
		return shortest * math.Pow(spreadStep, float64(step))
	}
	return 0
}

// lasting is a time in two or three digits, as people compare them.
func lasting(seconds float64) string {
	switch ms := seconds * 1000; {
	case ms == 0:
		return "0"
	case ms < 10:
		return fmt.Sprintf("%.2g ms", ms)
	case ms < 1000:
		return fmt.Sprintf("%.0f ms", ms)
	default:
		return fmt.Sprintf("%.3g s", seconds)
	}
}
