package draft

import (
	"fmt"
	"maps"
	"slices"
)

// findClient finds the column that tells whose rows they are: one that many tables have by
// the same name, and that refers to a table of administrations, is called so, or is what
// the keys of several tables begin with.
func (d *drafter) findClient() {
	seen := map[string]*tenant{}
	tables := 0
	for _, t := range d.tables {
		if !t.View {
			tables++
			d.tenants(t, seen)
		}
	}
	best := 0.0
	for _, name := range slices.Sorted(maps.Keys(seen)) {
		of := seen[name]
		share := float64(of.tables) / float64(max(1, tables))
		weight := of.weight(share)
		score := share * weight
		if weight == 0 || of.tables < 2 || share < 0.3 && of.tables < 6 || score <= best || d.isCustomer(of, seen) {
			continue
		}
		best, d.client = score, name
		d.clientWhy = fmt.Sprintf("in %d of %d tables", of.tables, tables)
		if of.refersTo != "" {
			d.clientWhy += ", refers to " + of.refersTo
		}
		if of.called > 0 {
			d.clientWhy += ", its name"
		}
		if d.clientTodo = nil; of.isEither() {
			d.clientTodo = []string{"is it whose the records are, and not a customer of theirs?"}
		}
		if of.begins > 0 {
			d.clientWhy += fmt.Sprintf(", %d keys begin with it", of.begins)
		}
	}
}

// tenant is a column that may tell whose rows they are, over all tables.
type tenant struct {
	column         *column
	tables, begins int // those that have it; keys of several columns that begin with it
	called         float64
	refersTo       string
	target         *table // that it refers to
}

// weight is how much speaks for it, from 0 to 1; share is that of tables which have it.
func (t *tenant) weight(share float64) float64 {
	switch {
	case t.refersTo != "":
		return 1
	case t.begins > 1 && t.called > 0:
		return 0.9
	case t.begins > 2 && share >= 0.6 && t.column.sort == sortInteger:
		return 0.7 // an order's number begins keys too, but not of most tables
	}
	return t.called
}

// tenants notes the columns of a table that may tell whose its rows are.
func (d *drafter) tenants(t *table, seen map[string]*tenant) {
	for _, c := range t.columns {
		of := seen[c.Name]
		if of == nil {
			of = &tenant{column: c}
			seen[c.Name] = of
		}
		of.tables++
		if c.has(branchNames) || len(c.parts) == 1 && c.has("entity") && c.sort == sortInteger {
			of.called = 0.5
		}
		if len(t.Primary) > 1 && t.Primary[0] == c.Name {
			of.begins++
		}
	}
	for _, f := range t.Foreign {
		of := seen[f.Columns[0]]
		switch to := d.table(f.Table); {
		case of == nil || to == nil:
		case len(f.Columns) > 1:
			of.begins++
		case likeness(to.parts, []string{branchNames}, nil) >= 0.6:
			of.refersTo, of.target, of.called = to.Name, to, max(of.called, 0.5)
		}
	}
}

// isCustomer tells whether a client or company, which may be one of the vendor's or of a
// business, is the latter: there is no other table of customers, or its own rows belong to
// another that may be.
func (d *drafter) isCustomer(of *tenant, all map[string]*tenant) bool {
	if !of.isEither() {
		return false
	}
	own := of.target
	if own == nil {
		own = d.calledAs(of.column)
	}
	if own != nil && slices.ContainsFunc(own.columns, func(c *column) bool {
		other := all[c.Name]
		return other != of && other.called > 0 && other.tables > of.tables
	}) {
		return true
	}
	return !slices.ContainsFunc(d.tables, func(t *table) bool {
		return !t.View && t != own && hasIdea(t.parts, "customer", "contact")
	})
}

// isEither tells whether its name, or that of the table which it refers to, may as well be
// that of a customer.
func (t *tenant) isEither() bool {
	return t.column.has("customer", "contact") || t.target != nil && hasIdea(t.target.parts, "customer", "contact")
}

// calledAs is the table that a column is called after, or nil.
func (d *drafter) calledAs(c *column) *table {
	for _, t := range d.tables {
		if len(t.parts) > 0 && slices.ContainsFunc(t.parts[0].ideas, func(idea string) bool { return c.has(idea) }) && c.has("customer", "contact") {
			return t
		}
	}
	return nil
}
