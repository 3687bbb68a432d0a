package sheet

import (
	"fmt"
	"slices"
	"strings"

	"frontdesk/mapping"
)

// IsShared reports whether nothing binds the records to a client, so that all clients see the same
// records.
func (r *Resource) IsShared() bool {
	return r.client == "" && r.Through == nil && FindParameter(r.Where, ClientParameter) < 0 && !(r.Service != nil && r.Service.PerClient)
}

// Shared returns the resources that the sheet declares as shared by all clients, in the order of the
// model. It leaves out resources without a declaration: the service may separate their records by
// the user.
func (s *Sheet) Shared() (names []string) {
	for _, r := range s.Model.Resources {
		if of := s.Resources[r]; of != nil && of.shared && of.IsShared() {
			names = append(names, r.Name)
		}
	}
	return names
}

// Parent returns the resource through which the client is found; nil for none.
func (r *Resource) Parent() *Resource {
	if r.Through == nil {
		return nil
	}
	return r.sheet.byName[r.Through.Reference]
}

// whose returns the place of the client of a record.
func (d *draft) whose() spotFile {
	f, where := d.owner, d.Client
	if f.Client.given || f.Shared {
		where, d.resource.shared = f.Client.spotFile, true
	}
	d.resource.client, d.resource.SystemClient = where.text, f.SystemClient
	if where.Read.given() {
		d.resource.client = where.Read.text
	}
	if f.SystemClient != "" && d.resource.client == "" && f.Client.Through == "" {
		d.fail(d.at("system_client"), "found a client's number without client, expected its %s", d.words().place)
	}
	return where
}

// judgeClients requires that the client of every record is known: a child table without the
// client's number would show its rows to all clients.
func (l *loader) judgeClients() {
	for _, d := range l.drafts {
		if name := d.owner.Client.Through; name != "" {
			d.through(name)
		}
	}
	for _, d := range l.drafts {
		if d.resource.Through != nil {
			d.judgeSteps()
		}
	}
	for _, d := range l.drafts {
		d.judgeShared()
	}
}

// through compiles the reference to the record whose client a record has.
func (d *draft) through(name string) {
	path := d.at("client", "through")
	var references []string
	for _, f := range d.mapped {
		if f.Reference != "" {
			references = append(references, f.Name)
		}
	}
	f := d.resource.Field(name)
	if f == nil || !slices.Contains(d.mappedNames(), name) {
		d.unknown(path, "mapped reference of "+d.of.Name, name, references)
		return
	}
	if d.owner.SystemClient != "" && f.Reference != "" {
		d.fail(d.at("system_client"), "found with client through %s: that of %s counts, expected none here", name, f.Reference)
	}
	through, target := &d.resource.Fields[f.Index], d.draftOf(f.Reference)
	switch {
	case f.ReferenceBy != "":
		d.fail(path, "%s refers to records of several resources, expected a reference to one, or the %s of the client's number", name, d.words().place)
	case f.Reference == "":
		d.fail(path, "%s refers to no record, expected a reference%s", name, d.doc.Suggest(path, name, references))
	case target == nil:
		d.fail(path, "%s refers to %s, which is not among resources", name, f.Reference)
	case d.unfit(through, target) != "":
		d.fail(path, "%s", d.unfit(through, target))
	case d.has(mapping.OpCreate) && (!f.Required || !through.writable):
		d.fail(path, "%s can be left out of a new %s, which would be nobody's: expected required: true, and a place that is written", name, d.of.Name)
	default:
		d.resource.Through = through
	}
}

// judgeSteps follows the references to the record that names a client.
func (d *draft) judgeSteps() {
	path, at, seen := d.at("client", "through"), d.resource, []*Resource{d.resource}
	for at.Through != nil {
		if at = at.Parent(); slices.Contains(seen, at) {
			d.fail(path, "found a circle: %s leads to %s again, and no client is found", d.of.Name, at.Name)
			return
		}
		seen = append(seen, at)
	}
	switch {
	case d.draftOf(at.Name).owner.Client.Through != "": // its own problem has been reported
	case at.IsShared() && d.inherited:
		d.resource.Through = nil // the records that contain it belong to all clients
	case at.IsShared():
		d.fail(path, "%s has no client itself, and does not tell whose the records are: expected its client first", at.Name)
	case at.SQL != nil: // the database reads the client together with the record, which may belong to all clients
		d.resource.SystemClient = at.SystemClient
	}
}

// judgeShared refuses a resource that has no client and is not declared as shared, if its
// records require references to records that have a client.
func (d *draft) judgeShared() {
	through := d.owner.Client.Through != ""
	if d.owner.Shared {
		switch {
		case d.resource.client != "" || through:
			d.fail(d.at("shared"), "found shared: true and a client, expected one of them")
		case d.resource.Service != nil && d.resource.Service.PerClient:
			d.fail(d.at("shared"), "found shared: true, and the walk, or the log-on, is of one client: expected none, the records are that client's")
		}
		return
	}
	if through || !d.resource.IsShared() {
		return
	}
	var owned []*mapping.Field
	for _, f := range mapping.Each(d.of.Fields) {
		target := d.draftOf(f.Reference)
		if f.ReferenceBy != "" {
			if i := slices.IndexFunc(d.drafts, func(o *draft) bool { return !o.resource.IsShared() }); i >= 0 {
				target = d.drafts[i]
			}
		}
		if (f.Required || slices.Contains(d.of.ListRequires, f.Name)) && f.Reference+f.ReferenceBy != "" && target != nil && !target.resource.IsShared() {
			owned = append(owned, f)
		}
	}
	if len(owned) == 0 {
		return
	}
	f := owned[max(0, slices.IndexFunc(owned, d.isOfContainer))]
	of, cure := "records that belong", "its "+d.words().place
	if f.Reference != "" {
		of, cure = f.Reference+", which belongs", fmt.Sprintf("client: {through: %s}, %s", f.Name, cure)
	}
	d.fail(d.at("client"), "%s has no client, but %s refers to %s to one: expected %s, {read: %s}, or shared: true where all clients are to see and change them",
		d.of.Name, f.Name, of, cure, strings.ToUpper(d.words().language))
}

// isOfContainer reports whether a reference is to the record that contains this one as an element.
func (d *draft) isOfContainer(f *mapping.Field) bool {
	target := d.model.Resource(f.Reference)
	return target != nil && slices.ContainsFunc(target.Fields, func(of mapping.Field) bool { return of.ArrayOf == d.of.Name && of.ArrayKey == f.Name })
}
