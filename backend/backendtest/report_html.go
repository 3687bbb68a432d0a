package backendtest

import (
	"bytes"
	_ "embed"
	"encoding/json"
	"fmt"
	"html/template"
	"io"
	"slices"
	"strings"
	"time"
)

//go:embed report.html
var reportPage string

// WriteHTML writes the report as one page that needs nothing else.
func (r *Report) WriteHTML(w io.Writer) error {
	page, err := template.New("report").Funcs(template.FuncMap{
		"pretty":  pretty,
		"headers": func(lines []string) string { return strings.Join(lines, "\n") },
		"count":   r.Count,
		"ms":      func(d time.Duration) string { return fmt.Sprintf("%.1f ms", float64(d.Microseconds())/1000) },
		"shown":   shown,
		"label": func(s Status) string {
			return map[Status]string{Passed: "passed", Failed: "failed", Known: "known to fail", Impossible: "impossible", Needs: "needs more"}[s]
		},
	}).Parse(reportPage)
	if err != nil {
		return err
	}
	return page.Execute(w, struct {
		*Report
		Statuses []Status
		Failures []Result
	}{r, []Status{Passed, Failed, Known, Impossible, Needs},
		slices.DeleteFunc(slices.Clone(r.Results), func(one Result) bool { return one.Status != Failed && one.Status != Known })})
}

// shown are the last exchanges of a failure: the last one is what failed.
func shown(all []Exchange) []Exchange {
	all = slices.Clone(all[max(0, len(all)-6):])
	slices.Reverse(all)
	return all
}

// pretty indents JSON in the order it came in, and leaves anything else as it
// is.
func pretty(text string) string {
	var b bytes.Buffer
	if json.Indent(&b, []byte(text), "", "  ") != nil {
		return text
	}
	return b.String()
}
