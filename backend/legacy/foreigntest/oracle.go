package foreigntest

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"frontdesk/backend/drivertest"
	"frontdesk/mapping"
)

// query is how an oracle reads a resource: by SQL of its own, from the tables.
type query struct {
	// sql gives of each row, in the order of lists: its key; whose it is, null for
	// everybody's; whether the sheet hides it; its fields as JSON, each as a client is to
	// see it; and the whole row of the table, as JSON on PostgreSQL, as it is on MariaDB.
	sql string
	// says are the columns of fields, by field.
	says map[string]string
	// refers are the fields that refer to records.
	refers []string
}

// found is a row as a query returns it.
type found struct {
	key     string
	owner   *int64
	hidden  bool
	fields  []byte // as JSON
	columns []byte // the whole row: the same for the same values of the table's columns
	// parsed are the columns by their names.
	parsed func() (map[string]any, error)
}

// Rows implements drivertest.Oracle. A row that comes in the same text as before is
// the same Row: walks ask for all of them after each step, and hardly any has changed.
func (s *System) Rows(ctx context.Context, resource string) (rows []drivertest.Row, err error) {
	q := s.rows[resource]
	all, err := s.ask(ctx, q.sql)
	if err != nil {
		return nil, err
	}
	for _, f := range all {
		owner := int64(mapping.OfAll)
		if f.owner != nil {
			owner = *f.owner
		}
		words := fmt.Sprintf("%s %s %d %t %s\x00%s", resource, f.key, owner, f.hidden, f.fields, f.columns)
		row, known := s.seen[words]
		if !known {
			if row, err = q.row(f, owner); err != nil {
				return nil, err
			}
			if s.seen == nil {
				s.seen = map[string]drivertest.Row{}
			}
			s.seen[words] = row
		}
		rows = append(rows, row)
	}
	return rows, nil
}

// row converts a found row for a Walk.
func (q query) row(f found, owner int64) (row drivertest.Row, err error) {
	row = drivertest.Row{Key: drivertest.Key(f.key), Client: owner, Hidden: f.hidden, Finer: map[string]float64{}, Rest: map[string]string{}}
	if err := json.Unmarshal(f.fields, &row.Fields); err != nil {
		return row, err
	}
	columns, err := f.parsed()
	if err != nil {
		return row, err
	}
	for _, name := range q.refers {
		if to, is := row.Fields[name].(string); is {
			row.Fields[name] = drivertest.Key(to)
		}
	}
	named := map[string]string{}
	for field, column := range q.says {
		named[column] = field
	}
	for column, v := range columns {
		name := "column " + column // the prefix keeps it apart from a field of the same name
		if field, says := named[column]; says {
			name = field
			if n, is := v.(float64); is {
				row.Finer[field] = n
			}
			if moment, err := time.Parse("2006-01-02T15:04:05.999999", fmt.Sprint(v)); err == nil {
				row.Finer[field] = float64(moment.UnixMicro())
			}
		}
		text, err := json.Marshal(v)
		if err != nil {
			return row, err
		}
		row.Rest[name] = string(text)
	}
	return row, nil
}
