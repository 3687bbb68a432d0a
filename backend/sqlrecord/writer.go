package sqlrecord

import (
	"strings"

	"frontdesk/mapping"
)

// Writer writes a statement and gathers its arguments, in the order of the text: some engines
// number no placeholders.
type Writer struct {
	d    *Dialect
	b    strings.Builder
	args []mapping.Value
	// params give the SQL of the parameters of expressions; nil where there are none.
	params func(w *Writer, name string) string
}

// NewWriter begins a statement. params is asked for the SQL that stands for each parameter of
// an Expr; it may use Arg.
func NewWriter(d *Dialect, params func(w *Writer, name string) string) *Writer {
	return &Writer{d: d, params: params}
}

// Add appends SQL.
func (w *Writer) Add(text ...string) *Writer {
	for _, s := range text {
		w.b.WriteString(s)
	}
	return w
}

// Arg notes an argument and returns its placeholder, which the caller appends next.
func (w *Writer) Arg(v mapping.Value) string {
	w.args = append(w.args, v)
	return w.d.Placeholder(len(w.args))
}

// Expr appends an expression with its parameters.
func (w *Writer) Expr(e Expr) *Writer {
	for _, p := range e {
		w.b.WriteString(p.SQL)
		if p.Param != "" {
			w.b.WriteString(w.params(w, p.Param))
		}
	}
	return w
}

// Len is how long the text is, for Since.
func (w *Writer) Len() int { return w.b.Len() }

// Dialect is the engine that the statement is for.
func (w *Writer) Dialect() *Dialect { return w.d }

// Statement returns the text and its arguments.
func (w *Writer) Statement() (text string, args []mapping.Value) { return w.b.String(), w.args }

// Expr is an expression, cut behind each of its parameters.
type Expr []Part

// Part is SQL, and the name of the parameter that follows it; "" for none.
type Part struct{ SQL, Param string }

// Plain is an expression without parameters.
func Plain(sql string) Expr { return Expr{{SQL: sql}} }
