package check

import (
	"context"
	"errors"
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"

	"frontdesk/auth"
	"frontdesk/backend"
	"frontdesk/backend/legacy"
	"frontdesk/backend/sqlrecord"
	"frontdesk/config/strictyaml"
	"frontdesk/mapping"
	"frontdesk/mapping/sheet"
)

// Options say what is compared. Sheet and Model are needed.
type Options struct {
	Sheet *sheet.Sheet
	Model *mapping.Model // the whole one, to find what the sheet leaves out
	// Rows is how many records of each resource are read; 0 for 1000.
	Rows int
	// Open opens a database as the gateway would. It is needed for a database.
	Open func(ctx context.Context, s *sheet.Sheet) (Database, error)
	// User, if not nil, is set to the user who has logged in, and writes are made as.
	User *auth.User
	// Other is another client, for services: it must not see the first one's records. In
	// a database another client is found. The zero value is nobody.
	Other auth.Client
	// Write is a client in which records may be written; the zero value is nobody.
	Write auth.Client
	// Login is somebody who logs in, and whose client is checked first; the zero value is
	// nobody.
	Login auth.Credentials
	// Progress is called with what is being checked; may be nil.
	Progress func(format string, args ...any)
}

// Database is the driver of a database: a *legacy.Store.
type Database interface {
	backend.Driver
	backend.Supporter
	backend.Changing
	DB() sqlrecord.DB
	Schema() legacy.Schema
	Refused() []*legacy.Problem
	Sheet() *sheet.Sheet
	Mapped(r *mapping.Resource) *legacy.Mapped
	TableFor(ctx context.Context, r *mapping.Resource, client auth.Client) (*legacy.Mapped, error)
	Params(t *legacy.Mapped, client auth.Client) sqlrecord.Params
	Translated(ctx context.Context, t *legacy.Mapped, q backend.Query) (translated backend.Query, after []mapping.Value, err error)
	Accounts() *legacy.Builder
	EachUser(ctx context.Context, each func(legacy.UserSeen)) error
	ClientNumber(ctx context.Context, key string) (int64, error)
}

var _ Database = (*legacy.Store)(nil)

// Columns for values that belong to no field.
var (
	oneInt      = []sqlrecord.Column{{Type: mapping.Int4}}
	foreignText = sqlrecord.Column{Type: mapping.Text, Foreign: true}
)

// show reports progress.
func (o *Options) show(format string, args ...any) {
	if o.Progress != nil {
		o.Progress(format, args...)
	}
}

const defaultRows = 1000

// begin begins a report with what the sheet itself shows.
func begin(o *Options, system backend.Supporter) (*Report, error) {
	if o.Rows <= 0 {
		o.Rows = defaultRows
	}
	text, err := os.ReadFile(o.Sheet.File)
	if err != nil {
		return nil, err
	}
	r := &Report{doc: outlined(o.Sheet.File, text), text: string(text), Left: leftOut(*o, system)}
	r.listed(o.Sheet)
	r.rulesOff(*o)
	r.unowned(o.Sheet)
	return r, nil
}

// sqlCheck compares with a database.
type sqlCheck struct {
	Options
	*Report
	Database
	schema legacy.Schema
	broken []string // resources that cannot be read
}

// mostClients is how many clients are examined.
const mostClients = 20

