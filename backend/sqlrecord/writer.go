package sqlrecord

import (
	"strings"

	"frontdesk/mapping"
)

// Writer writes a statement and gathers its arguments, in the order of the text: some engines
// number no placeholders.
type Writer struct {
	d      *Dialect
	b      strings.Builder
	args   []mapping.Value
	params Params // nil where there are no expressions with parameters
	// mute leaves the text out, because it is known: only the arguments are gathered.
	mute bool
}

// Params appends the SQL for a parameter of an expression.
type Params func(w *Writer, name string)

// NewWriter begins a statement.
func NewWriter(d *Dialect, params Params) *Writer {
	return &Writer{d: d, params: params}
}

// Add appends SQL.
func (w *Writer) Add(text ...string) *Writer {
	if !w.mute {
		for _, s := range text {
			w.b.WriteString(s)
		}
	}
	return w
}

// Arg notes an argument and returns its placeholder, which the caller appends next.
func (w *Writer) Arg(v mapping.Value) string {
	w.args = append(w.args, v)
	if w.mute {
		return ""
	}
	return w.d.Placeholder(len(w.args))
}

// Expr appends an expression with its parameters.
func (w *Writer) Expr(e Expr) *Writer {
	for i := range e {
		p := &e[i]
		w.Add(p.SQL)
		if p.Param != "" {
			w.params(w, p.Param)
		}
	}
	return w
}

// Statement returns the text and its arguments.
func (w *Writer) Statement() (text string, args []mapping.Value) { return w.b.String(), w.args }

// Expr is an expression, cut after each of its parameters.
type Expr []Part

// Part is SQL, and the name of the parameter that follows it; "" for none.
type Part struct{ SQL, Param string }

// Plain is an expression without parameters.
func Plain(sql string) Expr { return Expr{{SQL: sql}} }
