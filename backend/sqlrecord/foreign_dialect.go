package sqlrecord

import (
	"context"
	"strconv"
	"strings"

	"frontdesk/mapping"
)

// Foreign is the part of a Dialect for tables of other programs.
type Foreign struct {
	Catalogue Catalogue
	// StrictTypes says that a value is compared with those of its own type alone, that an index
	// finds no others, and that a boolean is no number.
	StrictTypes bool
	// FlexibleTypes says that a column holds values of any type, a number never equals a text,
	// times are texts, and decimals floating-point numbers.
	FlexibleTypes    bool
	PadsTexts        bool // blanks at the end of a text do not count, unless its collation says so
	CastsRecollate   bool // a cast to a text gives it the connection's collation, which not all columns can be compared with
	BackslashEscapes bool // a backslash in a text makes the next character plain
	NoReturning      bool // an INSERT returns nothing but a number that the table gave
	LocksGaps        bool // a locking read that finds no row locks the gap where it would be
	// NamesConstraints says that an error names the index or the key that it is about. Otherwise it
	// names the columns of an index, and nothing of a key.
	NamesConstraints bool
	InUse            Fault // the error for a row that a foreign key keeps from being deleted
	// Explain stands before a statement whose plan is wanted: a document of JSON, or with PlanInSteps
	// a step a row, in the last of four columns.
	Explain     string
	PlanInSteps bool
	Clock       string // what the session's clock shows at %d, in seconds since 1970
	SetZone     string // sets the session's zone to %s; "" where there is UTC alone
	// Round rounds a number of a sort, and Millis cuts a time after its milliseconds, in the form in
	// which times are compared.
	Round  func(e Expr, s Sort, scale int) Expr
	Millis func(e Expr) Expr
	// Differ reports whether two values of a column differ, to the last letter.
	Differ func(a, b Expr, areTexts bool) Expr
	// StoredAs is the type, without its sizes, of what a column of a type stores; "" where a
	// comparison does not need it.
	StoredAs func(name string, s Sort) string
	// Try returns two statements that test whether a column can hold a value, without its table: set
	// keeps its parameter in a variable, take converts that; "" if this value cannot be tried. Try is
	// nil if none can.
	Try func(column string, v mapping.Value) (set, take string)

	open     func(context.Context, *Dialect, ForeignOptions) (DB, error)
	judge    func(dsn string) error // finds what open would find in a DSN
	readOnly string
	casts    map[Sort]string // the types that values are cast to, with {scale}
	sorts    map[string]Sort // of types that are something else than in other engines
}

// TypeOf is the type that a value is cast to in order to be of a sort; "" for none.
func (f *Foreign) TypeOf(s Sort, scale int) string {
	return strings.ReplaceAll(f.casts[s], "{scale}", strconv.Itoa(scale))
}

// Wrap puts SQL around expressions: text, expression, text, …
func Wrap(parts ...any) (e Expr) {
	for _, p := range parts {
		more, is := p.(Expr)
		if !is {
			more = Plain(p.(string))
		}
		for _, part := range more {
			if n := len(e); n > 0 && e[n-1].Param == "" {
				e[n-1].SQL, e[n-1].Param = e[n-1].SQL+part.SQL, part.Param
			} else {
				e = append(e, part)
			}
		}
	}
	return e
}
