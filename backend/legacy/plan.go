package legacy

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"frontdesk/backend"
	"frontdesk/mapping"
	"frontdesk/mapping/sheet"
)

// Plan is how a database intends to read a list.
type Plan struct {
	// Narrows are the indexes that narrow what is read, each with what it is narrowed by, in
	// the engine's words. Only those of one engine can be compared.
	Narrows []string
	// Sorts tells that what was read is sorted afterwards.
	Sorts bool
}

// Plan asks the planner how a list would be read. It is nil where the planner cannot be asked:
// where a procedure lists, and where nothing can fulfil the conditions.
func (s *Store) Plan(ctx context.Context, r *mapping.Resource, q backend.Query) (plan *Plan, err error) {
	t, err := s.table(r)
	if err != nil {
		return nil, err
	}
	ask := s.d.schema().explain
	if op := t.Operations[mapping.OpList]; ask == "" || op != nil && op.Procedure != "" {
		return nil, nil
	}
	err = s.read(ctx, func(on session) error {
		l, err := on.listing(ctx, t, q)
		if err != nil || l.beyond {
			return err
		}
		b, possible, err := l.text(newStatement(s.d).add(ask), q.Offset, q.Limit+1)
		if err != nil || !possible {
			return err
		}
		plan = &Plan{}
		return query(ctx, on.conn, b, func(row []sheet.Raw) error { return plan.read(s.d.engine(), row) })
	})
	if err != nil {
		return nil, fmt.Errorf("ask for the plan of a list of %s: %w", r.Name, err)
	}
	return plan, nil
}

// read reads a row of the plan.
func (p *Plan) read(engine string, row []sheet.Raw) error {
	if engine == "sqlite" {
		p.step(row[len(row)-1].String())
		return nil
	}
	var said any
	if err := json.Unmarshal([]byte(row[0].String()), &said); err != nil {
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
