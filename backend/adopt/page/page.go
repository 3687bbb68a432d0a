// Package page writes what maps to what as one HTML page that can be sent to a colleague:
// the tables and columns of a system, or the answers of a service, on one side, resources and
// fields of the interface on the other, with what was found out about each. It loads nothing
// from outside, and has shapes of values but no values. It knows neither sheets nor systems:
// who drafts a sheet, or checks one, fills in the Page.
package page

import (
	_ "embed"
	"html/template"
	"io"
)

// Page is the state of a sheet.
type Page struct {
	Title, About string
	Facts        []Fact
	Notes        []Note // of no resource
	Resources    []Resource
	Unused       []Unused
	Missing      []string // resources that the system is not known to have
}

// Fact is a number, and of what.
type Fact struct {
	Number int
	Of     string
	Kind   Kind // how bad it is, where it is not 0; "" for what is neither good nor bad
}

// Kind is how bad a note is.
type Kind string

// The kinds of notes, worst first. A todo is a question that somebody has to answer.
const (
	Error   Kind = "error"
	Warning Kind = "warning"
	Todo    Kind = "todo"
	Info    Kind = "note"
)

// Note is what was found out.
type Note struct {
	Kind             Kind
	Text, Cure, Rule string
}

// Resource is a resource of the interface, and where the system has it.
type Resource struct {
	Name, Place, Why string
	Pairs            []Pair
	Columns          []Column // that nothing maps to
	Fields           []Field  // that have no place
	Notes            []Note
}

// Pair is a field and the places that it is in; none of a constant.
type Pair struct {
	Columns []Column
	Field   Field
	Why     string // what speaks for it
	Notes   []Note
}

// Column is a column, or a path in answers.
type Column struct{ Name, Type, Shape string }

// Field is a field of the interface.
type Field struct {
	Name, Type string
	Required   bool
}

// Unused is a table, or an endpoint, that the sheet does not name.
type Unused struct {
	Name    string
	Columns []string
}

// Percent is how much of the fields is mapped.
func (r Resource) Percent() int { return 100 * len(r.Pairs) / max(1, r.Of()) }

// Of is how many fields there are.
func (r Resource) Of() int { return len(r.Pairs) + len(r.Fields) }

// Count is how many notes of a kind a resource has, those of its fields included.
func (r Resource) Count(kind Kind) (n int) {
	all := r.Notes
	for _, p := range r.Pairs {
		all = append(all[:len(all):len(all)], p.Notes...)
	}
	for _, note := range all {
		if note.Kind == kind {
			n++
		}
	}
	return n
}

//go:embed page.html
var text string

var page = template.Must(template.New("page").Parse(text))

// Write writes the page.
func (p Page) Write(w io.Writer) error { return page.Execute(w, p) }
