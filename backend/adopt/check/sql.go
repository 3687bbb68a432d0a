package check

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"

	"frontdesk/auth"
	"frontdesk/backend"
	"frontdesk/backend/adopt"
	"frontdesk/backend/adopt/survey"
	"frontdesk/backend/legacy"
	"frontdesk/config/strictyaml"
	"frontdesk/mapping"
	"frontdesk/mapping/sheet"
)

// Options say what is compared. Sheet and Model are needed.
type Options struct {
	Sheet *sheet.Sheet
	Model *mapping.Model // the whole one, for what the sheet leaves out
	// Rows is how many records of each resource are asked about; 0 for 1000.
	Rows int
	// Open opens what the gateway would serve a database by. It is needed for one.
	Open func(ctx context.Context, s *sheet.Sheet) (Database, error)
	// Other is another client, which must not be shown what is the first one's: of a
	// service. Of a database it is found. The zero value is nobody.
	Other auth.Client
	// Write is a client in which records may be written; the zero value is nobody.
	Write auth.Client
	// Login is somebody who logs in, and whose client is asked for first; the zero value is
	// nobody.
	Login auth.Credentials
	// Progress is told what is looked at; nil for nobody.
	Progress func(format string, args ...any)
}

// Database is what a database is served by: a *legacy.Store.
type Database interface {
	backend.Driver
	backend.Supporter
	backend.Changing
	survey.Store
}

// show tells how far the check is.
func (o *Options) show(format string, args ...any) {
	if o.Progress != nil {
		o.Progress(format, args...)
	}
}

const defaultRows = 1000

// SQL compares a sheet with its database: with what tables it has, with all rows, and with what
// the gateway answers out of it.
func SQL(ctx context.Context, o Options) (*Report, error) {
	if o.Rows <= 0 {
		o.Rows = defaultRows
	}
	text, err := os.ReadFile(o.Sheet.File)
	if err != nil {
		return nil, err
	}
	schema, err := adopt.Inspect(ctx, o.Sheet.Source.SQL, o.Sheet)
	if err != nil {
		return nil, err
	}
	c := &sqlCheck{Options: o, Report: &Report{doc: outlined(o.Sheet.File, text), Left: leftOut(o, o.Sheet)}, schema: schema, text: string(text)}
	c.listed(o.Sheet)
	c.rulesOff(o)
	c.unowned(o.Sheet)
	for _, r := range o.Sheet.Model.Resources {
		c.resource(o.Sheet.Resources[r])
	}
	if a := o.Sheet.Accounts; a.Table != "" {
		c.users(a)
	}
	if err := c.serve(ctx); err != nil {
		return nil, err
	}
	c.sort()
	return c.Report, nil
}

// sqlCheck compares with a database.
type sqlCheck struct {
	Options
	*Report
	schema legacy.Schema
	text   string   // of the sheet
	broken []string // resources that columns or tables are missing of
}

// mostClients is how many clients are known.
const mostClients = 20

