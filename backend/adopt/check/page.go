package check

import (
	"context"
	"path/filepath"
	"slices"
	"strings"

	"frontdesk/backend/adopt"
	"frontdesk/backend/adopt/page"
	"frontdesk/mapping"
	"frontdesk/mapping/sheet"
)

// Page is a report to look at: the sheet with what was found where it is. Of a database it
// has the columns of each table, those that are not used as well.
func Page(ctx context.Context, o Options, r *Report) (out page.Page, err error) {
	p := pager{report: r, o: o, columns: map[string][]page.Column{}}
	if o.Sheet.Source.SQL != nil {
		if err := p.look(ctx); err != nil {
			return out, err
		}
	}
	out = page.Page{
		Title: "Mapping sheet " + filepath.Base(o.Sheet.File), About: "Compared with the system that it describes.", Missing: r.Left.Resources,
		Facts: []page.Fact{
			{Number: len(o.Sheet.Model.Resources), Of: "resources"}, {Number: r.Count(Error), Of: "errors", Kind: page.Error},
			{Number: r.Count(Warning), Of: "warnings", Kind: page.Warning}, {Number: r.Count(Note), Of: "notes"},
		},
	}
	for _, of := range o.Sheet.Model.Resources {
		if known := o.Sheet.Resources[of]; known != nil {
			out.Resources = append(out.Resources, p.resource(known))
		}
	}
	out.Notes = p.notes("", func(path string) bool {
		return !slices.ContainsFunc(out.Resources, func(r page.Resource) bool { return under(path, "resources."+r.Name) })
	})
	out.Unused = p.unused()
	return out, nil
}

// pager makes a page of a report.
type pager struct {
	report  *Report
	o       Options
	columns map[string][]page.Column // of each table
	tables  []string
}

// look reads the columns of each table.
func (p *pager) look(ctx context.Context) error {
	schema, err := adopt.Inspect(ctx, p.o.Sheet.Source.SQL, p.o.Sheet)
	for _, t := range schema.Tables {
		all := make([]page.Column, len(t.Columns))
		for i, c := range t.Columns {
			all[i] = page.Column{Name: c.Name, Type: c.Type}
		}
		p.columns[strings.ToLower(t.Name)] = all
		if !t.View {
			p.tables = append(p.tables, t.Name)
		}
	}
	return err
}

// reads tells whether the sheet names a table.
func (p *pager) reads(table string) bool {
	return slices.ContainsFunc(p.o.Sheet.Model.Resources, func(of *mapping.Resource) bool {
		r := p.o.Sheet.Resources[of]
		return strings.EqualFold(r.Table, table) || strings.EqualFold(r.Read, table) || strings.Contains(sqlOf(r), table)
	})
}

// placesOf are the columns, or the place in answers, of a field.
func placesOf(r *sheet.Resource, i int) (names []string) {
	if r.Service != nil {
		if read := r.Service.Fields[i].Read; !read.IsZero() {
			names = []string{read.String()}
		}
		return names
	}
	of := &r.SQL.Fields[i]
	names = slices.Clone(of.Names)
	for _, a := range of.Write {
		if !slices.Contains(names, a.Column) {
			names = append(names, a.Column)
		}
	}
	return names
}

// sqlOf is all SQL that the sheet has of a resource.
func sqlOf(r *sheet.Resource) string {
	if r.SQL == nil {
		return ""
	}
	all := []string{r.Read, r.Where, r.SQL.Client.SQL, r.SQL.Version.SQL}
	for i := range r.SQL.Fields {
		f := &r.SQL.Fields[i]
		all = append(all, f.Read, f.Find)
		for _, a := range f.Write {
			all = append(all, a.SQL)
		}
	}
	for _, statements := range r.SQL.Statements {
		all = append(all, statements...)
	}
	return strings.Join(all, "\n")
}

