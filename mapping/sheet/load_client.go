package sheet

import (
	"fmt"
	"slices"
	"strings"

	"frontdesk/config/strictyaml"
	"frontdesk/mapping"
)

// IsShared tells whether nothing binds the records to a client, so that all clients see the
// same.
func (r *Resource) IsShared() bool {
	return r.Client == "" && r.Through == nil && FindParameter(r.Where, ClientParameter) < 0
}

// Shared are the resources that the sheet says belong to all clients, in the order of the
// model. A resource of which it says nothing may still be separated by the service, which
// knows who asks.
func (s *Sheet) Shared() (names []string) {
	for _, r := range s.Model.Resources {
		if of := s.Resources[r]; of != nil && of.shared && of.IsShared() {
			names = append(names, r.Name)
		}
	}
	return names
}

// IsNobodys tells whether a row aligned with Places has no client although it should have one.
func (r *Resource) IsNobodys(row []Raw) bool {
	if r.clientAt < 0 {
		return false
	}
	of := row[r.clientAt]
	_, isNumber := clientIn(of)
	return !isNumber && !r.isSystem(of)
}

// Parent is the resource through which the client is found; nil for none.
func (r *Resource) Parent() *Resource {
	if r.Through == nil {
		return nil
	}
	return r.sheet.byName[r.Through.Reference]
}

// owner is the place of the client at the end of Through, if a database can read it.
const owner = "client.through"

// judgeClients requires that the client of every record is known: a child table without the
// client's number would show its rows to every client.
func (l *loader) judgeClients() {
	bound := map[*draft]bool{}
	for _, d := range l.drafts {
		if d.file.Client.parent {
			bound[d] = d.through(d.file.Client.Through)
		}
	}
	for _, d := range l.drafts {
		if bound[d] {
			d.judgeSteps()
		}
	}
	for _, d := range l.drafts {
		d.judgeShared()
	}
}

// through compiles the reference that tells whose a record is. It is false where
// that is reported.
func (d *draft) through(name string) bool {
	path := d.at("client", "through")
	fail := func(format string, args ...any) bool {
		d.fail(path, format, args...)
		return false
	}
	if name == "" {
		if !slices.ContainsFunc(d.problems, func(p strictyaml.Problem) bool { return strings.HasPrefix(p.Path, d.at("client")+".") }) {
			d.fail(d.at("client"), "through is missing, expected the reference to the record that tells whose it is")
		}
		return false
	}
	var references []string
	for _, f := range d.drafted {
		if f.Reference != "" {
			references = append(references, f.Name)
		}
	}
	f := d.resource.Field(name)
	switch {
	case f == nil || !slices.Contains(d.mapped(), name):
		d.unknown(path, "mapped reference of "+d.of.Name, name, references)
		return false
	case f.ReferenceBy != "":
		return fail("%s refers to records of several resources, expected a reference to one, or the column or path of the client's number", name)
	case f.Reference == "":
		return fail("%s refers to no record, expected a reference%s", name, d.suggest(path, name, references))
	}
	if d.file.SystemClient != "" {
		d.fail(d.at("system_client"), "found with client through %s: that of %s counts, expected none here", name, f.Reference)
	}
	through := &d.resource.Fields[f.Index]
	target := d.draftOf(f.Reference)
	switch {
	case target == nil:
		return fail("%s refers to %s, which is not among resources", name, f.Reference)
	case len(through.fromAt) == 0 || d.resource.Places[through.fromAt[0]].SQL != "":
		return fail("%s is computed, expected a reference with %s", name, d.word("from", "column"))
	case through.codec.codes != nil:
		return fail("%s has a code list, expected the key of %s as it is", name, f.Reference)
	case len(through.fromAt) < len(target.resource.Key.Places):
		return fail("%s lacks the client's number that the key of %s begins with, and so does not tell whose it is: expected the column or path of the client's number", name, f.Reference)
	case d.has(mapping.OpCreate) && (!f.Required || !through.writable):
		return fail("%s can be left out of a new %s, which would be nobody's: expected required: true, and a place that is written", name, d.of.Name)
	case d.http() && !target.has(mapping.OpGet) && !target.has(mapping.OpList):
		return fail("%s is to tell whose the records are, and cannot be read: expected get among the operations of %[1]s", f.Reference)
	case d.sql() && target.resource.Read == "":
		return fail("%s is to tell whose the records are, and has no table: expected its table, or the client's column here", f.Reference)
	case d.sql() && target.resource.Table == d.resource.Table:
		return fail("%s is of the same table, expected the client's column here too", f.Reference)
	}
	d.resource.Through = through
	return true
}

func (d *draft) draftOf(name string) *draft {
	if i := slices.IndexFunc(d.drafts, func(o *draft) bool { return o.of.Name == name }); i >= 0 {
		return d.drafts[i]
	}
	return nil
}

// judgeSteps follows the references to the record that names a client.
func (d *draft) judgeSteps() {
	path := d.at("client", "through")
	seen := []*Resource{d.resource}
	at := d.resource
	for at.Through != nil {
		at = at.Parent()
		if slices.Contains(seen, at) {
			d.fail(path, "found a circle: %s leads to %s again, and no client is found", d.of.Name, at.Name)
			return
		}
		seen = append(seen, at)
	}
	switch {
	case d.draftOf(at.Name).file.Client.parent: // what is wrong with that was reported
	case at.IsShared():
		d.fail(path, "%s has no client itself, and does not tell whose the records are: expected its client first", at.Name)
	case d.sql() && at.Client != "":
		// The database tells it beside the record, which may be one of all clients.
		d.resource.SystemClient = at.SystemClient
		d.resource.clientAt = d.placeOf(Place{Name: owner, Owner: true})
	}
}

// judgeShared refuses a resource that has no client and is not marked as shared, if its
// records refer to records that have a client.
func (d *draft) judgeShared() {
	if d.file.Shared {
		if d.resource.Client != "" || d.file.Client.parent {
			d.fail(d.at("shared"), "found shared: true and a client, expected one of them")
		}
		return
	}
	if d.file.Client.parent || !d.resource.IsShared() {
		return
	}
	var owned []string
	for _, f := range mapping.Each(d.of.Fields) {
		if !f.Required && !slices.Contains(d.of.ListRequires, f.Name) {
			continue
		}
		if target := d.draftOf(f.Reference); f.Reference != "" && target != nil && !target.resource.IsShared() {
			owned = append(owned, f.Name)
		}
		if f.ReferenceBy != "" && slices.ContainsFunc(d.drafts, func(o *draft) bool { return !o.resource.IsShared() }) {
			owned = append(owned, f.Name)
		}
	}
	if len(owned) == 0 {
		return
	}
	f := d.of.Field(owned[d.nearest(owned)])
	of, cure := "records that belong", "its column or path"
	if f.Reference != "" {
		of = f.Reference + ", which belongs"
		cure = fmt.Sprintf("client: {through: %s}, %s", f.Name, cure)
	}
	if d.sql() {
		cure += ", :client in where"
	}
	d.fail(d.at("client"), "%s has no client, but %s refers to %s to one: expected %s, or shared: true where all clients are to see and change them",
		d.of.Name, f.Name, of, cure)
}

// nearest is the reference, of those named, to the record that contains this one as an
// element; else the first.
func (d *draft) nearest(names []string) int {
	return max(0, slices.IndexFunc(names, func(name string) bool {
		f := d.of.Field(name)
		target := d.model.Resource(f.Reference)
		return target != nil && slices.ContainsFunc(target.Fields, func(of mapping.Field) bool {
			return of.ArrayOf == d.of.Name && of.ArrayKey == name
		})
	}))
}
