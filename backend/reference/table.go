package reference

import (
	"bytes"
	"embed"
	"encoding/csv"
	"fmt"
	"slices"
	"strconv"
)

//go:embed data/*.csv
var data embed.FS

// table is one of the data files: rows of text under named columns. The files are part of the
// program, and tests compare them with the model: a missing column panics.
type table struct {
	columns []string
	rows    [][]string
}

// readTable reads data/<name>.csv.
func readTable(name string) table {
	var rows [][]string
	text, err := data.ReadFile("data/" + name + ".csv")
	if err == nil {
		rows, err = csv.NewReader(bytes.NewReader(text)).ReadAll()
	}
	if err != nil {
		panic(fmt.Sprintf("data file %s: %v", name, err))
	}
	return table{columns: rows[0], rows: rows[1:]}
}

// get returns the value of a column.
func (t table) get(row int, column string) string {
	return t.rows[row][slices.Index(t.columns, column)]
}

// number is a value that is a whole number.
func (t table) number(row int, column string) int {
	n, err := strconv.Atoi(t.get(row, column))
	if err != nil {
		panic(err)
	}
	return n
}
