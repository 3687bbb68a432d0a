package mapcheck

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"frontdesk/backend/legacy"
	"frontdesk/backend/mappage"
	"frontdesk/mapping/sheet"
)

// Page is a report to look at: the sheet with what was found where it is. Of a database it
// has the columns of each table, those that are not used as well.
func Page(ctx context.Context, o Options, r *Report) (page mappage.Page, err error) {
	p := pager{report: r, o: o, columns: map[string][]mappage.Column{}}
	if source := o.Sheet.Source.SQL; source != nil {
		reader, err := legacy.OpenReader(ctx, source)
		if err != nil {
			return page, err
		}
		err = errors.Join(p.look(ctx, reader), reader.Close())
		if err != nil {
			return page, err
		}
	}
	page = mappage.Page{
		Title: "Mapping sheet " + filepath.Base(o.Sheet.File), About: "Compared with the system that it describes.", Missing: r.Left.Resources,
		Facts: []mappage.Fact{
			{Number: len(o.Sheet.Model.Resources), Of: "resources"}, {Number: r.Count(Error), Of: "errors", Kind: mappage.Error},
			{Number: r.Count(Warning), Of: "warnings", Kind: mappage.Warning}, {Number: r.Count(Note), Of: "notes"},
		},
	}
	for _, of := range o.Sheet.Model.Resources {
		if known := o.Sheet.Resources[of]; known != nil {
			page.Resources = append(page.Resources, p.resource(known))
		}
	}
	page.Notes = p.notes("", func(path string) bool {
		return !slices.ContainsFunc(page.Resources, func(r mappage.Resource) bool { return under(path, "resources."+r.Name) })
	})
	page.Unused = p.unused()
	return page, nil
}

// pager makes a page of a report.
type pager struct {
	report  *Report
	o       Options
	columns map[string][]mappage.Column // of each table
	tables  []string
}

// sampled is how many rows are looked at for one that has a value in a column.
const sampled = 50

// look reads the columns of each table, and the shape of a value of each.
func (p *pager) look(ctx context.Context, reader *legacy.Reader) error {
	schema, err := reader.Inspect(ctx)
	if err != nil {
		return err
	}
	for _, t := range schema.Tables {
		of := make([]legacy.Expression, len(t.Columns))
		all := make([]mappage.Column, len(t.Columns))
		for i, c := range t.Columns {
			all[i] = mappage.Column{Name: c.Name, Type: c.Type}
			if sort := c.Sort(p.o.Sheet.Source.SQL.Engine); sort != "bytes" && sort != "" {
				of[i].Column = c.Name
			}
		}
		if p.reads(t.Name) {
			rows, err := reader.Rows(ctx, t.Name, of, "", 0, sampled)
			if err != nil {
				return fmt.Errorf("read %s: %w", t.Name, err)
			}
			shapes(all, rows)
		}
		p.columns[strings.ToLower(t.Name)] = all
		if !t.View {
			p.tables = append(p.tables, t.Name)
		}
	}
	return nil
}

func shapes(columns []mappage.Column, rows [][]sheet.Raw) {
	for i := range columns {
		for _, row := range rows {
			if columns[i].Shape == "" && row[i].IsSet() {
				columns[i].Shape = mappage.Shape(strings.TrimRight(row[i].String(), " "))
			}
		}
	}
}

// reads tells whether the sheet names a table.
func (p *pager) reads(table string) bool {
	return slices.ContainsFunc(legacy.TablesOf(p.o.Sheet), func(name string) bool { return strings.EqualFold(name, table) })
}

// usedBy are the columns that a resource reads or writes.
func usedBy(r *sheet.Resource) map[string]bool {
	used := map[string]bool{r.Client: true, r.Version: true}
	note := func(names ...string) {
		for _, name := range names {
			used[name] = true
		}
	}
	note(r.Key.Places...)
	note(r.Constants()...)
	for _, a := range r.SoftDelete() {
		note(a.Place)
	}
	for _, p := range r.Places {
		if p.Lookup != nil {
			for _, match := range p.Lookup.Match {
				note(match[1])
			}
		}
	}
	for i := range r.Fields {
		note(r.Fields[i].From...)
		note(r.Fields[i].Write...)
	}
	return used
}

