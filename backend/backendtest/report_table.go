package backendtest

import (
	"fmt"
	"io"
	"slices"
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

// Line is a line of the table: results of one case that ended alike.
type Line struct {
	Result
	On []string // the resources
}

// Lines puts results of one case that ended alike together, failures apart.
func (r *Report) Lines() (all []Line) {
	for _, result := range r.Results {
		i := slices.IndexFunc(all, func(l Line) bool {
			return l.Case.ID == result.Case.ID && l.Status == result.Status && l.Reason == result.Reason && result.Status != Failed
		})
		if i < 0 {
			i = len(all)
			all = append(all, Line{Result: result})
		}
		if result.Resource != "" {
			all[i].On = append(all[i].On, result.Resource)
		}
	}
	return all
}

// Where names the resources in short.
func (l Line) Where(resources int) string {
	switch {
	case len(l.On) > 2 && len(l.On) == resources:
		return "all resources"
	case len(l.On) > 2:
		return fmt.Sprintf("%d resources", len(l.On))
	}
	return strings.Join(l.On, ", ")
}

// WriteTable prints how every case ended, each failure with what was expected,
// and the counts.
func (r *Report) WriteTable(w io.Writer) error {
	table := tabwriter.NewWriter(w, 0, 8, 2, ' ', 0)
	for _, l := range r.Lines() {
		fmt.Fprintf(table, "%s\t%s\t%s\t%s\n", l.Status, l.Case.ID, l.Where(len(r.Resources)), l.Reason)
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