// SQL compares a sheet with its database, opened as the gateway opens it: with the schema, with all
// rows, and with the gateway's answers.
func SQL(ctx context.Context, o Options) (report *Report, err error) {
	as, source := *o.Sheet, *o.Sheet.Source.SQL
	if as.Source.SQL = &source; o.Write.ID == 0 {
		source.Session = append(slices.Clone(source.Session), sqlrecord.ReadOnly(source.Engine))
	}
	report, err = begin(&o, o.Sheet)
	if err != nil {
		return nil, err
	}
	defer report.sort()
	db, err := o.Open(ctx, &as)
	if err != nil {
		return report, report.unopened(ctx, err)
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	c := &sqlCheck{Options: o, Report: report, Database: db, schema: db.Schema()}
	c.closed()
	c.columns()
	for _, r := range o.Sheet.Model.Resources {
		if rc := c.of(r); rc.table != nil && !slices.Contains(c.broken, r.Name) {
			rc.fits()
			rc.keys()
			rc.written()
			rc.noted()
		}
	}
	found, err := clientsOf(ctx, db, mostClients)
	if err != nil {
		return nil, err
	}
	for _, r := range o.Sheet.Model.Resources {
		if slices.Contains(c.broken, r.Name) {
			continue
		}
		o.show("map check: the rows of %s", r.Name)
		if err := c.prove(ctx, o.Sheet.Resources[r], found); err != nil {
			return nil, err
		}
	}
	if err := c.proveUsers(ctx); err != nil {
		return nil, err
	}
	return report, ask(ctx, db, each(append([]auth.Client{o.Write, c.login(ctx, db, o)}, found...)), o, report)
}

// lacks matches the driver's messages that a name does not exist.
var lacks = regexp.MustCompile(`there is no (?:table (\S+)|column (\S+) in (\S+))`)

// closed adds findings for what the database refuses, and for resources that the gateway keeps closed,
// or does not write, because they lack something.
func (c *sqlCheck) closed() {
	c.refused(c.Refused())
	reported := map[string]bool{}
	for _, p := range c.Refused() {
		reported[p.Error()] = true
	}
	for _, lacking := range c.Closed() {
		path := strictyaml.Child("resources", lacking.Resource)
		if lacking.Reads {
			c.broken = append(c.broken, lacking.Resource)
		}
		for _, what := range strings.Split(lacking.What, "; ") {
			if reported["resource "+lacking.Resource+": "+what] {
				continue
			}
			at := path
			if place, _, is := strings.Cut(what, ": "); is && strings.HasPrefix(place, "field ") {
				at = ofField(lacking.Resource, strings.TrimPrefix(place, "field "))
			} else if is {
				at = c.at(path, place)
			}
			rule, cure := "sql.lacking", "say how it is converted: {read: SQL, write: {COLUMN: SQL with :value}}, name another column, or let the user of the database see and write it"
			if m := lacks.FindStringSubmatch(what); m != nil {
				if rule, cure = "sql.missing", c.known(m[1], m[2], m[3]); m[1] != "" {
					at = c.at(path, "table")
				}
			} else if strings.Contains(what, "must have a value") {
				cure = "map a required field to it, or set it under constants"
			}
			c.add(Error, rule, at, c.words(errors.New(what)), cure)
		}
	}
}

// refused adds findings for SQL of the sheet that the database refuses.
func (r *Report) refused(problems []*legacy.Problem) {
	for _, p := range problems {
		rule, cure := "sql.statement", "mend the SQL, or what it is about"
		if p.Cure != "" {
			rule, cure = "sql.zone", "say "+p.Cure
		}
		r.add(Error, rule, p.Path, r.words(p.Err), cure)
	}
}

// known lists the tables, or columns, that exist in place of a missing one.
func (c *sqlCheck) known(table, column, in string) string {
	var known []string
	if column == "" {
		for _, t := range c.schema.Tables {
			known = append(known, t.Name)
		}
		return "name a table or view of the database" + strictyaml.Suggest(table, known)
	}
	if t := c.schema.Table(in); t != nil {
		for _, of := range t.Columns {
			known = append(known, of.Name)
		}
	}
	return "name a column of " + in + ": " + strings.Join(known, ", ") + strictyaml.Suggest(column, known)
}

// unopened adds a finding for why the gateway does not start with the sheet. It returns an error if
// that is not the sheet's fault.
func (r *Report) unopened(ctx context.Context, err error) error {
	r.Looked = append(r.Looked, "no rows were looked at, and nothing was asked that clients ask: the gateway does not start with this sheet: "+r.words(err))
	problems := legacy.Problems(err)
	if r.refused(problems); len(problems) == 0 {
		r.add(Error, "ask.start", "resources", "the gateway does not start with this sheet: "+r.words(err), "mend it as the message says")
	}
	return ctx.Err()
}

// words are an error of the system without the values that it quotes.
func (r *Report) words(err error) string { return maskedText(err.Error(), r.text) }

// each are the clients, each once, without the zero Client.
func each(clients []auth.Client) (once []auth.Client) {
	for _, c := range clients {
		if c.ID != 0 && !slices.ContainsFunc(once, func(had auth.Client) bool { return had.ID == c.ID }) {
			once = append(once, c)
		}
	}
	return once
}

// prove checks in the database what the sheet says of all rows of a resource.
func (c *sqlCheck) prove(ctx context.Context, r *sheet.Resource, clients []auth.Client) error {
	if len(clients) == 0 && (table{c.Mapped(r.Resource), c.Options.Sheet}).isOfWhere() {
		c.add(Note, "sql.no-client", "resources."+r.Name, "no client is known whose rows could be looked at", "check again when there are users, or rows")
	}
	rows, found, err := prove(ctx, c.Database, r.Resource, clients)
	if err != nil {
		return fmt.Errorf("resource %s: %w", r.Name, err)
	}
	c.Looked = append(c.Looked, fmt.Sprintf("%s: all %d row(s) of %s", r.Name, rows, r.Read))
	for _, f := range found {
		c.report(r, f)
	}
	return nil
}

// proveUsers looks at who of the table of users can log in.
func (c *sqlCheck) proveUsers(ctx context.Context) error {
	name := c.Options.Sheet.Accounts.Table
	if name == "" {
		return nil
	}
	all, wrong, err := usersOf(ctx, c.Database)
	if err != nil {
		c.add(Error, "data.unproved", "accounts.table", "the database fails where users are asked for: "+c.words(err), "mend accounts")
		return ctx.Err()
	}
	if c.Looked = append(c.Looked, fmt.Sprintf("accounts: all %d user(s) of %s", all, name)); all == 0 {
		c.add(Warning, "accounts.none", "accounts.table", name+" has no rows: nobody can log in", "name the table that has the users")
	}
	for _, v := range []struct{ rule, key, seen, cure string }{
		{"accounts.unusable", "", "lack a name or a client, or have one that cannot be read", "name the column that has it, or mend the rows: they cannot log in"},
		{"accounts.hash", ".password", "have no password of a form that hash lists", "name the column of the hashes, or list their form under hash: they cannot log in"},
		{"accounts.email", ".email", "have no e-mail address, without which the interface lets nobody log in", "name the column, or mend the rows"},
		{"accounts.twice", ".username", "have the login name of an earlier one, and neither of them can log in", "find users by accounts.query with a condition that leaves one, or mend the rows"},
	} {
		severity := Warning
		if wrong[v.rule] == all {
			severity = Error
		}
		if wrong[v.rule] > 0 {
			c.add(severity, v.rule, "accounts.columns"+v.key, fmt.Sprintf("%d of %d user(s) %s", wrong[v.rule], all, v.seen), v.cure)
		}
	}
	return nil
}
