package foreigntest

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
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
	// says are the columns that fields are said by, by field.
	says map[string]string
	// refers are the fields that refer to records.
	refers []string
}

// found is a row as a query tells of it.
type found struct {
	key             string
	owner           *int64
	hidden          bool
	fields, columns map[string]any
}

// Rows implements drivertest.Oracle.
func (s *System) Rows(ctx context.Context, resource string) (rows []drivertest.Row, err error) {
	q := s.rows[resource]
	all, err := s.ask(ctx, q.sql)
	if err != nil {
		return nil, err
	}
	for _, f := range all {
		row := drivertest.Row{Key: drivertest.Key(f.key), Client: mapping.OfAll, Hidden: f.hidden, Fields: map[string]any{}, Finer: map[string]float64{}, Rest: map[string]string{}}
		if f.owner != nil {
			row.Client = *f.owner
		}
		maps.Copy(row.Fields, f.fields)
		for _, name := range q.refers {
			if to, is := f.fields[name].(string); is {
				row.Fields[name] = drivertest.Key(to)
			}
		}
		named := map[string]string{}
		for field, column := range q.says {
			named[column] = field
		}
		for column, v := range f.columns {
			name := "column " + column // which may be called as a field is that it does not say
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
				return nil, err
			}
			row.Rest[name] = string(text)
		}
		rows = append(rows, row)
	}
	return rows, nil
}
