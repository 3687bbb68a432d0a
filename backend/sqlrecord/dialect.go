package sqlrecord

import (
	"strconv"
	"strings"

	"frontdesk/mapping"
)

// Dialect says how SQL is written for one engine. It never changes.
type Dialect struct {
	Name string // as sheets call it
	Foreign
	// ForUpdate ends a SELECT that locks its rows until the transaction ends.
	ForUpdate string
	// LockRange ends a SELECT for the highest number of a range. It keeps other transactions from
	// adding to the range, on engines where SERIALIZABLE alone does not.
	LockRange string
	// ReturnID ends an INSERT that is run by Conn.Insert.
	ReturnID string
	// IDColumn is the type and constraint of a primary ID that is never reused,
	// not even after its record was deleted.
	IDColumn string
	// BigInt is the type of the hidden columns.
	BigInt string
	// Present is the clock of the engine, in milliseconds since 1970. Programs that share
	// a database use it because their own clocks may differ.
	Present string
	// TableOptions follow the closing parenthesis of CREATE TABLE.
	TableOptions string

	quote       string // around identifiers
	placeholder byte
	numbered    bool // placeholders have numbers
	// nullsAbove says that NULL sorts above every value, unless a statement says otherwise.
	nullsAbove bool
	// columnType is the type that a field is stored as.
	columnType func(f *mapping.Field) string
	// upper stands around a text, and folds ASCII letters, the same in every engine.
	upper [2]string
	// like is the SQL before, between and after a text and the pattern that is looked for in it, and
	// pattern makes one of a part of the text, without regard to case.
	like    [3]string
	pattern func(part string) string
	// noLimit stands before OFFSET where there is no LIMIT.
	noLimit string
	// later is the later of a moment and one millisecond after a column.
	later func(column, moment string) string
	// advance is the query that keeps an identity from issuing its parameter as an ID, if
	// an insert with that ID does not do so; may be nil.
	advance func(resource string) string
	// reserve are the statements that do the same if advance is nil, for IDs that no
	// record is inserted at.
	reserve func(resource string) []string
	// lastID is the query for the highest ID that an identity has issued.
	lastID func(resource string) string
	// columnNames is the query for the names of the columns of the table that is its parameter.
	columnNames string
	// nextIDs is the query for as many new IDs as its parameter says; nil if a Conn cannot
	// postpone statements.
	nextIDs func(resource string) string
	// sqlite is for differences that have no option of their own. In SQLite every index ends in the primary ID, a table may refer to a table
	// created after it, and the planner works without statistics, so the statement has to
	// say which of two indexes narrows more. PostgreSQL may plan a statement once for all values
	// of its parameters, even if different values find very different numbers of rows.
	sqlite bool
}

// Quote writes an identifier, in exactly its letters.
func (d *Dialect) Quote(name string) string {
	return d.quote + strings.ReplaceAll(name, d.quote, d.quote+d.quote) + d.quote
}

// Placeholder writes the n-th parameter, from 1. MySQL's have no numbers.
func (d *Dialect) Placeholder(n int) string {
	if !d.numbered {
		return "?"
	}
	return string(d.placeholder) + strconv.Itoa(n)
}

// placeholders writes the parameters from first to last, for a list of values.
func (d *Dialect) placeholders(first, last int) string {
	var b strings.Builder
	for n := first; n <= last; n++ {
		if n > first {
			b.WriteString(", ")
		}
		b.WriteString(d.Placeholder(n))
	}
	return b.String()
}

// Compared returns the expression that decides whether values of a field are equal: expr
// itself, or its form without dashes for fields that ignore them.
func (d *Dialect) Compared(f *mapping.Field, expr string) string {
	if !f.IgnoreDashes {
		return expr
	}
	bare := d.Bare()
	return bare[0] + expr + bare[1]
}

// Bare stands around a text that is compared without dashes, and without the case of letters.
func (d *Dialect) Bare() [2]string {
	return [2]string{"replace(" + d.upper[0], d.upper[1] + ", '-', '')"}
}

// OrderBy returns one key of an ORDER BY. NULL sorts below every value. If the key cannot
// be NULL, the place of NULLs is not spelled out: PostgreSQL would then not see that an
// index has this very order.
func (d *Dialect) OrderBy(expr string, descending, nullable bool) string {
	nulls := " NULLS FIRST"
	if descending {
		expr, nulls = expr+" DESC", " NULLS LAST"
	}
	if nullable && d.nullsAbove {
		expr += nulls
	}
	return expr
}

// unindexed keeps the planner from choosing an index because of this column.
func (d *Dialect) unindexed(column string) string {
	if d.sqlite {
		return "+" + column
	}
	return column
}

// quoteAll joins quoted identifiers by commas.
func (d *Dialect) quoteAll(names []string) string {
	quoted := make([]string, len(names))
	for i, name := range names {
		quoted[i] = d.Quote(name)
	}
	return strings.Join(quoted, ", ")
}
