package mapdraft

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	"frontdesk/mapping"
)

// entry is a line of the sheet's errors.
type entry struct {
	text, why string
	meant     bool // else it is put into a comment
}

// errors are what the database refuses: values that are there already, by its
// unique indexes, and what its programs say.
func (d *drafter) errors() []entry {
	var all []entry
	for _, name := range d.resources() {
		all = append(all, d.duplicates(d.matches[name])...)
	}
	return append(append(all, d.tooLarge()...), d.messages()...)
}

// tooLarge are numbers that an int4 can hold, and the columns of some fields not.
func (d *drafter) tooLarge() (all []entry) {
	var columns []string
	of := map[string]string{}
	for _, name := range d.resources() {
		m := d.matches[name]
		for i := range m.Fields {
			x := m.fields[m.Fields[i].Name]
			if x == nil || m.readOnly(d) || x.Type != mapping.Int4 || x.Readonly || x.Reference != "" || len(x.OneOf) > 0 || x.ReferenceBy != "" {
				continue
			}
			if t := x.column.Type; t != "smallint" && t != "tinyint" && t != "mediumint" && t != "int2" {
				continue
			}
			if d.source.Engine == "postgres" {
				all = append(all, entry{text: fmt.Sprintf(`{when: {sqlstate: "22003"}, reason: int4_invalid, field: %s, on: [%s]}`, x.Name, m.Name), why: x.column.Name + " is " + x.column.Type, meant: true})
			}
			if of[x.column.Name] == "" {
				columns = append(columns, x.column.Name)
			}
			of[x.column.Name] = x.Name
		}
	}
	if len(columns) == 0 || d.source.Engine != "mariadb" && d.source.Engine != "mysql" {
		return all
	}
	var pairs []string
	for _, c := range columns {
		pairs = append(pairs, scalar(c, false)+": "+of[c])
	}
	return []entry{{
		text: `{when: {code: "1264", message: "column '([^']+)'"}, reason: int4_invalid, field_from: message, fields: {` + strings.Join(pairs, ", ") + `}}`,
		why:  "columns smaller than an int4", meant: true,
	}}
}

// duplicates are the unique indexes over one field.
func (d *drafter) duplicates(m *match) []entry {
	var all []entry
	if m.readOnly(d) {
		return nil
	}
	for _, i := range m.table.Indexes {
		own := slices.DeleteFunc(slices.Clone(i.Columns), func(name string) bool { return name == d.client })
		if !i.Unique || len(own) != 1 {
			continue
		}
		x := m.uses(m.table.column(own[0]))
		if x == nil || !x.Unique || x.Numbering != "" {
			continue
		}
		when := map[string]string{"postgres": `sqlstate: "23505"`, "mysql": `code: "1062"`, "mariadb": `code: "1062"`, "sqlserver": `code: "2627"`, "sqlite": `code: "2067"`}[d.source.Engine]
		name := i.Name
		if d.source.Engine == "sqlite" { // which names columns, not indexes
			if slices.Equal(i.Columns, m.table.Primary) {
				when = `code: "1555"`
			}
			name = m.table.Name + "." + strings.Join(i.Columns, ", "+m.table.Name+".")
		}
		all = append(all, entry{
			text: fmt.Sprintf(`{when: {%s, constraint: %s}, reason: duplicate_value, field: %s, on: [%s]}`, when, scalar(name, false), x.Name, m.Name),
			why:  "unique index " + name, meant: true,
		})
	}
	return all
}

// The forms in which programs raise errors.
var (
	signal = regexp.MustCompile(`(?is)SIGNAL\s+SQLSTATE\s+(?:VALUE\s+)?'(\w{5})'\s+SET\s+MESSAGE_TEXT\s*=\s*'([^']+)'`)
	raise  = regexp.MustCompile(`(?is)RAISE\s+EXCEPTION\s+'([^']+)'(?:[^;]*?ERRCODE\s*=\s*'(\w{5})')?`)
	throw  = regexp.MustCompile(`(?is)(?:THROW\s+(\d+)\s*,\s*N?'([^']+)'|RAISERROR\s*\(\s*N?'([^']+)')`)
)

