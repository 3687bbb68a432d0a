package main

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"maps"
	"math"
	"slices"
	"strings"
	"time"

	"frontdesk/cmd/frontdesk/desk"
	"frontdesk/cmd/frontdesk/terminal"
)

type logCommands struct {
	Top     logTopCommand     `cmd:"" help:"Tell what asked for most, failed most, or took longest: by api_key, client or endpoint."`
	Changes logChangesCommand `cmd:"" help:"Tell what was changed, by whom, and when frontdesk was started."`
}

// logSpan says of which time a log is read.
type logSpan struct {
	logFlags
	Until terminal.When `placeholder:"WHEN" help:"Read only what is no newer, in the same forms."`
}

type logTopCommand struct {
	By    string `default:"key" enum:"key,client,endpoint" help:"What the requests are counted by: key (the default), client or endpoint."`
	Sort  string `default:"requests" enum:"requests,errors,p95,backend" help:"What comes first: most requests (the default), most errors, the longest p95, or that of the administration (backend)."`
	Limit int    `default:"20" help:"How many lines at most."`
	logSpan
}

// Run counts the requests of access logs, and how long they took.
func (c logTopCommand) Run(p desk.Program) error {
	by := map[string]func(*accessLine) string{
		"key":      func(l *accessLine) string { return cmp.Or(l.Key, "not known") },
		"client":   func(l *accessLine) string { return cmp.Or(l.Client, "not known") },
		"endpoint": askedFor,
	}[c.By]
	all, parts, line := new(load), map[string]*load{}, accessLine{}
	var oldest, newest time.Time
	holds := terminal.Between(c.Since, c.Until, time.Now())
	err := readLogs(p, c.Logs, func(text []byte) {
		if !line.isAccessLine(text) || !holds(line.Time.at) {
			return
		}
		name := by(&line)
		part := parts[name]
		if part == nil {
			part = new(load)
			parts[name] = part
		}
		part.add(&line)
		all.add(&line)
		if at := line.Time.at; oldest.IsZero() || at.Before(oldest) {
			oldest = at
		}
		if at := line.Time.at; at.After(newest) {
			newest = at
		}
	})
	switch {
	case err != nil:
		return err
	case all.requests == 0:
		return errors.New("there is no line of an access log in that time")
	}
	fmt.Fprintf(p.Stdout, "%s from %s to %s\n", terminal.Several(all.requests, "request"), terminal.Minute(oldest), terminal.Minute(newest))
	return c.print(p.Stdout, all, parts)
}

// askedFor is what a request asked for.
func askedFor(l *accessLine) string {
	if l.Endpoint == "" {
		return "no endpoint"
	}
	return l.Method + " " + l.Endpoint
}

func (c logTopCommand) print(out io.Writer, all *load, parts map[string]*load) error {
	ranks := make(map[string]float64, len(parts))
	for name, part := range parts {
		ranks[name] = part.rank(c.Sort)
	}
	names := slices.SortedFunc(maps.Keys(parts), func(a, b string) int {
		return cmp.Or(cmp.Compare(ranks[b], ranks[a]), cmp.Compare(parts[b].requests, parts[a].requests), cmp.Compare(a, b))
	})
	table := terminal.NewTable(out)
	fmt.Fprintf(table, "%s\tREQUESTS\tERRORS\t5XX\tP50\tP95\tP99\tBACKEND P95\n", strings.ToUpper(c.By))
	for _, name := range names[:min(max(c.Limit, 0), len(names))] {
		fmt.Fprintf(table, "%s\t%s\n", terminal.Safe(name), parts[name])
	}
	fmt.Fprintf(table, "all %d\t%s\n", len(names), all)
	return table.Flush()
}

// load is what some requests came to.
type load struct {
	requests, errors, failures int64
	took, backend              spread
}

func (l *load) add(line *accessLine) {
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

// rank is what a load is sorted by.
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

// String is the columns of a load.
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
