package mirror

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/cespare/xxhash/v2"
)

// record is a record as it is answered.
type record map[string]any

func (r record) id() int64 {
	n, _ := r[idColumn].(float64)
	return int64(n)
}

// table is the copy of one resource.
type table struct {
	resource *resource
	columns  []field
	name     string // quoted
	put      string
	readTo   int64
	complete bool
}

func newTable(r *resource) *table {
	t := &table{resource: r, columns: r.columns(), name: quote(r.Name)}
	var names, places []string
	for _, f := range t.columns {
		names, places = append(names, quote(f.Name)), append(places, "?")
	}
	t.put = "INSERT OR REPLACE INTO " + t.name + " (" + strings.Join(names, ", ") + ", " + sumColumn + ") VALUES (" + strings.Join(places, ", ") + ", ?)"
	return t
}

// definition are the columns in SQL.
func (t *table) definition() string {
	var all []string
	for _, f := range t.columns {
		column := quote(f.Name) + " " + kinds[f.Datatype]
		if f.Name == idColumn {
			column += " PRIMARY KEY"
		}
		all = append(all, column)
	}
	return strings.Join(append(all, sumColumn+" INTEGER NOT NULL"), ", ")
}

// values are those of a record's columns, and their sum at the end.
func (t *table) values(r record) ([]any, error) {
	values := make([]any, 0, len(t.columns)+1)
	for _, f := range t.columns {
		value := r[f.Name]
		n, number := value.(float64)
		_, text := value.(string)
		switch kind := kinds[f.Datatype]; {
		case value == nil, kind == "TEXT" && text, kind == "REAL" && number:
		case kind == "INTEGER" && number && n == math.Trunc(n):
			value = int64(n)
		default:
			return nil, fmt.Errorf("%s %d: %s is no %s", t.resource.Name, r.id(), f.Name, f.Datatype)
		}
		values = append(values, value)
	}
	return append(values, sum(values)), nil
}

// sum is a hash of values.
func sum(values []any) int64 {
	var b []byte
	for _, value := range values {
		switch v := value.(type) {
		case nil:
			b = append(b, 'n')
		case int64:
			b = strconv.AppendInt(append(b, 'i'), v, 10)
		case float64:
			b = strconv.AppendUint(append(b, 'f'), math.Float64bits(v), 16)
		case string:
			b = strconv.AppendInt(append(b, 't'), int64(len(v)), 10)
			b = append(append(b, ':'), v...)
		}
	}
	return int64(xxhash.Sum64(b))
}
