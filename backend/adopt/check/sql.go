package check

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"frontdesk/auth"
	"frontdesk/backend"
	"frontdesk/backend/legacy"
	"frontdesk/config/strictyaml"
	"frontdesk/mapping"
	"frontdesk/mapping/sheet"
)

// Options say what is compared. Sheet and Model are needed.
type Options struct {
	Sheet *sheet.Sheet
	Model *mapping.Model // the whole one, for what the sheet leaves out
	// Rows is how many rows of each resource are read; 0 for 1000.
	Rows int
	// Open opens what the gateway would serve a database by, so that it is asked what
	// clients ask; nil where rows are to be looked at only. A service is asked in any case.
	Open func(ctx context.Context, s *sheet.Sheet) (backend.Driver, error)
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

// show tells how far the check is.
func (o *Options) show(format string, args ...any) {
	if o.Progress != nil {
		o.Progress(format, args...)
	}
}

const defaultRows = 1000

// SQL compares a sheet with its database.
func SQL(ctx context.Context, o Options) (report *Report, err error) {
	if o.Rows <= 0 {
		o.Rows = defaultRows
	}
	doc, err := sheet.Outline(o.Sheet.File)
	if err != nil {
		return nil, err
	}
	reader, err := legacy.OpenReader(ctx, o.Sheet.Source.SQL)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, reader.Close()) }()
	schema, err := reader.Inspect(ctx, legacy.TablesOf(o.Sheet)...)
	if err != nil {
		return nil, err
	}
	c := &sqlCheck{Options: o, Report: &Report{doc: doc, Left: leftOut(o, o.Sheet)}, reader: reader, schema: schema}
	c.listed(o.Sheet)
	c.quotedZones(o.Sheet)
	if err := c.findClients(ctx); err != nil {
		return nil, err
	}
	for _, r := range o.Sheet.Model.Resources {
		c.show("map check: the rows of %s", r.Name)
		if err := c.resource(ctx, o.Sheet.Resources[r]); err != nil {
			return nil, err
		}
	}
	if err := c.accounts(ctx); err != nil {
		return nil, err
	}
	if err := c.charset(ctx); err != nil {
		return nil, err
	}
	if err := c.ask(ctx); err != nil {
		return nil, err
	}
	c.sort()
	return c.Report, nil
}

// ask asks the database what clients ask of the gateway.
func (c *sqlCheck) ask(ctx context.Context) (err error) {
	if c.Open == nil {
		return nil
	}
	as, source := *c.Sheet, *c.Sheet.Source.SQL
	if as.Source.SQL = &source; c.Write.ID == 0 {
		source.Session = append(slices.Clone(source.Session), legacy.ReadOnly(source.Engine)...)
	}
	driver, err := c.Open(ctx, &as)
	if err != nil {
		if c.Looked = append(c.Looked, "nothing was asked that clients ask: the gateway does not start with this sheet"); c.Count(Error) == 0 {
			c.add(Error, "ask.start", "resources", "the gateway does not start with this sheet: "+hidden(err), "mend it as the message says")
		}
		return ctx.Err()
	}
	defer func() { err = errors.Join(err, driver.Close()) }()
	clients := []auth.Client{c.Write, c.login(ctx, driver, c.Options)}
	for _, id := range c.clients {
		clients = append(clients, auth.Client{ID: id})
	}
	return ask(ctx, driver, each(clients), c.Options, c.Report)
}

// each are clients, each of them once and nobody left out.
func each(clients []auth.Client) (once []auth.Client) {
	for _, c := range clients {
		if c.ID != 0 && !slices.ContainsFunc(once, func(had auth.Client) bool { return had.ID == c.ID }) {
			once = append(once, c)
		}
	}
	return once
}

// sqlCheck compares with a database.
type sqlCheck struct {
	Options
	*Report
	reader  *legacy.Reader
	schema  legacy.Schema
	clients []int64 // some of those that there are
}

// mostClients is of how many clients rows are looked at.
const mostClients = 20

