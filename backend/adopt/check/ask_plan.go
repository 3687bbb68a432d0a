package check

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"frontdesk/backend"
	"frontdesk/backend/sqlrecord"
	"frontdesk/mapping"
)

// manyRecords is how many records a client must have before a list that reads them all is reported.
const manyRecords = 1000

// plans asks the planner how the records of a client with many are read: one by its ID, those modified
// since a time, lists with each filter, and in each order.
func (x *subject) plans(ctx context.Context) {
	all, err := x.list(ctx, backend.Query{Limit: 1, Total: true})
	if err != nil || all.Total < manyRecords {
		return
	}
	slow := func(what, cure string) {
		x.add(Warning, "sql.plan", x.path, fmt.Sprintf("%s reads all %d records of the client each time: the planner uses no index for it", what, all.Total), cure)
	}
	plain, err := x.plan(ctx, backend.Query{})
	if err != nil {
		x.Looked = append(x.Looked, x.Name+": its plans could not be asked for: "+hidden(err))
		return
	}
	if plain.sorts {
		slow("a list", "make an index over the client and the key")
	}
	var whole, sorted []string
	for i, f := range mapping.Each(x.Fields) {
		if isFixed(x.Sheet.Resource(x.Name), f) || x.isLate() || ctx.Err() != nil {
			continue
		}
		isRequired := slices.ContainsFunc(x.base, func(b backend.Filter) bool { return b.Field == f })
		if f.Filterable() && len(f.OneOf) == 0 && !isRequired && x.readsAll(ctx, f, plain) {
			whole = append(whole, f.Name)
		}
		if _, v := x.one(f); i == x.ModifiedAt && !x.Undated && v.IsSet() {
			if p, err := x.plan(ctx, backend.Query{ModifiedSince: v}); err == nil && !p.narrower(plain) {
				slow("what was modified since a time", "make an index over the client and modified_at; changes are looked for again and again")
			}
		}
		if f.Sortable() && f.Reference == "" && !f.Primary {
			if p, err := x.plan(ctx, backend.Query{Sort: []backend.Order{{Field: f}}}); err == nil && p.sorts {
				sorted = append(sorted, f.Name)
			}
		}
	}
	if len(whole) > 0 {
		slow("a list filtered by "+strings.Join(whole, " or "), "make an index that begins with the client and goes on with it; of a field that is read by SQL, say write or find, by which an index finds it")
	}
	if len(sorted) > 0 {
		slow("a list sorted by "+strings.Join(sorted, " or "), "make an index over the client, it and the key, with null first where it may be null")
	}
}

// readsAll reports whether a filter narrows nothing, whatever value is tried.
func (x *subject) readsAll(ctx context.Context, f *mapping.Field, plain *plan) bool {
	var tried []mapping.Value
	for _, rec := range x.records {
		v := rec.Values[f.Index]
		if !v.IsSet() || v.IsEmpty() || slices.Contains(tried, v) {
			continue
		}
		if tried = append(tried, v); len(tried) > mostTries {
			break
		}
		if p, err := x.plan(ctx, backend.Query{}, backend.Filter{Field: f, Value: v}); err != nil || p.narrower(plain) {
			return false
		}
	}
	return len(tried) > 0
}

// plan is how a database intends to read a list.
type plan struct {
	// narrows are the indexes that narrow what is read, each with its condition, in the
	// engine's words. Only plans of the same engine can be compared.
	narrows []string
	sorts   bool // the plan sorts what it has read
}

// narrower reports whether a plan narrows more than another.
func (p *plan) narrower(than *plan) bool {
	return slices.ContainsFunc(p.narrows, func(by string) bool { return !slices.Contains(than.narrows, by) })
}

// plan asks the planner how a page of the client's list is read, by the same statement.
func (x *subject) plan(ctx context.Context, q backend.Query, more ...backend.Filter) (*plan, error) {
	q.Client, q.Limit, q.Filters = x.of, pageSize, append(slices.Clone(x.base), more...)
	return planOf(ctx, x.database, x.Resource, q)
}

func planOf(ctx context.Context, s Database, r *mapping.Resource, q backend.Query) (*plan, error) {
	t, err := s.TableFor(ctx, r, q.Client)
	if err != nil {
		return nil, err
	}
	columns := 1
	if t.Dialect.PlanInSteps {
		columns = 4
	}
	translated, after, err := s.Translated(ctx, t, q)
	if err != nil {
		return nil, err
	}
	text, args := t.Rows.Many(t.Dialect, s.Params(t, q.Client), translated, after).Statement()
	out := &plan{}
	err = s.DB().Read(ctx, func(c sqlrecord.Conn) error {
		return c.Query(ctx, t.Dialect.Explain+text, slices.Repeat([]sqlrecord.Column{foreignText}, columns), args, func(row []mapping.Value) error {
			step := row[columns-1].Text()
			if t.Dialect.PlanInSteps {
				out.step(step)
				return nil
			}
			var node any
			err := json.Unmarshal([]byte(step), &node)
			out.walk(node)
			return err
		})
	})
	return out, err
}

// step reads a step in SQLite's form: SEARCH t USING INDEX i (a=? AND b>?).
func (p *plan) step(words string) {
	if _, by, narrows := strings.Cut(words, "SEARCH "); narrows {
		p.narrows = append(p.narrows, by)
	}
	p.sorts = p.sorts || words == "USE TEMP B-TREE FOR ORDER BY"
}

// readsPart are the ways in which MariaDB and MySQL read a part of a table.
var readsPart = []string{"ref", "eq_ref", "const", "system", "range", "ref_or_null", "index_merge", "fulltext"}

// walk visits the steps of a plan in JSON.
func (p *plan) walk(node any) {
	switch node := node.(type) {
	case []any:
		for _, one := range node {
			p.walk(one)
		}
	case map[string]any:
		if by, is := node["Index Cond"].(string); is { // PostgreSQL
			p.narrows = append(p.narrows, fmt.Sprint(node["Index Name"], " ", by))
		}
		if how, is := node["access_type"].(string); is && slices.Contains(readsPart, how) {
			p.narrows = append(p.narrows, fmt.Sprint(node["table_name"], " ", node["key"], " ", node["used_key_parts"]))
		}
		_, filesort := node["filesort"]                                                                // MariaDB
		p.sorts = p.sorts || filesort || node["using_filesort"] == true || node["Node Type"] == "Sort" // MySQL, PostgreSQL
		for _, one := range node {
			p.walk(one)
		}
	}
}
