package terminal

import (
	"fmt"
	"io"
	"strings"
	"text/tabwriter"
	"time"
)

// Table aligns the columns of rows. It makes cells safe for a terminal.
type Table struct{ to *tabwriter.Writer }

// NewTable begins a table with the names of its columns; without names, it has no header.
func NewTable(out io.Writer, columns ...any) Table {
	t := Table{tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)}
	if len(columns) > 0 {
		t.Row(columns...)
	}
	return t
}

// Row adds a row. It formats times to the second.
func (t Table) Row(cells ...any) {
	texts := make([]string, len(cells))
	for i, cell := range cells {
		if at, is := cell.(time.Time); is {
			cell = Second(at)
		}
		texts[i] = Safe(fmt.Sprint(cell))
	}
	fmt.Fprintln(t.to, strings.Join(texts, "\t"))
}

// Flush writes the table.
func (t Table) Flush() error { return t.to.Flush() }
