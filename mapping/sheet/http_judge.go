package sheet

import (
	"regexp"
	"slices"
	"strings"

	"frontdesk/mapping"
)

// judge checks a resource after the model is narrowed.
func (d *httpDraft) judge() {
	d.judgePlaces()
	for _, f := range d.mapped {
		d.judgeNull(f)
	}
	for _, op := range []mapping.Scope{mapping.OpCreate, mapping.OpUpdate} {
		if c := d.calls[op]; c != nil {
			d.judgeLost(op, c)
		}
	}
	if w := d.out.Walk; w != nil && w.Since != nil && w.Since.Cursor.IsZero() && d.resource.Undated {
		d.fail(d.sinceAt, "found neither cursor nor a field modified_at of %s, expected one of them: it says since when to ask", d.of.Name)
	}
	if create := d.calls[mapping.OpCreate]; create != nil && d.out.Client.JQ != nil && !create.Names("client") && !d.http.perClient {
		d.fail(d.at("create"), "nothing says whose a new %s is, since jq reads its client: expected .client.id in the body", d.of.Name)
	}
}

// wholeNumber matches the step of a path to an element of a list.
var wholeNumber = regexp.MustCompile(`^-?[0-9]+$`)

// judgePlaces judges the paths that are written.
func (d *httpDraft) judgePlaces() {
	writers := map[string]string{}
	create := d.has(mapping.OpCreate)
	if create {
		d.judgeList(d.whose.at, d.out.Client.Path, "a client here that no create writes: {read: JQ}")
	}
	for _, f := range d.mapped {
		out := d.places[f.Name]
		if elements := out.Elements.Path; create && !f.Readonly && !d.narrowing[f.Name].Readonly {
			d.judgeList(d.fieldAt(f.Name), elements, "readonly: true")
		}
		if !out.Writable || out.Path == nil {
			continue
		}
		path := out.Path.String()
		d.judgeList(d.fieldAt(f.Name), out.Path, "readonly: true, or write that yields the object with the list")
		for _, other := range sortedKeys(writers) {
			if path == other {
				d.fail(d.fieldAt(f.Name), "%s is written by %s already, expected one field for each place: mark one readonly", path, writers[other])
				break
			}
			if strings.HasPrefix(path, other+".") || strings.HasPrefix(other, path+".") {
				d.fail(d.fieldAt(f.Name), "%s is written, and so is %s of %s, of which one is within the other", path, other, writers[other])
			}
		}
		if whose := d.out.Client.Path; path == whose.String() {
			d.fail(d.fieldAt(f.Name), "found the place of client, which every create writes already: expected readonly: true")
		}
		writers[path] = f.Name
	}
}

// judgeList refuses a written path that leads into a list: Put would make an object in place of the
// list.
func (d *httpDraft) judgeList(at string, path Path, expected string) {
	if slices.ContainsFunc(path, wholeNumber.MatchString) {
		d.fail(at, "%s leads to an element of a list, which cannot be written: expected %s", path, expected)
	}
}
