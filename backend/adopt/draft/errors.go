package draft

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
)

// entry is a line of the sheet's errors.
type entry struct {
	text, why string
	meant     bool // else it is put into a comment
}

// The forms in which programs raise errors.
var (
	signal = regexp.MustCompile(`(?is)SIGNAL\s+SQLSTATE\s+(?:VALUE\s+)?'(\w{5})'\s+SET\s+MESSAGE_TEXT\s*=\s*'([^']+)'`)
	raise  = regexp.MustCompile(`(?is)RAISE\s+EXCEPTION\s+'([^']+)'(?:[^;]*?ERRCODE\s*=\s*'(\w{5})')?`)
	throw  = regexp.MustCompile(`(?is)(?:THROW\s+(\d+)\s*,\s*N?'([^']+)'|RAISERROR\s*\(\s*N?'([^']+)')`)
)

// said is what a program may raise.
type said struct{ state, code, message, by string }

// errors are what programs of the database say. What its columns and keys refuse the
// driver knows by itself.
func (d *drafter) errors() []entry {
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
	if d.http != nil {
		all = append(all, d.http.known(d)...)
	}
	return all
}

// known are the errors of services of a known style.
func (s *service) known(d *drafter) (all []entry) {
	for _, of := range styles {
		used := false
		for _, e := range s.endpoints {
			used = used || e.style == of
		}
		if used {
			all = append(all, of.errors...)
		}
		if !used || of.name != "PocketBase" {
			continue
		}
		for _, name := range d.resources() { // it does not tell by what a record is used
			if by := d.usedBy(name); by != "" {
				all = append(all, entry{`{when: {status: "400", message_at: message, message: "not part of a required relation"}, reason: in_use, at: ` + by + ", on: [" + name + "]}", "of PocketBase, by what refers to it", true})
			}
		}
	}
	return all
}

// usedBy is a resource whose records require one of another; "" for none.
func (d *drafter) usedBy(name string) string {
	for _, other := range d.resources() {
		for i := range d.matches[other].Fields {
			if f := &d.matches[other].Fields[i]; f.Reference == name && f.Required && d.matches[other].fields[f.Name] != nil {
				return other
			}
		}
	}
	return ""
}

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
	says := func(what string) bool {
		return slices.ContainsFunc(strings.Split(messages[what], ", "), func(words string) bool { return strings.Contains(strings.ToLower(s.message), words) })
	}
	scope := ""
	if on != "" {
		scope = ", on: [" + on + "]"
	}
	switch {
	case says("unknown") && about != "" && d.matches[on] != nil && d.referrer(on, about) != "":
		e.text, e.meant = fmt.Sprintf("{when: {%s}, reason: related_id_not_found, field: %s%s}", when, d.referrer(on, about), scope), true
	case says("blocked"):
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
			if s := bestForm(d.words.segment(piece), forms(d.words, name, resourceNames[name]), nil); s > score {
				best, score = name, s
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
