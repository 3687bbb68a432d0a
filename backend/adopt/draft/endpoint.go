package draft

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// endpoint is where a service has the records of one kind, and what it takes.
type endpoint struct {
	list, get              string // paths, with {key}; "" for none
	create, update, delete string
	method                 string // of update
	result                 string // path of the list in its answer; "" for the answer itself
	parameters             []string
}

// writeOperations says how records are asked for and written.
func (d *drafter) writeOperations(b *strings.Builder, m *match) {
	e := m.table.endpoint
	if m.only != "" {
		d.todo(b, "    operations: # TODO without the others: %s\n", comment(m.onlyWhy))
	} else {
		b.WriteString("    operations:\n")
	}
	if e.get != "" {
		fmt.Fprintf(b, "      get: {path: %s}\n", quoted(e.get))
	}
	query, others := []string{}, []string{}
	for _, p := range e.parameters {
		if name := m.filteredBy(p); name != "" && !m.unfiltered {
			query = append(query, scalar(p)+": \"{filter."+name+"}\"")
		} else {
			others = append(others, p)
		}
	}
	text := "path: " + quoted(e.list)
	if len(query) > 0 {
		text += ", query: {" + strings.Join(query, ", ") + "}"
	}
	if e.result != "" {
		text += ", result: " + scalar(e.result)
	}
	asks := "are these all of them, or is there paging?"
	if len(others) > 0 {
		asks = "which of its parameters are for pages, orders and changes? " + strings.Join(others, ", ")
	}
	d.todo(b, "      list: {%s} # TODO %s\n", text, comment(asks))
	if m.only == "get, list" || m.closed {
		return
	}
	if e.create != "" && m.only == "" {
		fmt.Fprintf(b, "      create: {path: %s}\n", quoted(e.create))
	}
	if e.update != "" {
		fmt.Fprintf(b, "      update: {method: %s, path: %s}\n", e.method, quoted(e.update))
	}
	if e.delete != "" {
		fmt.Fprintf(b, "      delete: {path: %s}\n", quoted(e.delete))
	}
}

// filteredBy is the field that is called as a parameter is, and is certain; "" for none.
func (m *match) filteredBy(parameter string) string {
	for _, name := range slices.Sorted(maps.Keys(m.fields)) {
		if of := m.fields[name]; folded(name) == folded(parameter) && len(of.from) == 1 && of.doubt == "" && m.refused[name] == "" {
			return name
		}
	}
	return ""
}
