package mapping

import (
	"cmp"
	"slices"
	"strings"
	"sync"
)

// Scope says where a reason occurred: anywhere (General), in one of the record
// operations, or at an endpoint ("GET /authenticate", or "/flatrateline" for every
// method of it).
type Scope string

// The scopes that are not endpoints.
const (
	General  Scope = ""
	OpCreate Scope = "create"
	OpGet    Scope = "get"
	OpUpdate Scope = "update"
	OpList   Scope = "list"
	OpDelete Scope = "delete"
)

// RecordOperations are the operations on records, in the order of the documentation.
func RecordOperations() []Scope { return []Scope{OpGet, OpList, OpCreate, OpUpdate, OpDelete} }

// Entry is one row of the error tables. If several rows have the same reason, the
// first one sets Args, By and Help for all of them.
type Entry struct {
	Scope   Scope
	Reason  Reason
	Status  int
	Message string // each <x> (or <vendor>) stands for the next argument of Fail
	Args    []Arg  // one for each placeholder; a single one if they are a list
	By      By     // who finds the violation
	Help

	order int    // position in the tables
	field string // the field that the message names itself
	named bool   // the first argument is the field
}

// Arg is what a placeholder of a message takes.
type Arg struct {
	Takes   Takes
	Example string // for the OpenAPI description; <vendor> stands for the vendor's name
}

// Takes says what an argument is, so that a driver can fill it in. Arguments with the
// zero Takes are filled in only by the gateway.
type Takes uint8

// The kinds of arguments; first those of the field that the error is about.
const (
	ArgField      Takes = iota + 1
	ArgArray            // the field; the example is an array if the model has one
	ArgValue            // the field's value
	ArgOwnValue         // the value of the field that the message names itself
	ArgLength           // characters of the value
	ArgMost             // characters that the field takes
	ArgValidation       // the rule of the field
	ArgAfter            // the field that the field must come after
	ArgAfterValue       // the value of that field
	ArgID               // the name of the primary ID
	ArgIDValue          // the record's ID
	ArgAt               // the resource that a record is in use at
)

// OfField reports whether an argument is about the field, and so known only with it.
func (t Takes) OfField() bool { return t >= ArgField && t <= ArgAfterValue }

// By says who finds a violation.
type By uint8

// The finders.
const (
	ByGateway        By = iota // before the administration is asked
	ByEither                   // the gateway; what it cannot judge, the administration
	ByAdministration           // the administration, or the rules that judge by its records
	ByAccount                  // the administration, for the account of a login
)

// Help explains an error to people, in addition to its message.
type Help struct {
	Cause string // what happened, in a sentence or two
	Cure  string // what to do about it
}

// HelpFor returns the Help for a reason; the zero Help if there is no such reason.
func HelpFor(r Reason) Help {
	if e := NewCatalogue().anywhere[r]; e != nil {
		return e.Help
	}
	return Help{}
}

// Takes reports whether an argument of the message is of that kind.
func (e *Entry) Takes(what Takes) bool {
	return slices.ContainsFunc(e.Args, func(a Arg) bool { return a.Takes == what })
}

// Catalogue has the status and the message of every reason. It is immutable and safe for concurrent use.
type Catalogue struct {
	entries  []Entry
	own      int // the first so many entries are rows of the interface
	byScope  map[Scope]map[Reason]*Entry
	anywhere map[Reason]*Entry // the first row of a reason, in any scope

	templates []template // aligned with entries
}

// NewCatalogue returns the catalogue of the whole interface; all calls return the same one.
func NewCatalogue() *Catalogue { return wholeCatalogue() }

var wholeCatalogue = sync.OnceValue(func() *Catalogue {
	entries := interfaceRows()
	c := &Catalogue{own: len(entries), byScope: map[Scope]map[Reason]*Entry{}, anywhere: map[Reason]*Entry{}}
	c.entries = append(entries, contractRows()...)
	for i := range c.entries {
		e := &c.entries[i]
		e.order = i
		if rest, ok := strings.CutPrefix(e.Message, "Field: "); ok {
			e.field, _, _ = strings.Cut(rest, " ")
		}
		e.named = e.field == "<x>" || e.Reason == CannotUpdate
		if c.byScope[e.Scope] == nil {
			c.byScope[e.Scope] = map[Reason]*Entry{}
		}
		c.byScope[e.Scope][e.Reason] = e
		if first := c.anywhere[e.Reason]; first != nil {
			e.Args, e.By, e.Help = first.Args, first.By, first.Help
		} else {
			c.anywhere[e.Reason] = e
		}
		c.templates = append(c.templates, newTemplate(e))
	}
	return c
})

// Entries returns every row, the interface's first, in table order.
func (c *Catalogue) Entries() []Entry { return slices.Clone(c.entries) }

// Documented reports whether an entry is a row of the interface, and not one of the
// contract that fills its gaps.
func (c *Catalogue) Documented(e Entry) bool { return e.order < c.own }

// Lookup finds the row of a reason: in the first of the scopes that has one, else
// in the general table, else the first row of that reason anywhere. A row that is
// listed for one operation only holds for the others, too, with the same message.
func (c *Catalogue) Lookup(r Reason, scopes ...Scope) *Entry {
	for _, s := range scopes {
		if e := c.byScope[s][r]; e != nil {
			return e
		}
	}
	if e := c.byScope[General][r]; e != nil {
		return e
	}
	if e := c.anywhere[r]; e != nil {
		return e
	}
	return c.byScope[General][InternalError]
}

// Sort sorts violations by the row order of the scopes' tables; those with rows of
// other tables come last. Violations of one row keep their order.
func (c *Catalogue) Sort(v Violations, scopes ...Scope) {
	rank := func(e *Error) int {
		row := c.Lookup(e.Reason, scopes...)
		if slices.Contains(scopes, row.Scope) {
			return row.order
		}
		return len(c.entries) + row.order
	}
	slices.SortStableFunc(v, func(a, b *Error) int { return cmp.Compare(rank(a), rank(b)) })
}

// Word returns the documented text of an error in this row: each placeholder
// takes one argument, and a list ("<x> , <x>") takes all.
func (e *Entry) Word(args []string) string {
	if before, after, list := strings.Cut(e.Message, "<x> , <x>"); list {
		return before + strings.Join(args, " , ") + after
	}
	var b strings.Builder
	rest := e.Message
	for _, a := range args {
		before, placeholder, found := strings.Cut(rest, "<")
		if !found {
			break
		}
		_, after, _ := strings.Cut(placeholder, ">")
		b.WriteString(before)
		b.WriteString(a)
		rest = after
	}
	b.WriteString(rest)
	return b.String()
}

// Text returns the documented text of an error in this row.
func (e *Entry) Text(err *Error) string {
	text := e.Word(err.Args)
	if err.Path == "" || e.named || e.field == "" {
		return text
	}
	return strings.Replace(text, "Field: "+e.field, "Field: "+err.Path+"."+e.field, 1)
}

// FieldOf returns the name of the field that an error is about, including its array
// element; "" if it is about no field.
func (e *Entry) FieldOf(err *Error) string {
	field := e.Field(err.Args)
	if err.Path == "" || e.named || field == "" {
		return field
	}
	return err.Path + "." + field
}

// Field returns the name of the field that an error of this row is about; "" if
// it is about no field.
func (e *Entry) Field(args []string) string {
	if e.named && len(args) > 0 {
		return args[0]
	}
	if e.named {
		return ""
	}
	return e.field
}
