package legacy

import (
	"strings"
)

// sort is what a column, or the result of an expression, is to comparisons.
type sort string

const (
	integers sort = "integer"
	decimals sort = "decimal"
	singles  sort = "single" // floating-point numbers of 32 bits
	floats   sort = "float"
	booleans sort = "boolean"
	texts    sort = "text"
	padded   sort = "char" // PostgreSQL's char(n)
	days     sort = "date"
	clocks   sort = "datetime"  // what a clock on the wall showed
	instants sort = "timestamp" // with a zone
	octets   sort = "bytes"
	guids    sort = "uuid"
	others   sort = "other" // compared as texts
)

// sortOf is the sort of an engine's type, named without its sizes and in small letters.
func sortOf(engine, name string) sort {
	has := func(word string) bool { return strings.Contains(name, word) }
	begins := func(word string) bool { return strings.HasPrefix(name, word) }
	switch {
	case name == "": // of a column or an expression of SQLite
		return ""
	case has("bool"):
		return booleans
	case has("int") && name != "interval" && name != "point", strings.HasSuffix(name, "serial"), name == "year", name == "bit" && engine != "postgres":
		return integers
	case engine == "postgres" && (name == "real" || name == "float4"), engine != "sqlite" && engine != "postgres" && begins("float"):
		return singles
	case begins("float"), begins("double"), begins("real"):
		return floats
	case begins("dec"), begins("num"):
		return decimals
	case name == "date":
		return days
	case begins("timestamp") && has("with time zone"), name == "timestamptz":
		return instants
	case begins("timestamp"), has("datetime"):
		return clocks
	case has("blob"), has("binary"), name == "bytea":
		return octets
	case engine == "postgres" && (name == "character" || name == "bpchar" || name == "char"):
		return padded
	case name == "uuid" && engine == "postgres":
		return guids
	case has("char"), has("text"), has("clob"), name == "enum" && engine != "postgres", name == "set":
		return texts
	default:
		return others
	}
}

// isNumber tells whether values of a sort are numbers.
func (s sort) isNumber() bool {
	return s == integers || s == decimals || s == singles || s == floats
}

// Sort is what tools call the type of a column of an engine; "" if it is not known.
func (c Column) Sort(engine string) string {
	switch s := sortOf(engine, c.Type); s {
	case singles, floats:
		return string(decimals)
	case padded, guids:
		return string(texts)
	case others:
		return ""
	default:
		return string(s)
	}
}
