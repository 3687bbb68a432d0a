package reference

import (
	"embed"
	"encoding/csv"
	"fmt"
	"slices"
)

//go:embed data/*.csv
var data embed.FS

// table is one of the data files: rows of text under named columns.
type table struct {
	columns []string
	rows    [][]string
}

// readTable reads data/<name>.csv, which must have these columns.
func readTable(name string, columns ...string) (table, error) {
	file, err := data.Open("data/" + name + ".csv")
	if err != nil {
		return table{}, err
	}
	defer file.Close()
	rows, err := csv.NewReader(file).ReadAll()
	if err != nil {
		return table{}, fmt.Errorf("data file %s: %w", name, err)
	}
	if len(rows) < 2 {
		return table{}, fmt.Errorf("data file %s: no rows", name)
	}
	t := table{columns: rows[0], rows: rows[1:]}
	for _, c := range columns {
		if !slices.Contains(t.columns, c) {
			return table{}, fmt.Errorf("data file %s: no column %s", name, c)
		}
	}
	return t, nil
}

// get returns the value of a column that readTable was asked for.
func (t table) get(row int, column string) string {
	return t.rows[row][slices.Index(t.columns, column)]
}

// find returns the row whose column has the value, or -1.
func (t table) find(column, value string) int {
	at := slices.Index(t.columns, column)
	return slices.IndexFunc(t.rows, func(row []string) bool { return row[at] == value })
}
