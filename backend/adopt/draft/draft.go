package draft

import (
	"cmp"
	"context"
	"errors"
	"maps"
	"slices"

	"frontdesk/backend/legacy"
	"frontdesk/mapping"
	"frontdesk/mapping/sheet"
)

// Options say what to draft a sheet of: a database, or the answers and the description of an
// HTTP service.
type Options struct {
	Source  sheet.SQL // its DSN is not repeated in the draft
	Samples []Sample
	OpenAPI []byte // JSON or YAML; nil for none
	Model   *mapping.Model
	// Variable is the variable of the environment that the draft takes the DSN, or the
	// address of the service, from; "" for DATABASE_DSN or SERVICE_URL.
	Variable string
}

// Summary tells what was found.
type Summary struct {
	Tables, Resources, Fields int
	// Guesses are those to look at; Doubts are marked TODO.
	Guesses, Doubts int
	// Missing are the resources that no table was found for.
	Missing []string
}

// Draft is a sheet that loads, and how it came about.
type Draft struct {
	Text    string
	Summary Summary
	d       *drafter
}

// New drafts a sheet for a database, which is only read, or for a service.
func New(ctx context.Context, o Options) (draft *Draft, err error) {
	d := &drafter{source: o.Source, model: o.Model, words: newWords(), matches: map[string]*match{}, shared: map[string]*sharedList{}}
	if o.Source.Engine == "" {
		d.variable = cmp.Or(o.Variable, "SERVICE_URL")
		if err := d.hear(o); err != nil {
			return nil, err
		}
	} else {
		d.variable = cmp.Or(o.Variable, "DATABASE_DSN")
		if d.reader, err = legacy.OpenReader(ctx, &o.Source); err != nil {
			return nil, err
		}
		defer func() { err = errors.Join(err, d.reader.Close()) }()
		if err := d.look(ctx); err != nil {
			return nil, err
		}
		d.refer()
		d.dropPrefixes()
	}
	d.findClient()
	if d.http != nil {
		d.findLogin()
	}
	d.findYes()
	d.matchTables()
	d.findLanguage()
	if err := d.settle(); err != nil {
		return nil, err
	}
	return &Draft{d.text, d.summary, d}, nil
}

// drafter drafts one sheet.
type drafter struct {
	reader   *legacy.Reader
	source   sheet.SQL
	http     *service // nil for a database
	variable string
	model    *mapping.Model
	words    words
	schema   legacy.Schema
	charset  string
	routines map[string]string
	tables   []*table
	unread   []string // tables that cannot be read

	client     string
	clientWhy  string
	clientTodo []string
	yes        string // how columns say so
	language   int    // of code lists: an index of values
	matches    map[string]*match
	shared     map[string]*sharedList
	users      *accounts
	text       string
	summary    Summary

	// What the draft does not load with, and so is left out of it.
	noAccounts    string
	withoutErrors bool
	unshared      bool // no code list is
	ownRules      bool // the service keeps the rules
	dropped       []string
}

// resources are the names of those found, in the order of references: what is
// referred to comes first.
func (d *drafter) resources() []string {
	names := slices.Sorted(maps.Keys(d.matches))
	var out []string
	var visit func(name string, under []string)
	visit = func(name string, under []string) {
		if slices.Contains(out, name) || slices.Contains(under, name) {
			return
		}
		for i := range d.matches[name].Fields {
			if to := d.matches[name].Fields[i].Reference; d.matches[to] != nil {
				visit(to, append(under, name))
			}
		}
		out = append(out, name)
	}
	for _, name := range names {
		visit(name, nil)
	}
	return out
}

// own tells whether a field is one of the resource's own: neither its ID nor
// one that every resource has.
func own(r *mapping.Resource, f *mapping.Field) bool {
	switch f.Index {
	case r.ID, r.IsSystem, r.IsBlocked, r.IsArchived, r.CreatedAt, r.ModifiedAt:
		return false
	}
	return true
}

// readOnly tells of tables that are the vendor's own, for all clients.
func (m *match) readOnly(d *drafter) bool {
	return m.SystemRecords && m.client(d) == nil || d.http != nil && !m.writes()
}

// whose is what tells whose the rows of a table are that have no client's number: the record
// that they belong to.
func (d *drafter) whose(m *match) string {
	if f := d.parentOf(m, nil); f != nil {
		return "{through: " + f.Name + "}" + d.remark("there is no "+d.client+", and "+f.Reference+" has one", nil)
	}
	return `""` + d.remark("there is no "+d.client, nil)
}

// parentOf is the required reference to a record that has a client, over several
// steps if need be; that to the record which it is an element of comes first.
func (d *drafter) parentOf(m *match, under []*match) (found *mapping.Field) {
	for _, f := range mapping.Each(m.Fields) {
		to := d.matches[f.Reference]
		if !f.Required || to == nil || m.fields[f.Name] == nil || slices.Contains(append(under, m), to) || slices.Contains(to.table.Primary, d.client) {
			continue
		}
		if to.client(d) == nil && d.parentOf(to, append(under, m)) == nil {
			continue
		}
		element := slices.ContainsFunc(to.Fields, func(of mapping.Field) bool { return of.ArrayOf == m.Name && of.ArrayKey == f.Name })
		if found == nil || element {
			found = f
		}
	}
	return found
}

// client is the column of the client's number, or nil.
func (m *match) client(d *drafter) *column { return m.table.column(d.client) }