// resource is a resource to look at.
func (p *pager) resource(r *sheet.Resource) mappage.Resource {
	at := "resources." + r.Name
	out := mappage.Resource{Name: r.Name, Place: r.Table}
	if r.Read != r.Table && r.Read != "" {
		out.Place += ", read as " + r.Read
	}
	if list := r.Operations["list"]; list != nil && list.Request != nil {
		out.Place = strings.TrimPrefix(list.Request.Template, "GET ")
	}
	for i := range r.Fields {
		f := &r.Fields[i]
		if f.Primary {
			continue
		}
		if !p.report.doc.Has(at + ".fields." + f.Name) { // one that every resource has
			out.Fields = append(out.Fields, mappage.Field{Name: f.Name, Type: f.Type.String()})
			continue
		}
		pair := mappage.Pair{Field: mappage.Field{Name: f.Name, Type: f.Type.String(), Required: f.Required}}
		for _, name := range f.From {
			pair.Columns = append(pair.Columns, p.column(r, name))
		}
		own := at + ".fields." + f.Name
		pair.Notes = p.notes(own, func(path string) bool { return under(path, own) })
		out.Pairs = append(out.Pairs, pair)
	}
	whole := p.o.Model.Resource(r.Name)
	for _, name := range p.report.Left.Fields[r.Name] {
		f := whole.Field(name)
		out.Fields = append(out.Fields, mappage.Field{Name: name, Type: f.Type.String(), Required: f.Required})
	}
	used := usedBy(r)
	for _, c := range p.columns[strings.ToLower(r.Table)] {
		if !used[c.Name] {
			out.Columns = append(out.Columns, c)
		}
	}
	out.Notes = p.notes(at, func(path string) bool {
		return under(path, at) && !slices.ContainsFunc(out.Pairs, func(pair mappage.Pair) bool { return under(path, at+".fields."+pair.Field.Name) })
	})
	return out
}

// column is what is known of a column, or of a path in answers.
func (p *pager) column(r *sheet.Resource, name string) mappage.Column {
	for _, table := range []string{r.Read, r.Table} {
		for _, c := range p.columns[strings.ToLower(table)] {
			if c.Name == name {
				return c
			}
		}
	}
	if seen, is := p.report.samples[r.Name][name]; is {
		return seen
	}
	return mappage.Column{Name: name}
}

// samplesOf are the places of a service's answers, with the shape of a value of each.
func samplesOf(values map[string]sheet.Raw) map[string]mappage.Column {
	all := map[string]mappage.Column{}
	for name, v := range values {
		kind := "text"
		switch v.Kind {
		case sheet.RawBool:
			kind = "boolean"
		case sheet.RawInt, sheet.RawNumber:
			kind = "number"
		}
		all[name] = mappage.Column{Name: name, Type: kind, Shape: mappage.Shape(v.String())}
	}
	return all
}

// notes are the findings whose path is one of those meant.
func (p *pager) notes(at string, meant func(path string) bool) (all []mappage.Note) {
	for _, f := range p.report.Findings {
		if meant(f.Path) {
			text := f.Seen
			if f.Path != at && f.Path != "" && at != "" {
				text = strings.TrimPrefix(f.Path, at+".") + ": " + text
			}
			all = append(all, mappage.Note{Kind: mappage.Kind(f.Severity), Rule: f.Rule, Text: text, Cure: f.Remedy})
		}
	}
	slices.SortStableFunc(all, func(a, b mappage.Note) int {
		return slices.Index(severities, a.Kind) - slices.Index(severities, b.Kind)
	})
	return all
}

// severities are the kinds of findings, worst first.
var severities = []mappage.Kind{mappage.Error, mappage.Warning, mappage.Info}

// under tells whether a path of the sheet is another, or in it.
func under(path, of string) bool {
	return path == of || strings.HasPrefix(path, of+".") || strings.HasPrefix(path, of+"[")
}

// unused are the tables that the sheet does not name.
func (p *pager) unused() (all []mappage.Unused) {
	for _, name := range p.tables {
		if p.reads(name) || strings.EqualFold(name, p.o.Sheet.Accounts.Table) {
			continue
		}
		of := mappage.Unused{Name: name}
		for _, c := range p.columns[strings.ToLower(name)] {
			of.Columns = append(of.Columns, c.Name)
		}
		all = append(all, of)
	}
	return all
}
