package backendtest

import (
	"fmt"
	"io"
	"strings"
	"text/tabwriter"
	"time"
)

// WriteList prints the cases and the rows they come from.
func WriteList(w io.Writer, cases []Case) error {
	table := tabwriter.NewWriter(w, 0, 8, 2, ' ', 0)
	for _, c := range cases {
		on := ""
		if c.Each {
			on = "each resource"
		}
		fmt.Fprintf(table, "%s\t%s\t%s\n", c.ID, on, c.Row)
	}
	if err := table.Flush(); err != nil {
		return err
	}
	_, err := fmt.Fprintf(w, "%d cases\n", len(cases))
	return err
}

// line is a line of the table: results of one case that ended alike.
type line struct {
	Result
	on []string
}

// lines puts results of one case that ended alike together, failures apart.
func (r *Report) lines() []*line {
	var all []*line
	for _, result := range r.Results {
		var same *line
		for _, l := range all {
			if l.Case.ID == result.Case.ID && l.Status == result.Status && l.Reason == result.Reason && result.Status != Failed {
				same = l
			}
		}
		if same == nil {
			same = &line{Result: result}
			all = append(all, same)
		}
		if result.Resource != "" {
			same.on = append(same.on, result.Resource)
		}
	}
	return all
}

func (l *line) where(resources int) string {
	switch {
	case len(l.on) > 2 && len(l.on) == resources:
		return "all resources"
	case len(l.on) > 2:
		return fmt.Sprintf("%d resources", len(l.on))
	}
	return strings.Join(l.on, ", ")
}

// WriteTable prints how every case ended, each failure with what was expected,
// and the counts.
func (r *Report) WriteTable(w io.Writer) error {
	table := tabwriter.NewWriter(w, 0, 8, 2, ' ', 0)
	for _, l := range r.lines() {
		fmt.Fprintf(table, "%s\t%s\t%s\t%s\n", l.Status, l.Case.ID, l.where(len(r.Resources)), l.Reason)
	}
	if err := table.Flush(); err != nil {
		return err
	}
	for _, f := range r.Results {
		if f.Status != Failed {
			continue
		}
		fmt.Fprintf(w, "\nFAILED %s: %s\n  row       %s\n  expected  %s\n  got       %s\n", f.Name(), f.Reason, f.Case.Row, indent(f.Expected), indent(f.Got))
		if n := len(f.Exchanges); n > 0 {
			x := f.Exchanges[n-1]
			fmt.Fprintf(w, "  request   %s %s %s\n", x.Method, x.URL, shorter(x.RequestBody))
		}
		fmt.Fprintf(w, "  cure      %s\n", f.Case.Hint)
	}
	for _, left := range r.LeftOver {
		fmt.Fprintf(w, "\nleft behind: %s", left)
	}
	_, err := fmt.Fprintf(w, "\n%s: %s\n", r.BaseURL, r.Summary())
	return err
}

// Summary is how many results ended how.
func (r *Report) Summary() string {
	return fmt.Sprintf("%d passed, %d failed, %d known to fail, %d impossible, %d need more; %d resources, %s",
		r.Count(Passed), r.Count(Failed), r.Count(Known), r.Count(Impossible), r.Count(Needs), len(r.Resources), r.Took.Round(10*time.Millisecond))
}

func indent(text string) string { return strings.ReplaceAll(text, "\n", "\n            ") }

func shorter(text string) string {
	if runes := []rune(text); len(runes) > 300 {
		return string(runes[:300]) + "…"
	}
	return text
}
