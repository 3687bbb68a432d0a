package sqlrecord

import "strings"

// Sort is the kind of values of a column or an expression, as far as comparisons go.
type Sort string

const (
	Integers Sort = "integer"
	Decimals Sort = "decimal"
	Singles  Sort = "single" // floating-point numbers of 32 bits
	Floats   Sort = "float"
	Booleans Sort = "boolean"
	Texts    Sort = "text"
	Padded   Sort = "char" // PostgreSQL's char(n)
	Days     Sort = "date"
	Clocks   Sort = "datetime"  // what a clock on the wall showed
	Instants Sort = "timestamp" // with a zone
	Binaries Sort = "bytes"
	GUIDs    Sort = "uuid"
	Others   Sort = "other" // compared as texts
)

// SortOf is the sort of an engine's type, named without its sizes and in small letters.
func (d *Dialect) SortOf(name string) Sort {
	if s, is := d.sorts[name]; is {
		return s
	}
	has := func(word string) bool { return strings.Contains(name, word) }
	begins := func(word string) bool { return strings.HasPrefix(name, word) }
	switch {
	case name == "": // of a column or an expression of SQLite
		return ""
	case has("bool"):
		return Booleans
	case has("int") && name != "interval" && name != "point", strings.HasSuffix(name, "serial"), name == "year", name == "bit":
		return Integers
	case begins("float"), begins("double"), begins("real"):
		return Floats
	case begins("dec"), begins("num"):
		return Decimals
	case name == "date":
		return Days
	case begins("timestamp") && has("with time zone"), name == "timestamptz":
		return Instants
	case begins("timestamp"), has("datetime"):
		return Clocks
	case has("blob"), has("binary"), name == "bytea":
		return Binaries
	case has("char"), has("text"), has("clob"), name == "enum", name == "set":
		return Texts
	default:
		return Others
	}
}

// IsNumber reports whether values of a sort are numbers.
func (s Sort) IsNumber() bool {
	return s == Integers || s == Decimals || s == Singles || s == Floats
}

// OfResult reduces a sort to those that are distinguished in results: Decimals for all numbers,
// Texts, Clocks for all times, and "".
func (s Sort) OfResult() Sort {
	switch s {
	case Integers, Decimals, Singles, Floats:
		return Decimals
	case Texts, Padded:
		return Texts
	case Days, Clocks, Instants:
		return Clocks
	}
	return ""
}
