package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"
	"time"
)

// event is what go test -json writes in a line.
type event struct {
	Action, Package, ImportPath, Test, Output, FailedBuild string
	Elapsed                                                float64
}

// line is a piece of the output of a test, or of its package where test is nil.
type line struct {
	of   *testCase
	text string
}

type testCase struct {
	name, result string // pass, fail or skip; "" until it ends
	elapsed      time.Duration
	said         string // the last that it printed
	paused       bool   // it waits for its turn among the parallel ones
}

type testPackage struct {
	name, result string
	begun        time.Time
	elapsed, cpu time.Duration
	tests        map[string]*testCase
	lines        []line
}

// report is what is known of a run of go test, and prints it as it comes.
type report struct {
	out   io.Writer
	begun time.Time
	cpu   time.Duration // of everything, the compiler too

	mu       sync.Mutex // the clock prints too
	packages map[string]*testPackage
	builds   map[string]string // what the compiler said
	stop     chan struct{}
	stopped  chan struct{}
}

// stillEvery is how often is said what goes on, however little ends.
const stillEvery = 30 * time.Second

func newReport(out io.Writer) *report {
	r := &report{out: out, begun: time.Now(), packages: map[string]*testPackage{}, builds: map[string]string{}, stop: make(chan struct{}), stopped: make(chan struct{})}
	go func() {
		defer close(r.stopped)
		ticks := time.NewTicker(stillEvery)
		defer ticks.Stop()
		for {
			select {
			case <-ticks.C:
				r.still()
			case <-r.stop:
				return
			}
		}
	}()
	return r
}

// read takes in events until there are no more. What is no event is printed.
func (r *report) read(events io.Reader) error {
	lines := bufio.NewReader(events)
	for {
		text, err := lines.ReadBytes('\n')
		if len(text) > 0 {
			var e event
			r.mu.Lock()
			if json.Unmarshal(text, &e) != nil {
				fmt.Fprintf(r.out, "%s", text)
			} else {
				r.take(e)
			}
			r.mu.Unlock()
		}
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
	}
}

func (r *report) take(e event) {
	if e.Package == "" {
		r.builds[e.ImportPath] += e.Output
		return
	}
	p := r.packages[e.Package]
	if p == nil {
		p = &testPackage{name: e.Package, begun: time.Now(), tests: map[string]*testCase{}}
		r.packages[e.Package] = p
	}
	var t *testCase
	if e.Test != "" {
		if t = p.tests[e.Test]; t == nil {
			t = &testCase{name: e.Test}
			p.tests[e.Test] = t
		}
	}
	switch e.Action {
	case "pause", "cont":
		t.paused = e.Action == "pause"
	case "output":
		p.print(t, e.Output)
	case "pass", "fail", "skip":
		elapsed := time.Duration(e.Elapsed * float64(time.Second))
		if t != nil {
			t.result, t.elapsed = e.Action, elapsed
			return
		}
		p.result, p.elapsed = e.Action, elapsed
		r.ended(p, r.builds[e.FailedBuild])
	}
}

// print keeps what a test or its package said, but for go test's own news.
func (p *testPackage) print(t *testCase, text string) {
	if cpu, ok := cpuOf(text); ok {
		p.cpu = cpu
		return
	}
	bare := strings.TrimSpace(text)
	if strings.HasPrefix(bare, "=== ") || t == nil && bare == "PASS" {
		return
	}
	p.lines = append(p.lines, line{t, text})
	if t != nil && bare != "" && !strings.HasPrefix(bare, "--- ") {
		t.said = bare
	}
}

// ended prints a package: go test's own line where it is well, else all that its
// failed tests printed and whatever belongs to no test.
func (r *report) ended(p *testPackage, build string) {
	io.WriteString(r.out, build)
	for _, l := range p.lines {
		well := l.of != nil && (l.of.result == "pass" || l.of.result == "skip")
		own := strings.HasPrefix(l.text, "ok  \t") || strings.HasPrefix(l.text, "?   \t")
		if p.result == "fail" && !well || own && l.of == nil {
			io.WriteString(r.out, l.text)
		}
	}
	p.lines = nil
}

// still prints what runs now.
func (r *report) still() {
	r.mu.Lock()
	defer r.mu.Unlock()
	var running []string
	done := 0
	for _, p := range r.inOrder() {
		if p.result != "" {
			done++
			continue
		}
		running = append(running, fmt.Sprintf("%s for %s, in %s", p.name, short(time.Since(p.begun)), strings.Join(p.running(), " ")))
	}
	if len(running) == 0 {
		running = []string{"the compiler"}
	}
	fmt.Fprintf(r.out, "… %s: %d packages done; at work: %s\n", short(time.Since(r.begun)), done, strings.Join(running, "; "))
}

func (r *report) inOrder() []*testPackage {
	var all []*testPackage
	for _, p := range r.packages {
		all = append(all, p)
	}
	slices.SortFunc(all, func(a, b *testPackage) int { return strings.Compare(a.name, b.name) })
	return all
}

// running are the tests at work, without their subtests.
func (p *testPackage) running() (names []string) {
	for _, t := range p.tests {
		if t.result == "" && !t.paused && !strings.Contains(t.name, "/") {
			names = append(names, t.name)
		}
	}
	slices.Sort(names)
	return names
}

// count is how many tests ended so. One that never ended has no result, and its
// package has failed.
func (p *testPackage) count(results ...string) (n int) {
	for _, t := range p.tests {
		if slices.Contains(results, t.result) {
			n++
		}
	}
	return n
}

// short is a duration to read.
func short(d time.Duration) string {
	if d < time.Minute {
		return fmt.Sprintf("%.1fs", d.Seconds())
	}
	return d.Round(time.Second).String()
}