// said is what a program may raise.
type said struct{ state, code, message, by string }

func (d *drafter) messages() []entry {
	var raised []said
	note := func(by, text string) {
		for _, m := range signal.FindAllStringSubmatch(text, -1) {
			raised = append(raised, said{state: m[1], message: m[2], by: by})
		}
		for _, m := range raise.FindAllStringSubmatch(text, -1) {
			raised = append(raised, said{state: m[2], message: m[1], by: by})
		}
		for _, m := range throw.FindAllStringSubmatch(text, -1) {
			raised = append(raised, said{code: m[1], message: m[2] + m[3], by: by})
		}
	}
	for _, name := range slices.Sorted(maps.Keys(d.routines)) {
		note(name, d.routines[name])
	}
	for _, t := range d.tables {
		for _, text := range t.texts {
			note(t.Name, text)
		}
	}
	var all []entry
	seen := map[said]bool{}
	for _, s := range raised {
		if once := (said{s.state, s.code, s.message, ""}); !seen[once] {
			seen[once] = true
			all = append(all, d.message(s))
		}
	}
	return all
}

// The words that messages say what is wrong by.
var (
	unknownWords = []string{"onbekend", "unknown", "not found", "niet gevonden", "bestaat niet", "does not exist", "unbekannt", "nicht gefunden"}
	blockedWords = []string{"geblokkeerd", "blocked", "gesperrt"}
)

// message words what a program raises, as far as its words tell.
func (d *drafter) message(s said) entry {
	e := entry{why: strings.TrimSpace(s.by + ": " + s.message)}
	about := d.about(s.message)
	on := d.about(s.by)
	when := "sqlstate: " + s.state
	numbered := regexp.MustCompile(`^[A-Z]{2,5}-?[0-9]{2,6}\b`).FindString(s.message)
	switch {
	case s.state == "" && s.code != "":
		when = "code: " + quoted(s.code)
	case s.state == "45000" || s.state == "P0001" || s.state == "":
		pattern := numbered
		if pattern == "" {
			pattern = regexp.QuoteMeta(s.message)
		}
		when = "sqlstate: " + quoted(s.state) + ", message: " + quoted("^"+pattern)
		if s.state == "" {
			when = "message: " + quoted("^"+pattern)
		}
	}
	has := func(words []string) bool {
		return slices.ContainsFunc(words, func(w string) bool { return strings.Contains(strings.ToLower(s.message), w) })
	}
	scope := ""
	if on != "" {
		scope = ", on: [" + on + "]"
	}
	switch {
	case has(unknownWords) && about != "" && d.matches[on] != nil && d.referrer(on, about) != "":
		e.text, e.meant = fmt.Sprintf("{when: {%s}, reason: related_id_not_found, field: %s%s}", when, d.referrer(on, about), scope), true
	case has(blockedWords):
		e.text, e.meant = fmt.Sprintf("{when: {%s}, reason: blocked_record%s}", when, scope), on != ""
	default:
		e.text = fmt.Sprintf("{when: {%s}, reason: cannot_update%s}", when, scope)
	}
	return e
}

// about is the resource that a text names, "" for none.
func (d *drafter) about(text string) string {
	best, score := "", 0.6
	for _, piece := range pieces(text) {
		for _, name := range d.resources() {
			for _, form := range forms(d.words, name, resourceNames[name]) {
				if s := likeness(d.words.segment(piece), form, nil); s > score {
					best, score = name, s
				}
			}
		}
	}
	return best
}

// referrer is the field of a resource that refers to another.
func (d *drafter) referrer(from, to string) string {
	for i := range d.matches[from].Fields {
		if f := &d.matches[from].Fields[i]; f.Reference == to {
			return f.Name
		}
	}
	return ""
}
