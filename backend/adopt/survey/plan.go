package survey

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

// Plan is how a database intends to read a list.
type Plan struct {
	// Narrows are the indexes that narrow what is read, each with what it is narrowed by, in
	// the engine's words. Only those of one engine can be compared.
	Narrows []string
	// Sorts tells that what was read is sorted afterwards.
	Sorts bool
}

// Ask asks the planner how a list would be read, by the very statement that reads it.
func Ask(ctx context.Context, s Store, r *mapping.Resource, q backend.Query) (plan *Plan, err error) {
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
	plan = &Plan{}
	asked, after, err := s.Asked(ctx, t, q)
	if err != nil {
		return nil, err
	}
	text, args := t.Rows.Many(s.DB().Dialect(), s.Params(t, q.Client), asked, after).Statement()
	err = s.DB().Read(ctx, func(c sqlrecord.Conn) error {
		return c.Query(ctx, explain+text, columns, args, func(row []mapping.Value) error {
			return plan.read(engine, row[len(row)-1].Text())
		})
	})
	if err != nil {
		return nil, fmt.Errorf("ask for the plan of a list of %s: %w", r.Name, err)
	}
	return plan, nil
}

// read reads a row of the plan.
func (p *Plan) read(engine, row string) error {
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
func (p *Plan) step(words string) {
	if _, by, narrows := strings.Cut(words, "SEARCH "); narrows {
		p.Narrows = append(p.Narrows, by)
	}
	p.Sorts = p.Sorts || words == "USE TEMP B-TREE FOR ORDER BY"
}

// readsPart are the ways in which MariaDB and MySQL read a part of a table.
var readsPart = []string{"ref", "eq_ref", "const", "system", "range", "ref_or_null", "index_merge", "fulltext"}

// walk visits the steps of a plan in JSON.
func (p *Plan) walk(said any) {
	switch said := said.(type) {
	case []any:
		for _, one := range said {
			p.walk(one)
		}
	case map[string]any:
		if by, is := said["Index Cond"].(string); is { // PostgreSQL
			p.Narrows = append(p.Narrows, fmt.Sprint(said["Index Name"], " ", by))
		}
		if how, is := said["access_type"].(string); is && slices.Contains(readsPart, how) {
			p.Narrows = append(p.Narrows, fmt.Sprint(said["table_name"], " ", said["key"], " ", said["used_key_parts"]))
		}
		_, filesort := said["filesort"]                                                                // MariaDB
		p.Sorts = p.Sorts || filesort || said["using_filesort"] == true || said["Node Type"] == "Sort" // MySQL, PostgreSQL
		for _, one := range said {
			p.walk(one)
		}
	}
}
