package mapdraft

import (
	"slices"
	"strings"

	"frontdesk/backend/mappage"
)

// Page is the draft to look at.
func (draft *Draft) Page() mappage.Page {
	d, s := draft.d, draft.Summary
	what := "tables"
	p := mappage.Page{Title: "Draft of a mapping sheet", About: "Out of a " + d.source.Engine + " database.", Missing: s.Missing}
	if d.http != nil {
		what, p.About = "paths", "Out of answers and descriptions of an HTTP service."
	}
	p.Facts = []mappage.Fact{{Number: s.Tables, Of: what}, {Number: s.Resources, Of: "resources"}, {Number: s.Fields, Of: "fields"}, {Number: s.Guesses, Of: "guesses"}, {Number: s.Doubts, Of: "TODO", Kind: mappage.Todo}}
	if d.client == "" {
		p.Notes = append(p.Notes, mappage.Note{Kind: mappage.Todo, Text: "Nothing tells whose record it is: all clients see all of them."})
	} else {
		p.Notes = append(p.Notes, mappage.Note{Kind: mappage.Info, Text: "Whose record it is: " + d.client + ", " + d.clientWhy})
	}
	p.Notes = append(p.Notes, d.usersNotes()...)
	if len(d.unread) > 0 {
		p.Notes = append(p.Notes, mappage.Note{Kind: mappage.Todo, Text: "Cannot be read: " + strings.Join(d.unread, ", ")})
	}
	for _, why := range d.dropped {
		p.Notes = append(p.Notes, mappage.Note{Kind: mappage.Todo, Text: why})
	}
	taken := map[*table]bool{}
	for _, name := range d.resources() {
		taken[d.matches[name].table] = true
		p.Resources = append(p.Resources, d.page(d.matches[name]))
	}
	for _, t := range d.tables {
		if !t.View && !taken[t] && (d.users == nil || d.users.table != t) {
			p.Unused = append(p.Unused, mappage.Unused{Name: t.Name, Columns: columnNames(t.columns)})
		}
	}
	return p
}

// usersNotes say who may log in.
func (d *drafter) usersNotes() []mappage.Note {
	if d.http != nil && d.http.login != nil && d.noAccounts == "" {
		all := []mappage.Note{{Kind: mappage.Info, Text: "Who may log in: " + d.http.login.why}}
		for _, f := range d.http.login.facts {
			for _, todo := range f.todo {
				all = append(all, mappage.Note{Kind: mappage.Todo, Text: f.name + ": " + todo})
			}
		}
		return all
	}
	if d.users == nil || d.noAccounts != "" {
		return []mappage.Note{{Kind: mappage.Todo, Text: "Who may log in?"}}
	}
	all := []mappage.Note{{Kind: mappage.Info, Text: "Who may log in: " + d.users.table.Name + ", " + d.users.why}}
	if len(d.users.todo) > 0 {
		all = append(all, mappage.Note{Kind: mappage.Todo, Text: d.users.table.Name + ": " + strings.Join(d.users.todo, "; ")})
	}
	return all
}

// page is a resource to look at.
func (d *drafter) page(m *match) mappage.Resource {
	r := mappage.Resource{Name: m.Name, Place: m.table.Name, Why: m.why}
	var todo []string
	if m.endpoint != nil {
		r.Place, todo = m.endpoint.list, m.endpoint.todos(m)
	} else if v := d.viewOf(m); v != nil {
		r.Place += ", read as " + v.Name
	}
	if m.endpoint == nil && m.only != "" {
		todo = append(todo, "only "+m.only+": "+m.onlyWhy)
	}
	if m.nobodys {
		todo = append(todo, "Whose are they? Until then nobody sees them.")
	}
	r.Notes = todos(append(todo, m.doubt...))
	for i := range m.Fields {
		f := &m.Fields[i]
		field := mappage.Field{Name: f.Name, Type: f.Type.String(), Required: f.Required}
		out := m.said[f.Name]
		switch {
		case f.Primary:
		case out != nil:
			r.Pairs = append(r.Pairs, m.pair(field, out))
		default:
			r.Fields = append(r.Fields, field)
			if m.refused[f.Name] != "" {
				r.Notes = append(r.Notes, todos([]string{m.refused[f.Name]})...)
			} else if f.Required {
				r.Notes = append(r.Notes, todos([]string{f.Name + ": " + d.notFound(m, f)})...)
			}
		}
	}
	for _, c := range d.unused(m) {
		r.Columns = append(r.Columns, c.page())
	}
	return r
}

// pair is a field with the columns that it is in.
func (m *match) pair(field mappage.Field, out *mapped) mappage.Pair {
	p := mappage.Pair{Field: field, Why: out.why, Notes: todos(out.todo)}
	var how []string
	for _, s := range out.settings {
		if c := m.table.column(s.value); c != nil && (s.key == "from" || s.key == "time_from") {
			p.Columns = append(p.Columns, c.page())
		} else {
			how = append(how, s.key+": "+s.value)
		}
	}
	p.How = strings.Join(how, ", ")
	return p
}

func todos(texts []string) (all []mappage.Note) {
	for _, text := range texts {
		all = append(all, mappage.Note{Kind: mappage.Todo, Text: text})
	}
	return all
}

// page is a column to look at: with the shape of a value that it has.
func (c *column) page() mappage.Column {
	shown := mappage.Column{Name: c.Name, Type: string(c.sort)}
	if c.Type != "" {
		shown.Type = c.Type
	}
	if at := slices.IndexFunc(c.values, func(v string) bool { return v != "" }); at >= 0 && c.sort != sortBytes {
		shown.Shape = mappage.Shape(c.values[at])
	}
	return shown
}
