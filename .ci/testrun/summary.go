package main

import (
	"cmp"
	"fmt"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"text/tabwriter"
	"time"
)

// Of the slowest tests so many are shown, after make test and after make test-times.
const fewSlow, manySlow = 10, 40

// close ends the report: where the minutes went when asked for it, the slowest
// tests, the skipped and the failed ones.
func (r *report) close(times bool) {
	close(r.stop)
	<-r.stopped
	fmt.Fprintln(r.out)
	slow := fewSlow
	if times {
		slow = manySlow
		r.printPackages()
	}
	r.printSlowest(slow)
	r.printSkipped()
	r.printFailed()
	fmt.Fprintf(r.out, "\n%s on %d processors, which were busy for %s: %s in the tests, the rest in the compiler.\n",
		short(time.Since(r.begun)), runtime.NumCPU(), short(r.cpu), short(r.inTests()))
}

func (r *report) inTests() (cpu time.Duration) {
	for _, p := range r.packages {
		cpu += p.cpu
	}
	return cpu
}

// sums counts tests, subtests among them. A package that failed though none of its
// tests did counts as one that failed.
func (r *report) sums() (passed, failed, skipped int) {
	for _, p := range r.packages {
		passed, skipped = passed+p.count("pass"), skipped+p.count("skip")
		switch bad := p.count("fail", ""); {
		case bad > 0:
			failed += bad
		case p.result != "pass" && p.result != "skip":
			failed++
		}
	}
	return passed, failed, skipped
}

// printPackages shows for each package how long it took, how much of that the
// processors worked for it and how much it waited, the longest first.
func (r *report) printPackages() {
	all := r.inOrder()
	slices.SortStableFunc(all, func(a, b *testPackage) int { return cmp.Compare(b.elapsed, a.elapsed) })
	table := tabwriter.NewWriter(r.out, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(table, "time\tCPU\twaiting\ttests\t  package")
	for _, p := range all {
		if len(p.tests) > 0 {
			fmt.Fprintf(table, "%s\t%s\t%s\t%d\t  %s\n", short(p.elapsed), short(p.cpu), short(max(0, p.elapsed-p.cpu)), len(p.tests), p.name)
		}
	}
	table.Flush()
	fmt.Fprintln(r.out)
}

// named is a test and its package.
type named struct {
	*testCase
	of string
}

// each is every test, subtests or not, that ended so.
func (r *report) each(results ...string) (all []named) {
	for _, p := range r.inOrder() {
		for _, t := range p.tests {
			if slices.Contains(results, t.result) {
				all = append(all, named{t, p.name})
			}
		}
	}
	slices.SortStableFunc(all, func(a, b named) int {
		return cmp.Or(strings.Compare(a.of, b.of), strings.Compare(a.name, b.name))
	})
	return all
}

func (r *report) printSlowest(most int) {
	all := slices.DeleteFunc(r.each("pass", "fail"), func(t named) bool { return strings.Contains(t.name, "/") })
	slices.SortStableFunc(all, func(a, b named) int { return cmp.Compare(b.elapsed, a.elapsed) })
	table := tabwriter.NewWriter(r.out, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(r.out, "The slowest tests:")
	for _, t := range all[:min(most, len(all))] {
		fmt.Fprintf(table, "%s\t  %s %s\n", short(t.elapsed), t.of, t.name)
	}
	table.Flush()
}

// place is what t.Skip puts before a reason.
var place = regexp.MustCompile(`^\S+\.go:\d+: `)

// printSkipped shows the reasons, the most frequent first, each with a few of its
// tests.
func (r *report) printSkipped() {
	byReason := map[string][]named{}
	for _, t := range r.each("skip") {
		reason := cmp.Or(place.ReplaceAllString(t.said, ""), "(no reason given)")
		byReason[reason] = append(byReason[reason], t)
	}
	if len(byReason) == 0 {
		return
	}
	fmt.Fprintln(r.out, "\nSkipped:")
	var reasons []string
	for reason := range byReason {
		reasons = append(reasons, reason)
	}
	slices.SortFunc(reasons, func(a, b string) int {
		return cmp.Or(cmp.Compare(len(byReason[b]), len(byReason[a])), strings.Compare(a, b))
	})
	for _, reason := range reasons {
		tests := byReason[reason]
		fmt.Fprintf(r.out, "%5d  %s\n", len(tests), reason)
		for i, t := range tests {
			if i == 3 {
				fmt.Fprintf(r.out, "           and %d more\n", len(tests)-i)
				break
			}
			fmt.Fprintf(r.out, "           %s %s\n", t.of, t.name)
		}
	}
}

func (r *report) printFailed() {
	failed := r.each("fail", "")
	for _, p := range r.inOrder() {
		if p.result != "pass" && p.result != "skip" && p.count("fail", "") == 0 {
			failed = append(failed, named{&testCase{name: "(the package)"}, p.name})
		}
	}
	if len(failed) == 0 {
		return
	}
	fmt.Fprintln(r.out, "\nFailed:")
	for _, t := range failed {
		fmt.Fprintf(r.out, "       %s %s\n", t.of, t.name)
	}
}
