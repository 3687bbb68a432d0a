package sheet

import (
	"slices"
	"strconv"

	"frontdesk/mapping"
)

// parent is the member by which jq and paths of elements reach the record that contains them.
const parent = "_parent"

// httpDraft is a resource of a service while it is compiled.
type httpDraft struct {
	*draft
	http   *httpLoader
	file   httpResourceFile
	out    *ServiceResource
	places map[string]*ServiceField // by field
	calls  map[mapping.Scope]*ServiceCall
	walked []*call // the calls of walk and since
	whose  spotFile
	// sinceAt is the path of since in the sheet.
	sinceAt string
}

// ofService returns the service's part of a draft; nil for nil.
func ofService(d *draft) *httpDraft {
	if d == nil {
		return nil
	}
	return d.own.(*httpDraft)
}

// resources returns the names of the resources, and finds which records are within others.
func (l *httpLoader) resources() []string {
	files := l.file.Resources
	l.within = map[string]string{}
	for name, file := range files {
		r := l.model.Resource(name)
		if r == nil {
			continue
		}
		if file.Fields == nil {
			file.Fields = l.ownNames(r)
			files[name] = file
		}
		for name, f := range file.Fields {
			if of := r.Field(name); of != nil && of.Type == mapping.Array && (f.Path != nil || f.Read != nil) {
				l.within[of.ArrayOf] = of.ArrayKey
			}
		}
	}
	return sortedKeys(files)
}

// ownNames returns the default for fields: each is at the member of its own name. The elements of an array
// are there too, unless their resource has a path or walk.
func (l *httpLoader) ownNames(r *mapping.Resource) map[string]httpFieldFile {
	all := map[string]httpFieldFile{}
	for _, f := range mapping.Each(r.Fields) {
		var at httpFieldFile
		of, mapped := l.file.Resources[f.ArrayOf]
		switch {
		case f.Primary, f.Type == mapping.Array && !mapped:
			continue
		case f.Type == mapping.Array && (of.Path != nil || of.Walk != nil):
			at.Readonly = true
		default:
			at.Path = Path{f.Name}
		}
		all[f.Name] = at
	}
	return all
}

func (l *httpLoader) resource(d *draft) own {
	h := &httpDraft{draft: d, http: l, file: l.file.Resources[d.of.Name], out: &ServiceResource{}, places: map[string]*ServiceField{}, calls: map[mapping.Scope]*ServiceCall{}}
	d.owner, d.resource.Service = &h.file.ownerFile, h.out
	if key := l.within[d.of.Name]; key != "" && !d.owner.Client.given && !d.owner.Shared {
		d.owner.Client, d.inherited = whoseFile{given: true, throughFile: throughFile{key}}, true
	}
	for name := range h.file.Fields {
		h.places[name] = &ServiceField{}
	}
	return h
}

// key compiles the key, client and version of records.
func (d *httpDraft) key() {
	r, key, at := d.resource, d.file.Key, d.at("key")
	d.out.Key = key.Path
	if key.Read != nil {
		d.out.Key = append(d.out.Key, Spot{JQ: key.Read})
	}
	for _, part := range d.out.Key {
		r.Key.Places = append(r.Key.Places, part.String())
		if part.Path != nil && part.Path[0] == parent && d.http.within[d.of.Name] == "" {
			d.fail(d.http.keyPath([]string{at, d.path}, "path"), "found %s, which elements within a record have: expected a path in the record itself", parent)
		}
	}
	switch {
	case len(key.Path) > 0 && key.Read != nil:
		d.fail(at, "found path and read, expected one of them")
	case len(d.out.Key) == 0:
		d.fail(at, "missing, expected the path that identifies a record")
	}
	d.keyID("path", "part", key.ID, key.Case, len(key.Path))
	d.whose = d.draft.whose()
	d.out.Client = d.http.spot(d.whose)
	d.out.Version, d.out.Select = d.http.spot(d.file.Version), d.file.Select
}

// operations compiles the operations that the service has.
func (d *httpDraft) operations() {
	f := &d.file
	if d.list() {
		d.resource.Operations[mapping.OpList] = true
	}
	keyed, writes := d.keyNames(), append(known{"record.*"}, d.valueNames()...)
	if c := &f.Get.ServiceCall; d.operation(mapping.OpGet, c, "GET", keyed...) {
		c.NotFound = d.http.match(d.at("get", "not_found"), f.Get.NotFound, "")
		d.out.Get = c
	}
	if f.Version.given() {
		keyed = append(keyed, "version")
	}
	if c := &f.Update.ServiceCall; d.operation(mapping.OpUpdate, c, "PATCH", slices.Concat(keyed, writes)...) {
		c.NotFound = d.http.match(d.at("update", "not_found"), f.Update.NotFound, "")
		c.Nothing, c.Whole = f.Update.Nothing, c.Method == "PUT"
		if f.Update.Whole != nil {
			c.Whole = *f.Update.Whole
		}
		d.out.Update = c
		d.needsBody("update", c)
	}
	d.create(&f.Create, append(writes, "idempotency_key"))
	if c := (&ServiceCall{call: f.Delete.call}); d.operation(mapping.OpDelete, c, "DELETE", keyed...) {
		c.NotFound = d.http.match(d.at("delete", "not_found"), f.Delete.NotFound, "")
		d.out.Delete = c
	}
	if len(d.resource.Operations) == 0 && !d.doc.Broken(d.path) {
		d.fail(d.path, "found nothing that can be called, expected path: /…, where the records are")
	}
}