// findClients finds clients: those of users, and those that records are of.
func (c *sqlCheck) findClients(ctx context.Context) error {
	for _, u := range c.Sheet.Accounts.Users {
		c.clients = append(c.clients, u.Client.ID)
	}
	look := func(table, column string) error {
		if t := c.schema.Table(table); t == nil || t.Column(column) == nil {
			return nil
		}
		found, err := c.reader.Distinct(ctx, table, column, mostClients, 0)
		for _, v := range found {
			if n, wrong := strconv.ParseInt(strings.TrimSpace(v.String()), 10, 64); wrong == nil && n > 0 {
				c.clients = append(c.clients, n)
			}
		}
		return err
	}
	if a := c.Sheet.Accounts; a.Table != "" && a.Facts != nil && a.Facts.ClientPlace() != "" {
		if err := look(a.Table, a.Facts.ClientPlace()); err != nil {
			return err
		}
	}
	for _, r := range c.Sheet.Resources {
		if r.Client != "" && len(c.clients) == 0 {
			if err := look(r.Read, r.Client); err != nil {
				return err
			}
		}
	}
	slices.Sort(c.clients)
	c.clients = slices.Compact(c.clients)
	c.clients = c.clients[:min(len(c.clients), mostClients)]
	return nil
}

// resourceCheck compares one resource.
type resourceCheck struct {
	*sqlCheck
	*sheet.Resource
	path        string
	table, read *legacy.Table
}

func (c *sqlCheck) resource(ctx context.Context, r *sheet.Resource) error {
	rc := &resourceCheck{sqlCheck: c, Resource: r, path: strictyaml.Child("resources", r.Name)}
	rc.table = rc.find(rc.at("table"), r.Table)
	rc.read = rc.table
	if r.Read != r.Table {
		rc.read = rc.find(rc.at("read"), r.Read)
	}
	if rc.table == nil || rc.read == nil {
		return nil
	}
	complete := rc.columns()
	rc.procedures()
	rc.keys()
	rc.written()
	rc.indexes()
	if err := rc.zones(ctx); err != nil {
		return err
	}
	if !complete {
		return nil // its rows cannot be read
	}
	return rc.rows(ctx)
}

// zones looks for times that the database shows or writes in another zone.
func (c *resourceCheck) zones(ctx context.Context) error {
	shifts, err := c.reader.Shifts(ctx, c.Resource, c.schema)
	for _, s := range shifts {
		severity := Warning
		if s.Certain {
			severity = Error
		}
		c.add(severity, "sql.zone", c.ofField(s.Field), s.Words, "say "+s.Cure)
	}
	return err
}

func (c *resourceCheck) at(keys ...string) string { return strictyaml.Child(c.path, keys...) }

// ofField is where the sheet says something of a field.
func (c *resourceCheck) ofField(f *sheet.Field, keys ...string) string {
	return c.at(append([]string{"fields", f.Name}, keys...)...)
}

// find returns a table, and reports one that is not there.
func (c *sqlCheck) find(path, name string) *legacy.Table {
	t := c.schema.Table(name)
	if t == nil && strings.Contains(name, ".") {
		c.add(Note, "sql.other-schema", path, fmt.Sprintf("%s is in another schema, and was not found there", name), "write the name in its letters, or let the user of the database see it")
		return nil
	}
	if t != nil {
		if !strings.HasSuffix("."+name, "."+t.Name) {
			c.add(Error, "sql.table-missing", path, fmt.Sprintf("there is no table %s, but %s", name, t.Name), "write the name in its letters")
		}
		return t
	}
	var known []string
	for _, t := range c.schema.Tables {
		known = append(known, t.Name)
	}
	c.add(Error, "sql.table-missing", path, fmt.Sprintf("there is no table or view %s%s", name, strictyaml.Suggest(name, known)), "name a table or view of the database")
	return nil
}

