package sheet

import (
	"regexp"
	"slices"
	"strings"

	"frontdesk/mapping"
)

// judge checks a resource as clients will see it.
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
		d.once(d.sinceAt, "found neither cursor nor a field modified_at of %s, expected one of them: it says since when to ask", d.of.Name)
	}
	if create := d.calls[mapping.OpCreate]; create != nil && d.out.Client.JQ != nil && !create.names("client") && !d.http.perClient {
		d.fail(d.at("create"), "nothing says whose a new %s is, since jq reads its client: expected .client.id in the body", d.of.Name)
	}
}

// wholeNumber is the step of a path to an element of a list.
var wholeNumber = regexp.MustCompile(`^-?[0-9]+$`)

// judgePlaces judges the paths that are written.
func (d *httpDraft) judgePlaces() {
	writers := map[string]string{}
	for _, f := range d.mapped {
		out := d.places[f.Name]
		if !out.Writable || out.Path == nil {
			continue
		}
		path := out.Path.String()
		if slices.ContainsFunc(out.Path, wholeNumber.MatchString) {
			d.fail(d.fieldAt(f.Name), "%s leads to an element of a list, which cannot be written: expected readonly: true, or write that yields the object with the list", path)
		}
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
