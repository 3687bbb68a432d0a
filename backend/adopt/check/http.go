package check

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"frontdesk/auth"
	"frontdesk/backend"
	"frontdesk/backend/adopt/page"
	"frontdesk/backend/remote"
	"frontdesk/config/strictyaml"
	"frontdesk/mapping"
	"frontdesk/mapping/sheet"
)

// Service is an HTTP service as its sheet describes it: a *remote.Store.
type Service interface {
	backend.Driver
	backend.Supporter
	Probe(ctx context.Context, r *mapping.Resource, q backend.Query) (remote.Probed, error)
}

var _ Service = (*remote.Store)(nil)

// HTTP compares a sheet with the answers that its service gives to a client: a
// page of every resource, and where there are more records the next one; and to what
// else clients ask. The zero client is that of the user who logs in.
func HTTP(ctx context.Context, s Service, client auth.Client, o Options) (*Report, error) {
	doc, err := sheet.Outline(o.Sheet.File)
	if err != nil {
		return nil, err
	}
	if o.Rows <= 0 || o.Rows > mostOfPage {
		o.Rows = mostOfPage
	}
	c := &httpCheck{Options: o, Report: &Report{doc: doc, Left: leftOut(o, s), samples: map[string]map[string]page.Column{}}, service: s, client: client, ids: map[string]mapping.Value{}}
	c.listed(o.Sheet)
	c.rulesOff(o)
	c.quotedZones(o.Sheet)
	if user := c.login(ctx, s, o); client.ID == 0 {
		c.client = user
	}
	if c.client.ID == 0 {
		c.Looked = append(c.Looked, "nothing else was looked at: it is not known for which client")
		return c.Report, nil
	}
	for _, r := range inOrder(o.Sheet.Model) {
		if !s.Supports(r, mapping.OpList) {
			continue
		}
		o.show("map check: a page of %s", r.Name)
		if err := c.resource(ctx, r); err != nil {
			return nil, err
		}
	}
	if o.Other.ID == 0 {
		c.Looked = append(c.Looked, "no other client was asked for: whether one sees records of another was not looked at")
	}
	if err := ask(ctx, s, each([]auth.Client{c.client, o.Other}), c.Options, c.Report); err != nil {
		return nil, err
	}
	c.sort()
	return c.Report, nil
}

const mostOfPage = 100

type httpCheck struct {
	Options
	*Report
	service Service
	client  auth.Client
	ids     map[string]mapping.Value // of a record of each resource that has one
}

func (c *httpCheck) resource(ctx context.Context, r *mapping.Resource) error {
	path := strictyaml.Child("resources", r.Name)
	q := backend.Query{Client: c.client, Limit: c.Rows}
	for _, name := range r.ListRequires {
		f := r.Field(name)
		of := referredTo(f)
		v, ok := c.ids[of]
		if f.Check == "resource" {
			v, ok = mapping.TextValue("contact"), true
		}
		if !ok {
			c.Looked = append(c.Looked, fmt.Sprintf("%s: not looked at, there is no %s to ask for", r.Name, of))
			return nil
		}
		q.Filters = append(q.Filters, backend.Filter{Field: f, Value: v})
	}
	page, err := c.service.Probe(ctx, r, q)
	if err != nil {
		if ctx.Err() != nil {
			return err
		}
		c.add(Error, "http.read", path, "its list cannot be read: "+withCodes(err.Error()), "mend operations.list, or log_on")
		return nil
	}
	c.Looked = append(c.Looked, fmt.Sprintf("%s: %d record(s)", r.Name, page.Records))
	c.samples[r.Name] = samplesOf(page.Values)
	c.keyNumbers(c.Sheet.Resources[r], path, page.Values)
	for _, f := range page.Findings {
		c.found(path, f, page.Records)
	}
	if page.Records == 0 {
		c.add(Note, "http.empty", path, fmt.Sprintf("client %d has no %s, so that nothing was compared", c.client.ID, r.Name), "check with a client that has records")
		return nil
	}
	return c.paging(ctx, r, q, path)
}

// keyNumbers tells of kept keys that are numbers, and would go back as texts.
func (c *httpCheck) keyNumbers(r *sheet.Resource, path string, values map[string]sheet.Raw) {
	if r == nil || !r.Key.Kept {
		return
	}
	for _, place := range r.Key.Places {
		if kind := values[place].Kind; (kind == sheet.RawInt || kind == sheet.RawNumber) && !slices.Contains(r.Key.Numbers, place) {
			c.add(Note, "http.key-number", strictyaml.Child(path, "key"), place+" is a number, and is sent as a text in JSON", "say numbers: "+place+", unless the service takes texts too")
		}
	}
}