// column returns a column, and reports one that is not there.
func (c *resourceCheck) column(t *legacy.Table, path, name string) *legacy.Column {
	found := t.Column(name)
	if found != nil && found.Name == name {
		return found
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
	return nil
}

// columns looks for every column that the sheet names. It is false where one is
// missing.
func (c *resourceCheck) columns() bool {
	before := c.Count(Error)
	for _, k := range c.Key.Places {
		if c.column(c.read, c.at("key"), k) != nil && c.read != c.table {
			c.column(c.table, c.at("key"), k)
		}
	}
	for at, name := range map[string]string{"client": c.Client, "version": c.Version} {
		if name != "" {
			c.column(c.read, c.at(at), name)
		}
	}
	if c.Client != "" && c.read != c.table && legacy.Changes(c.Resource) {
		c.column(c.table, c.at("client"), c.Client) // every write names it
	}
	if p := c.Parent(); p != nil {
		if known := c.schema.Table(p.Table); known != nil && p.Client != "" && !known.Identifies(p.Key.Places) && slices.Contains(known.Primary, p.Client) {
			c.add(Error, "sql.through", c.at("client"), fmt.Sprintf("%s of %s is unique for each client only, and does not tell whose a record is", strings.Join(p.Key.Places, ", "), p.Table),
				"name the client's column, or make the key unique by itself")
		}
	}
	for _, a := range c.SoftDelete() {
		c.column(c.table, c.at("soft_delete"), a.Place)
	}
	for _, place := range c.Constants() {
		c.column(c.table, c.at("constants"), place)
	}
	computed := map[string]*sheet.Lookup{}
	for _, p := range c.Places {
		if p.SQL != "" || p.Lookup != nil {
			computed[p.Name] = p.Lookup
		}
	}
	for _, f := range mapping.Each(c.Fields) {
		if f.Primary || f.Type == mapping.Array {
			continue
		}
		for _, name := range f.From {
			if lookup, is := computed[name]; !is {
				if column := c.column(c.read, c.ofField(f), name); column != nil && name == f.From[0] {
					c.fits(f, column)
				}
			} else if lookup != nil {
				c.lookup(f, lookup)
			}
		}
		for _, name := range f.Write {
			both := slices.Contains(f.From, name)
			if !both || c.read != c.table && c.read.Column(name) != nil {
				c.column(c.table, c.ofField(f), name)
			}
		}
	}
	return c.Count(Error) == before
}

func (c *resourceCheck) lookup(f *sheet.Field, l *sheet.Lookup) {
	t := c.find(c.ofField(f, "lookup", "table"), l.Table)
	if t == nil {
		return
	}
	c.column(t, c.ofField(f, "lookup", "take"), l.Take)
	for _, m := range l.Match {
		c.column(t, c.ofField(f, "lookup", "match"), m[0])
		c.column(c.read, c.ofField(f, "lookup", "match"), m[1])
	}
}

// charset notes that the database keeps fewer letters than clients may send.
func (c *sqlCheck) charset(ctx context.Context) error {
	name, err := c.reader.Charset(ctx)
	if err != nil {
		return err
	}
	if lower := strings.ToLower(name); strings.Contains(lower, "utf") || lower == "" {
		return nil
	}
	var open []string
	for _, r := range c.Sheet.Model.Resources {
		known := c.Sheet.Resources[r]
		for _, f := range mapping.Each(known.Fields) {
			t := f.Traits()
			if writes(known) && f.IsText() && len(f.Write) > 0 && f.Check == "" && t.Codes == nil && !t.Narrow {
				open = append(open, r.Name+"."+f.Name)
			}
		}
	}
	if len(open) > 0 {
		c.add(Note, "sql.charset", "source", fmt.Sprintf("the database keeps texts in %s, and clients may send any letter in %s", name, strings.Join(open, ", ")),
			"say charset: latin1 (or cp1252, ascii) where names and free texts are kept: what does not fit is then refused, not spoilt")
	}
	return nil
}

// writes tells whether clients write records of a resource.
func writes(r *sheet.Resource) bool {
	return r.Operations[mapping.OpCreate] != nil || r.Operations[mapping.OpUpdate] != nil
}