// serve opens the database as the gateway does, has it proved what the sheet says, and asks it what
// clients ask.
func (c *sqlCheck) serve(ctx context.Context) (err error) {
	as, source := *c.Sheet, *c.Sheet.Source.SQL
	if as.Source.SQL = &source; c.Write.ID == 0 {
		source.Session = append(slices.Clone(source.Session), adopt.ReadOnly(source.Engine))
	}
	db, err := c.Open(ctx, &as)
	if err != nil {
		c.unopened(err)
		return ctx.Err()
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	c.closed(db)
	found, err := survey.Clients(ctx, db, mostClients)
	if err != nil {
		return err
	}
	for _, r := range c.Sheet.Model.Resources {
		if known := c.Sheet.Resources[r]; !slices.Contains(c.broken, r.Name) {
			c.show("map check: the rows of %s", r.Name)
			if err := c.prove(ctx, db, known, found); err != nil {
				return err
			}
		}
	}
	if err := c.proveUsers(ctx, db); err != nil {
		return err
	}
	return ask(ctx, db, each(append([]auth.Client{c.Write, c.login(ctx, db, c.Options)}, found...)), c.Options, c.Report)
}

// closed tells of resources that the gateway keeps closed, for what they lack in the database.
func (c *sqlCheck) closed(db Database) {
	for _, lacking := range db.Closed() {
		path := strictyaml.Child("resources", lacking.Resource)
		isTold := slices.ContainsFunc(c.Findings, func(f Finding) bool { return f.Severity == Error && under(f.Path, path) })
		for _, what := range strings.Split(lacking.What, "; ") {
			at := path
			if field, _, is := strings.Cut(strings.TrimPrefix(what, "field "), ": "); is && strings.HasPrefix(what, "field ") {
				at = ofField(lacking.Resource, field)
			}
			if !isTold {
				c.add(Error, "sql.lacking", at, c.words(errors.New(what)), "say how it is converted: {read: SQL, write: {COLUMN: SQL with :value}}, or name another column")
			}
		}
		if lacking.Reads && !slices.Contains(c.broken, lacking.Resource) {
			c.broken = append(c.broken, lacking.Resource)
		}
	}
}

// unopened tells why the gateway does not start with the sheet.
func (c *sqlCheck) unopened(err error) {
	c.Looked = append(c.Looked, "no rows were looked at, and nothing was asked that clients ask: the gateway does not start with this sheet: "+c.words(err))
	problems := legacy.Problems(err)
	for _, p := range problems {
		if p.Cure != "" {
			c.add(Error, "sql.zone", p.Path, c.words(p.Err), "say "+p.Cure)
		} else {
			c.add(Error, "sql.statement", p.Path, "the database refuses it: "+c.words(p.Err), "mend the SQL, or what it is about")
		}
	}
	if len(problems) == 0 && c.Count(Error) == 0 {
		c.add(Error, "ask.start", "resources", "the gateway does not start with this sheet: "+c.words(err), "mend it as the message says")
	}
}

// words are an error of the database without the values that it quotes.
func (c *sqlCheck) words(err error) string { return maskedText(err.Error(), c.text) }

// each are clients, each of them once and nobody left out.
func each(clients []auth.Client) (once []auth.Client) {
	for _, c := range clients {
		if c.ID != 0 && !slices.ContainsFunc(once, func(had auth.Client) bool { return had.ID == c.ID }) {
			once = append(once, c)
		}
	}
	return once
}

// resourceCheck compares one resource.
type resourceCheck struct {
	*sqlCheck
	*sheet.Resource
	path string
	// read is nil where a SELECT is read, of which the database itself says what it lacks.
	table, read *legacy.Table
}

func (c *sqlCheck) resource(r *sheet.Resource) {
	rc := &resourceCheck{sqlCheck: c, Resource: r, path: strictyaml.Child("resources", r.Name)}
	before := c.Count(Error)
	if rc.table = rc.find(rc.at("table"), r.Table); rc.table == nil {
		c.broken = append(c.broken, r.Name)
		return
	}
	if rc.read = rc.table; strings.HasPrefix(strings.TrimSpace(r.Read), "(") {
		rc.read = nil
	} else if r.Read != r.Table {
		rc.read = rc.find(rc.at("read"), r.Read)
	}
	if rc.columns(); c.Count(Error) > before {
		c.broken = append(c.broken, r.Name)
	}
	rc.fits()
	rc.keys()
	rc.written()
	rc.noted()
}

func (c *resourceCheck) at(keys ...string) string { return strictyaml.Child(c.path, keys...) }

// ofField is where the sheet says something of a field.
func (c *resourceCheck) ofField(f *mapping.Field) string { return ofField(c.Name, f.Name) }

// find returns a table, and reports one that is not there.
func (c *sqlCheck) find(path, name string) *legacy.Table {
	t := c.schema.Table(name)
	switch {
	case t != nil:
		if !strings.HasSuffix("."+name, "."+t.Name) {
			c.add(Error, "sql.table-missing", path, fmt.Sprintf("there is no table %s, but %s", name, t.Name), "write the name in its letters")
		}
	case strings.Contains(name, "."):
		c.add(Note, "sql.other-schema", path, fmt.Sprintf("%s is in another schema, and was not found there", name), "write the name in its letters, or let the user of the database see it")
	default:
		var known []string
		for _, t := range c.schema.Tables {
			known = append(known, t.Name)
		}
		c.add(Error, "sql.table-missing", path, fmt.Sprintf("there is no table or view %s%s", name, strictyaml.Suggest(name, known)), "name a table or view of the database")
	}
	return t
}

// column reports a column that is not there.
func (c *sqlCheck) column(t *legacy.Table, path, name string) {
	if t == nil || name == "" {
		return
	}
	found := t.Column(name)
	if found != nil && found.Name == name {
		return
	}
	var known []string
	for _, column := range t.Columns {
		known = append(known, column.Name)
	}
	hint := strictyaml.Suggest(name, known)
	if found != nil {
		hint = ", but " + found.Name
	}
	c.add(Error, "sql.column-missing", path, fmt.Sprintf("%s has no column %s%s", t.Name, name, hint), "name a column of "+t.Name+": "+strings.Join(known, ", "))
}

// columns looks for every column that the sheet names.
func (c *resourceCheck) columns() {
	both := []*legacy.Table{c.read}
	if c.read != c.table {
		both = append(both, c.table)
	}
	for _, t := range both {
		for _, k := range c.Key.Places {
			c.column(t, c.at("key"), k)
		}
	}
	c.column(c.read, c.at("client"), c.SQL.Client.Column)
	if c.read != c.table && c.changes() {
		c.column(c.table, c.at("client"), c.SQL.Client.Column) // every write names it
	}
	c.column(c.read, c.at("version"), c.SQL.Version.Column)
	if p := c.Parent(); p != nil {
		if known, of := c.schema.Table(p.Table), p.SQL.Client.Column; known != nil && of != "" && !known.Identifies(p.Key.Places) && slices.Contains(known.Primary, of) {
			c.add(Error, "sql.through", c.at("client"), fmt.Sprintf("%s of %s is unique for each client only, and does not tell whose a record is", strings.Join(p.Key.Places, ", "), p.Table),
				"name the client's column, or make the key unique by itself")
		}
	}
	for _, a := range c.SQL.Constants {
		c.column(c.table, c.at("constants"), a.Column)
	}
	for i, f := range mapping.Each(c.Fields) {
		of := &c.SQL.Fields[i]
		for _, name := range of.Names {
			c.column(c.read, c.ofField(f.Field), name)
		}
		for _, a := range of.Write {
			if !slices.Contains(of.Names, a.Column) || c.read != c.table && (c.read == nil || c.read.Column(a.Column) != nil) {
				c.column(c.table, c.ofField(f.Field), a.Column)
			}
		}
	}
}

// changes tells whether clients change records.
func (c *resourceCheck) changes() bool {
	return slices.ContainsFunc([]mapping.Scope{mapping.OpCreate, mapping.OpUpdate, mapping.OpDelete}, func(op mapping.Scope) bool { return c.Operations[op] })
}

// isOwn tells whether there is an operation that frontdesk itself does.
func (c *resourceCheck) isOwn(op mapping.Scope) bool {
	said := c.SQL.Statements[op]
	return c.Operations[op] && (said == nil || slices.Contains(said, sheet.OwnStatement))
}