// list reports whether the resource has lists, and compiles the walk that they need.
func (d *httpDraft) list() bool {
	f, named := d.file, d.names(mapping.OpList)
	base, inner := d.http.service.Walk, d.http.within[d.of.Name]
	hasPath := f.Path != nil || f.Walk != nil && f.Walk.Path != nil || base != nil && base.Path != nil
	switch {
	case !named && f.Walk != nil:
		d.fail(d.at("walk"), "list is not among operations, expected it there")
		return false
	case !named:
		return false
	case f.Walk != nil && inner != "":
		d.fail(d.at("walk"), "the records stand within those of %s, whose walk finds them: expected no walk here, or {} in place of their path there", inner)
	case f.Walk == nil && (inner != "" || !hasPath):
		if inner == "" && len(f.Operations.Only) > 0 {
			d.fail(d.at("operations", "only"), "list has no path, expected path: /… of the resource, or of walk")
		}
		return inner != ""
	}
	d.walk()
	return true
}

// operation compiles the call of an operation; false if there is none. Its default path is the resource's
// path, followed by the key except for create.
func (d *httpDraft) operation(op mapping.Scope, c *ServiceCall, method string, names ...string) bool {
	at, named := d.at(string(op)), d.names(op)
	described := d.doc.Has(at)
	if described && !named {
		d.fail(at, "%s is not among operations, expected it there", op)
	}
	if c.Path == nil && d.file.Path != nil {
		if c.Path = d.file.Path; op != mapping.OpCreate {
			c.Path = slices.Concat(c.Path, Text{{Literal: "/"}, {Path: Path{"key"}}})
		}
	}
	switch {
	case !named:
		return false
	case c.Path == nil && !described:
		if len(d.file.Operations.Only) > 0 {
			d.fail(d.at("operations", "only"), "%s has no path, expected path: /… of the resource, or of %[1]s", op)
		}
		return false
	}
	d.http.call(&c.call, method, d.http.knows(append([]string{"client.id", "client.name"}, names...)...), at, d.path)
	d.calls[op], d.resource.Operations[op] = c, true
	return true
}

// create compiles the call that creates a record.
func (d *httpDraft) create(f *createFile, knows known) {
	c := &f.ServiceCall
	if !d.operation(mapping.OpCreate, c, "POST", knows...) {
		return
	}
	c.Nothing, c.Key = f.Nothing, f.Key
	d.out.Create = c
	d.needsBody("create", c)
	if len(f.Key) > 0 && len(f.Key) != len(d.out.Key) {
		d.fail(d.at("create", "key"), "found %s, expected one for each part of the key: %s", count(len(f.Key), "path"), count(len(d.out.Key), "path"))
	}
	if f.Nothing && len(f.Key) == 0 {
		d.fail(d.at("create", "nothing"), "found where the key of a new %s comes from the answer: expected key too, or none", d.of.Name)
	}
	if !d.has(mapping.OpGet) && (f.Nothing || len(f.Key) > 0) {
		d.fail(d.at("create"), "the answer is not the record, which is then read again: expected get among the operations")
	}
}

// needsBody requires a body for XML, which has no default.
func (d *httpDraft) needsBody(op string, c *ServiceCall) {
	if d.http.service.XML && c.Body == nil {
		d.fail(d.at(op), "body is missing, expected jq that yields JsonML: [\"record\", [\"name\", .value.name], …]")
	}
}

// keyNames returns the names of the key's parts in a call.
func (d *httpDraft) keyNames() known {
	if len(d.out.Key) < 2 {
		return known{"key"}
	}
	var all known
	for i := range d.out.Key {
		all = append(all, "key."+strconv.Itoa(i))
	}
	return all
}

// valueNames returns the names in a call of the fields as clients see them.
func (d *httpDraft) valueNames() (all known) {
	for _, f := range d.mapped {
		if f.writable || f.Type == mapping.Array {
			name := "value." + f.Name
			if f.Type == mapping.Array {
				name += ".*"
			}
			all = append(all, name)
		}
	}
	return all
}

// namesClient reports whether the calls name the client, so that they answer only its records.
func (d *httpDraft) namesClient() bool {
	by := d.walked
	if get := d.calls[mapping.OpGet]; len(by) == 0 && get != nil {
		by = []*call{&get.call}
	}
	return d.http.perClient || slices.ContainsFunc(by, func(c *call) bool { return c.Names("client") })
}

// related sets PerClient of the resources whose calls name the client.
func (l *httpLoader) related() {
	for _, of := range l.drafts {
		if d := ofService(of); d.namesClient() {
			d.isPerClient()
		}
	}
}

// isPerClient sets PerClient of the resource, and of those whose records are within its records.
func (d *httpDraft) isPerClient() {
	d.out.PerClient = true
	for _, f := range d.mapped {
		if of := ofService(d.draftOf(f.ArrayOf)); of != nil && !d.places[f.Name].Elements.IsZero() && !of.out.PerClient {
			of.isPerClient()
		}
	}
}

// bind assigns the places to the fields of the narrowed model.
func (d *httpDraft) bind() {
	d.out.Fields = bound(d.resource, d.places, func(f *ServiceField) *Conversion { return &f.Conversion })
}

// unfit returns why a reference cannot identify the client of a record; "" if it can.
func (d *httpDraft) unfit(through *Field, target *draft) string {
	switch {
	case d.places[through.Name].Read.IsZero():
		return through.Name + " is a constant, expected a reference with path, or read"
	case !target.has(mapping.OpGet) && !target.has(mapping.OpList):
		return through.Reference + " is to tell whose the records are, and cannot be read: expected get or list among the operations of " + through.Reference
	}
	return ""
}
