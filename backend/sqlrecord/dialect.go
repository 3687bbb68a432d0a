package sqlrecord

import (
	"strconv"
	"strings"

	"frontdesk/mapping"
)

// Dialect is how one engine is spoken to. Dialects are made by SQLite and
// Postgres and never change.
type Dialect struct {
	Name string // "sqlite" or "postgres"
	// ForUpdate ends a SELECT whose rows are to be held until the transaction
	// ends.
	ForUpdate string
	// ReturnID ends an INSERT that is run by Conn.Insert.
	ReturnID string
	// IDColumn is the type and constraint of a primary ID that is never reused,
	// not even after its record was deleted.
	IDColumn string
	// BigInt is the type of the hidden columns.
	BigInt string
	// Present is the clock of the engine, in milliseconds since 1970: several programs that
	// share a database go by it, since theirs need not agree.
	Present string
	// TableOptions follow the closing parenthesis of CREATE TABLE.
	TableOptions string

	placeholder byte
	columnType  func(f *mapping.Field) string
	// upper folds ASCII letters, the same in every engine.
	upper func(expr string) string
	// later is the greater of a moment and one millisecond after a column.
	later func(column, moment string) string
	// advance is the query that keeps an identity from giving out its parameter,
	// where inserting it does not do so; may be nil.
	advance func(resource string) string
	// reserve are the statements that do so where advance is nil, for IDs that
	// nothing is inserted at.
	reserve func(resource string) []string
	// lastID is the query for the highest ID that an identity has given out.
	lastID func(resource string) string
	// nullsLow tells that NULL sorts below every value without being asked to.
	nullsLow bool
	// rowidIndexed tells that every index ends in the primary ID by itself.
	rowidIndexed bool
	// foreignKeysInline tells that a table may refer to one created after it.
	foreignKeysInline bool
	// steers tells that the planner works without statistics, so that it has to
	// be told which of two indexes narrows more.
	steers bool
	// plansOnce tells that the engine may plan a statement once for all values of
	// its parameters, however different what they find is.
	plansOnce bool
}

// Quote writes an identifier. Identifiers come from the model, which allows
// letters, digits and underscores only.
func (d *Dialect) Quote(name string) string { return `"` + name + `"` }

// Placeholder writes the n-th parameter, from 1.
func (d *Dialect) Placeholder(n int) string {
	return string(d.placeholder) + strconv.Itoa(n)
}

// Text writes a statement with SQLite's placeholders for the engine. Nothing else in
// it may be a question mark.
func (d *Dialect) Text(sql string) string { return strings.ReplaceAll(sql, "?", string(d.placeholder)) }

// ColumnType returns the type that a field is stored as.
func (d *Dialect) ColumnType(f *mapping.Field) string { return d.columnType(f) }

// Compared returns the expression by which values of a field are equal or not:
// expr itself, or for fields that ignore dashes its form without them.
func (d *Dialect) Compared(f *mapping.Field, expr string) string {
	if !f.IgnoreDashes {
		return expr
	}
	return "replace(" + d.upper(expr) + ", '-', '')"
}

// OrderBy returns one key of an ORDER BY. NULL is lower than every value. Where
// there is none, nothing is said of it: PostgreSQL would not see that an index has
// this very order.
func (d *Dialect) OrderBy(expr string, descending, nullable bool) string {
	return OrderBy(expr, descending, nullable && !d.nullsLow)
}

// OrderBy is that of an engine, which is told where NULL comes or not.
func OrderBy(expr string, descending, said bool) string {
	switch {
	case descending && said:
		return expr + " DESC NULLS LAST"
	case descending:
		return expr + " DESC"
	case said:
		return expr + " NULLS FIRST"
	default:
		return expr
	}
}

// unindexed keeps the planner from choosing an index because of this column.
func (d *Dialect) unindexed(column string) string {
	if d.steers {
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
