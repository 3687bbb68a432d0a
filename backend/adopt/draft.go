package adopt

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"frontdesk/backend/legacy"
	"frontdesk/backend/sqlrecord"
	"frontdesk/mapping"
	"frontdesk/mapping/sheet"
)

// Options say what to draft a sheet of: a database, or the description of an HTTP service.
type Options struct {
	Source  sheet.SQL // its DSN is not repeated in the draft
	OpenAPI []byte    // JSON or YAML; nil for none
	Model   *mapping.Model
	// Variable is the variable of the environment that the draft takes the DSN, or the
	// address of the service, from; "" for DATABASE_DSN or SERVICE_URL.
	Variable string
}

// Summary counts what was found.
type Summary struct {
	Tables, Resources, Fields int
	Open                      int      // lines marked TODO
	Missing                   []string // resources without a table
}

// Draft is a sheet that loads, and how it came about.
type Draft struct {
	Text    string
	Summary Summary

	options Options
	tables  []*table
}

// NewDraft drafts a sheet for a database, which is only read, or for a service, which is not called.
func NewDraft(ctx context.Context, o Options) (draft *Draft, err error) {
	d := &drafter{source: o.Source, model: o.Model, matches: map[string]*match{}}
	if o.OpenAPI != nil {
		d.variable, d.ofService = cmp.Or(o.Variable, "SERVICE_URL"), true
		err = d.describe(o.OpenAPI)
	} else {
		d.variable = cmp.Or(o.Variable, "DATABASE_DSN")
		err = d.inspect(ctx)
	}
	if err != nil {
		return nil, err
	}
	d.matchTables()
	d.findClients()
	if err := d.settle(); err != nil {
		return nil, err
	}
	o.Variable = d.variable
	return &Draft{d.text, d.summary, o, d.tables}, nil
}

// drafter drafts one sheet.
type drafter struct {
	source    sheet.SQL
	dialect   *sqlrecord.Dialect // of a database
	ofService bool
	variable  string
	access    string // how calls to a service authenticate; "" if that is not known
	model     *mapping.Model
	tables    []*table
	matches   map[string]*match // by resource
	text      string
	summary   Summary

	// What is left out because the draft would not load with it.
	ownRules bool // the service keeps the rules
	noUsers  bool
	dropped  []string
}

// table is a table of a database, or the records at a path of a service.
type table struct {
	name     string
	view     bool
	columns  []*column
	primary  []string
	foreign  []legacy.ForeignKey
	endpoint *endpoint // nil for a database
	lasting  string    // the engine, if that has no transactions
	rows     int       // that were read: all, if they are fewer than mostRows
	unread   bool      // the rows cannot be read
}

// column is a column, or a member of a service's records, by its path.
type column struct {
	name      string
	kind      string         // the type as the database names it
	sort      string         // text, integer, … as sheets call it; "" for what they have no word for
	words     []string       // all values that a service's description allows
	filled    int            // rows that have a value
	values    map[string]int // how many rows have each of the first mostValues; never shown
	length    int            // the longest possible; 0 for no limit
	generated bool           // never written
	nullable  bool
}

func (t *table) column(name string) *column {
	i := slices.IndexFunc(t.columns, func(c *column) bool { return c.name == name })
	if i < 0 {
		return nil
	}
	return t.columns[i]
}

// folded is a name without case, without marks between words, and in the singular.
func folded(name string) string {
	words := strings.FieldsFunc(strings.ToLower(name), func(r rune) bool { return r == '_' || r == '-' || r == ' ' })
	name = strings.Join(words, "")
	switch {
	case strings.HasSuffix(name, "ies"):
		return name[:len(name)-3] + "y"
	case strings.HasSuffix(name, "sses"):
		return name[:len(name)-2]
	case strings.HasSuffix(name, "s") && !strings.HasSuffix(name, "ss"):
		return name[:len(name)-1]
	}
	return name
}