// usedBy are the columns that a resource names by themselves.
func usedBy(r *sheet.Resource) (used []string) {
	if r.SQL == nil {
		return nil
	}
	used = append(slices.Clone(r.Key.Places), r.SQL.Client.Column, r.SQL.Version.Column)
	for _, a := range r.SQL.Constants {
		used = append(used, a.Column)
	}
	for i := range r.Fields {
		used = append(used, placesOf(r, i)...)
	}
	return used
}

// resource is a resource to look at.
func (p *pager) resource(r *sheet.Resource) page.Resource {
	at := "resources." + r.Name
	out := page.Resource{Name: r.Name, Place: r.Table}
	if r.Read != r.Table && r.Read != "" {
		out.Place += ", read as " + r.Read
	}
	if r.Service != nil && r.Service.Walk != nil {
		out.Place = r.Service.Walk.Path.String()
	}
	for i := range r.Fields {
		f := &r.Fields[i]
		if f.Primary {
			continue
		}
		if !p.report.doc.Has(at + ".fields." + f.Name) { // one that every resource has
			out.Fields = append(out.Fields, page.Field{Name: f.Name, Type: f.Type.String()})
			continue
		}
		pair := page.Pair{Field: page.Field{Name: f.Name, Type: f.Type.String(), Required: f.Required}}
		for _, name := range placesOf(r, i) {
			pair.Columns = append(pair.Columns, p.column(r, name, at+".fields."+f.Name))
		}
		own := at + ".fields." + f.Name
		pair.Notes = p.notes(own, func(path string) bool { return under(path, own) })
		out.Pairs = append(out.Pairs, pair)
	}
	whole := p.o.Model.Resource(r.Name)
	for _, name := range p.report.Left.Fields[r.Name] {
		f := whole.Field(name)
		out.Fields = append(out.Fields, page.Field{Name: name, Type: f.Type.String(), Required: f.Required})
	}
	used, text := usedBy(r), sqlOf(r)
	for _, c := range p.columns[strings.ToLower(r.Table)] {
		if !slices.Contains(used, c.Name) && !strings.Contains(text, c.Name) {
			out.Columns = append(out.Columns, c)
		}
	}
	out.Notes = p.notes(at, func(path string) bool {
		return under(path, at) && !slices.ContainsFunc(out.Pairs, func(pair page.Pair) bool { return under(path, at+".fields."+pair.Field.Name) })
	})
	return out
}

// column is what is known of a column, or of a path in answers.
func (p *pager) column(r *sheet.Resource, name, field string) page.Column {
	for _, table := range []string{r.Read, r.Table} {
		for _, c := range p.columns[strings.ToLower(table)] {
			if c.Name == name {
				return c
			}
		}
	}
	return page.Column{Name: name, Type: p.report.present[field]}
}

// notes are the findings whose path is one of those meant.
func (p *pager) notes(at string, meant func(path string) bool) (all []page.Note) {
	for _, f := range p.report.Findings {
		if meant(f.Path) {
			text := f.Seen
			if f.Path != at && f.Path != "" && at != "" {
				text = strings.TrimPrefix(f.Path, at+".") + ": " + text
			}
			all = append(all, page.Note{Kind: page.Kind(f.Severity), Rule: f.Rule, Text: text, Cure: f.Remedy})
		}
	}
	slices.SortStableFunc(all, func(a, b page.Note) int {
		return slices.Index(severities, a.Kind) - slices.Index(severities, b.Kind)
	})
	return all
}

// severities are the kinds of findings, worst first.
var severities = []page.Kind{page.Error, page.Warning, page.Info}

// under tells whether a path of the sheet is another, or in it.
func under(path, of string) bool {
	return path == of || strings.HasPrefix(path, of+".") || strings.HasPrefix(path, of+"[")
}

// unused are the tables that the sheet does not name.
func (p *pager) unused() (all []page.Unused) {
	for _, name := range p.tables {
		if p.reads(name) || strings.EqualFold(name, p.o.Sheet.Accounts.Table) {
			continue
		}
		of := page.Unused{Name: name}
		for _, c := range p.columns[strings.ToLower(name)] {
			of.Columns = append(of.Columns, c.Name)
		}
		all = append(all, of)
	}
	return all
}
