package adopt

import (
	"fmt"
	"slices"
	"strings"
)

// endpoint is where a service has the records of one kind, and the operations on them.
type endpoint struct {
	list       string // path
	result     string // path of the list in its answer; "" for the answer itself
	parameters []string
	operations []string // get, create, update, delete
	method     string   // of update
}

// writeOperations says how records are walked and written.
func (d *drafter) writeOperations(b *strings.Builder, m *match) {
	e := m.table.endpoint
	walk := "{}"
	if e.result != "" {
		walk = "{result: " + scalar(e.result) + "}"
	}
	asks := "are these all of them, or are there pages?"
	if len(e.parameters) > 0 {
		asks = "which of its parameters ask for pages (query, paging), and for what has changed (since)? " + strings.Join(e.parameters, ", ")
	}
	fmt.Fprintf(b, "    walk: %s # TODO %s\n", walk, comment(asks))
	only := []string{"list"}
	for _, op := range e.operations {
		if op == "get" || !m.closed && m.unwritten == "" {
			only = append(only, op)
		}
	}
	fmt.Fprintf(b, "    operations: {only: [%s]}%s\n", strings.Join(only, ", "), m.whyUnwritten())
	if slices.Contains(only, "update") && e.method == "PUT" {
		b.WriteString("    update: {method: PUT}\n")
	}
}
