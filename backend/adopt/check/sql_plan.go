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

// plan is how a database intends to read a list.
type plan struct {
	// narrows are the indexes that narrow what is read, each with what it is narrowed by, in
	// the engine's words. Only those of one engine can be compared.
	narrows []string
	// sorts tells that what was read is sorted afterwards.
	sorts bool
}

// planOf asks the planner how a list would be read, by the very statement that reads it.
func planOf(ctx context.Context, s Database, r *mapping.Resource, q backend.Query) (out *plan, err error) {
	t, err := s.TableFor(ctx, r, q.Client)
	if err != nil {
		return nil, err
	}
	engine, explain, columns := s.Sheet().Source.SQL.Engine, "EXPLAIN FORMAT=JSON ", []sqlrecord.Column{foreignText}
	switch engine {
	case "postgres":
		explain = "EXPLAIN (FORMAT JSON) "
	case "sqlite":
		explain, columns = "EXPLAIN QUERY PLAN ", slices.Repeat(columns, 4) // the step is in the last
	}
	out = &plan{}
	asked, after, err := s.Asked(ctx, t, q)
	if err != nil {
		return nil, err
	}
	text, args := t.Rows.Many(s.DB().Dialect(), s.Params(t, q.Client), asked, after).Statement()
	err = s.DB().Read(ctx, func(c sqlrecord.Conn) error {
		return c.Query(ctx, explain+text, columns, args, func(row []mapping.Value) error {
			return out.read(engine, row[len(row)-1].Text())
		})
	})
	if err != nil {
		return nil, fmt.Errorf("ask for the plan of a list of %s: %w", r.Name, err)
	}
	return out, nil
}

// read reads a row of the plan.
func (p *plan) read(engine, row string) error {
	if engine == "sqlite" {
		p.step(row)
		return nil
	}
	var said any
	if err := json.Unmarshal([]byte(row), &said); err != nil {
		return err
	}
	p.walk(said)
	return nil
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
func (p *plan) walk(said any) {
	switch said := said.(type) {
	case []any:
		for _, one := range said {
			p.walk(one)
		}
	case map[string]any:
		if by, is := said["Index Cond"].(string); is { // PostgreSQL
			p.narrows = append(p.narrows, fmt.Sprint(said["Index Name"], " ", by))
		}
		if how, is := said["access_type"].(string); is && slices.Contains(readsPart, how) {
			p.narrows = append(p.narrows, fmt.Sprint(said["table_name"], " ", said["key"], " ", said["used_key_parts"]))
		}
		_, filesort := said["filesort"]                                                                // MariaDB
		p.sorts = p.sorts || filesort || said["using_filesort"] == true || said["Node Type"] == "Sort" // MySQL, PostgreSQL
		for _, one := range said {
			p.walk(one)
		}
	}
}