// found words what a probe found.
func (c *httpCheck) found(path string, f remote.Finding, n int) {
	known := c.Sheet.Resource(strings.TrimPrefix(path, "resources.")) // nil of an adapter
	switch {
	case f.Field == "" && f.Place != "" && known != nil && f.Place == known.Client:
		severity := Warning
		if f.Records == n {
			severity = Error
		}
		c.add(severity, "http.client-missing", strictyaml.Child(path, "client"), fmt.Sprintf("%s is missing, or no number, in %d of %d answers, which are nobody's", f.Place, f.Records, n),
			"name the path that tells whose a record is, or have the service answer it")
	case f.What == remote.PassedOver:
		c.add(Note, "http.passed-over", strictyaml.Child(path, "operations", "list"), fmt.Sprintf("%d of %d records of the list are hidden, or another client's, and are read past", f.Records, n),
			"have the service leave them out, by a condition in the list's query or filter: lists cost as much as all that it answers")
	case f.What == remote.Disordered:
		c.add(Error, "http.order", strictyaml.Child(path, "order"), "the list is not in the order of "+f.Place+", so that after leaves records out", "have the service list by it, or leave order out")
	case f.Field == "id":
		c.add(Error, "http.key-missing", strictyaml.Child(path, "key"), fmt.Sprintf("%s is in none of %d answers", f.Place, n), "name the path of the key")
	case f.Field == "" && f.Place == "":
		c.add(Error, "data.unfit", c.fieldIn(path, f.What), "a record does not convert: "+withCodes(f.What), "mend the conversion, list the code, or mend the record")
	case f.Field == "":
		c.add(Warning, "http.version-missing", strictyaml.Child(path, "version"), f.Place+": "+f.What, "name the path of the version, or leave version out")
	default:
		c.add(Warning, "http.path-missing", strictyaml.Child(path, "fields", f.Field), fmt.Sprintf("%s is in none of %d answers", f.Place, n),
			"name the path that the service has, or leave the field out")
	}
}

var fieldSaid = regexp.MustCompile(`\b[a-z]+\.([a-z0-9_]+): `)

// fieldIn is where the sheet has the field that a message names.
func (c *httpCheck) fieldIn(path, message string) string {
	if m := fieldSaid.FindStringSubmatch(message); m != nil {
		return strictyaml.Child(path, "fields", m[1])
	}
	return path
}

// paging reads two small pages, which must not have a record in common.
func (c *httpCheck) paging(ctx context.Context, r *mapping.Resource, q backend.Query, path string) error {
	const size = 2
	q.Limit, q.Total = size, true
	first, err := c.service.List(ctx, r, q)
	if err != nil {
		return c.unread(ctx, path, err)
	}
	if len(first.Records) > 0 {
		c.ids[r.Name] = first.Records[0].Values[r.ID]
		if err := c.get(ctx, r, first.Records[0], path); err != nil {
			return err
		}
	}
	if first.Total < int64(len(first.Records)) {
		c.add(Error, "http.total", strictyaml.Child(path, "operations", "list"), fmt.Sprintf("the number of all records is %d, and there are %d at least", first.Total, len(first.Records)), "mend operations.list.total")
	}
	if !first.More {
		return nil
	}
	q.Offset, q.Total = size, false
	next, err := c.service.List(ctx, r, q)
	if err != nil {
		return c.unread(ctx, path, err)
	}
	for _, rec := range next.Records {
		if slices.ContainsFunc(first.Records, func(other mapping.Record) bool { return other.ID() == rec.ID() }) {
			c.add(Error, "http.paging", strictyaml.Child(path, "operations"), "a record of the first page is on the second page too", "mend operations.list.paging, or have the service keep an order")
			return nil
		}
	}
	if len(next.Records) == 0 {
		c.add(Error, "http.paging", strictyaml.Child(path, "operations"), "there is a next page, and it is empty", "mend operations.list.paging")
	}
	return nil
}

// get reads a record of the list by itself: that answer must have what isolation
// needs as well.
func (c *httpCheck) get(ctx context.Context, r *mapping.Resource, listed mapping.Record, path string) error {
	if !c.service.Supports(r, mapping.OpGet) {
		return nil
	}
	got, err := c.service.Get(ctx, r, backend.Query{Client: c.client, ID: listed.ID()})
	switch {
	case err == nil:
		c.unlisted(r, listed, got, path)
	case ctx.Err() != nil:
		return err
	case errors.Is(err, backend.ErrNotFound):
		c.add(Error, "http.get", strictyaml.Child(path, "operations"), "a record of the list is not found by get, or whose it is is missing there", "mend operations.get, or have it answer the client as the list does")
	default:
		c.add(Error, "http.get", strictyaml.Child(path, "operations"), "a record of the list cannot be read by get: "+withCodes(err.Error()), "mend operations.get")
	}
	return nil
}

// unlisted tells of what the list leaves out and can be filtered by. What comes is judged
// by the filters that were sent, so that such a filter finds nothing.
func (c *httpCheck) unlisted(r *mapping.Resource, listed, got mapping.Record, path string) {
	for i := range r.Fields {
		if f := &r.Fields[i]; f.Filterable() && listed.Values[i].IsAbsent() && got.Values[i].IsSet() {
			c.add(Error, "http.filter-missing", strictyaml.Child(path, "fields", f.Name),
				"get answers it and list does not: a filter by "+f.Name+" finds nothing", "have the list answer it, or leave its filter out of the list's query")
		}
	}
}

func (c *httpCheck) unread(ctx context.Context, path string, err error) error {
	if ctx.Err() != nil {
		return err
	}
	if c.Count(Error) == 0 || !slices.ContainsFunc(c.Findings, func(f Finding) bool { return f.Severity == Error && strings.HasPrefix(f.Path, path) }) {
		c.add(Error, "http.read", path, "its list cannot be read: "+withCodes(err.Error()), "mend operations.list")
	}
	return nil
}
