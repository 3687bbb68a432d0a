package check

import (
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"

	"frontdesk/config/strictyaml"
)

// Severity is how bad a finding is.
type Severity string

// The severities, worst first.
const (
	Error   Severity = "error"
	Warning Severity = "warning"
	Note    Severity = "note"
)

// Finding is one thing that does not fit, or is worth knowing.
type Finding struct {
	Rule     string   `json:"rule"`
	Severity Severity `json:"severity"`
	File     string   `json:"file"`
	Line     int      `json:"line"`
	Column   int      `json:"column"`
	Path     string   `json:"path"`
	Seen     string   `json:"seen"`
	Remedy   string   `json:"remedy,omitempty"`
}

// Report is what a check found.
type Report struct {
	Findings []Finding `json:"findings"`
	// Left are what the sheet leaves out.
	Left Left `json:"left_out"`
	// Looked says how much was examined.
	Looked []string `json:"looked_at"`
	// System is what the sheet uses of the system: by resource and place, its kind.
	System map[string]string `json:"system,omitempty"`

	doc  *strictyaml.Document
	text string // of the sheet
}

// Left is what a sheet leaves out of the model.
type Left struct {
	Resources  []string            `json:"resources"`
	Operations map[string][]string `json:"operations"`
	Fields     map[string][]string `json:"fields"`
	Values     map[string][]string `json:"values"` // by resource.field: values without a code
	Rules      []string            `json:"rules"`
}

// outlined returns the places of a sheet's values in its file.
func outlined(file string, src []byte) *strictyaml.Document {
	doc, _ := strictyaml.Decode(file, src, &outline{}, strictyaml.Options{})
	return doc
}

// outline accepts any YAML: only the places are of interest.
type outline struct{}

// UnmarshalYAML implements strictyaml.Unmarshaler.
func (*outline) UnmarshalYAML(n strictyaml.Node) error {
	switch n.Kind() {
	case strictyaml.Mapping:
		n.Decode(&map[string]outline{})
	case strictyaml.List:
		n.Decode(&[]outline{})
	}
	return nil
}

// Count returns how many findings have a severity.
func (r *Report) Count(s Severity) (n int) {
	for _, f := range r.Findings {
		if f.Severity == s {
			n++
		}
	}
	return n
}

// add notes a finding at a path of the sheet.
func (r *Report) add(s Severity, rule, path, seen, remedy string) {
	at := r.doc.At(path)
	r.Findings = append(r.Findings, Finding{rule, s, at.File, at.Line, at.Column, path, seen, remedy})
}

// sort orders the findings by place, errors first.
func (r *Report) sort() {
	slices.SortStableFunc(r.Findings, func(a, b Finding) int {
		return cmp.Or(cmp.Compare(a.Line, b.Line), cmp.Compare(a.Severity, b.Severity), cmp.Compare(a.Column, b.Column), cmp.Compare(a.Rule, b.Rule))
	})
}

// WriteJSON writes the report as JSON.
func (r *Report) WriteJSON(w io.Writer) error {
	e := json.NewEncoder(w)
	e.SetIndent("", "  ")
	return e.Encode(r)
}

var mildestFirst = []Severity{Note, Warning, Error}

// WriteText writes the report for people, with the summary at the end, where a terminal still shows it.
func (r *Report) WriteText(w io.Writer) error {
	var b strings.Builder
	r.Left.write(&b)
	b.WriteString("\n" + strings.Join(r.Looked, "\n") + "\n\n")
	for _, s := range mildestFirst {
		for _, f := range r.Findings {
			if f.Severity == s {
				f.write(&b)
			}
		}
	}
	fmt.Fprintf(&b, "\n%d error(s), %d warning(s), %d note(s)\n", r.Count(Error), r.Count(Warning), r.Count(Note))
	_, err := io.WriteString(w, b.String())
	return err
}

func (f *Finding) write(b *strings.Builder) {
	fmt.Fprintf(b, "%s:%d:%d: %s: %s\n  %s\n", f.File, f.Line, f.Column, f.Severity, f.Rule, f.Seen)
	if f.Remedy != "" {
		fmt.Fprintf(b, "  → %s\n", f.Remedy)
	}
}

// Unreadable is the report of a sheet that cannot be read, so that nothing was compared.
func Unreadable(problems strictyaml.Problems) *Report {
	r := &Report{}
	for _, p := range problems {
		r.Findings = append(r.Findings, Finding{"sheet", Error, p.File, p.Line, p.Column, p.Path, p.Message, ""})
	}
	return r
}
