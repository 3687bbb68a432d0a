package check

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
	"time"

	"frontdesk/auth"
	"frontdesk/backend"
	"frontdesk/backend/follow"
	"frontdesk/config/strictyaml"
	"frontdesk/mapping"
)

const (
	askTimeout = 30 * time.Second // of one question
	patience   = time.Minute      // with the questions about one resource
	pageSize   = 100              // records of a page
	mostPages  = 10               // in which a record is looked for
	mostTries  = 3                // values of a field to filter by
)

// asker makes the requests that clients will make, and compares the answers with records
// that it read before.
type asker struct {
	Options
	*Report
	client   *backend.Client
	driver   backend.Driver
	database Database       // nil for a service
	journal  follow.Journal // nil if the system has none
	clients  []auth.Client  // the first that has records is used
	// ids are the IDs of records, by client and resource.
	ids map[int64]map[string][]int64
}

// unreadable are the findings after which a resource is skipped: every question would fail
// for the same cause.
var unreadable = []string{"http.read", "sql.missing", "sql.statement", "data.unproved", "data.unfit", "data.unknown-code"}

// ask checks every resource that can be read.
func ask(ctx context.Context, driver backend.Driver, clients []auth.Client, o Options, report *Report) error {
	client, err := backend.NewClient(driver, o.Sheet.Model, backend.Options{Timeout: askTimeout, CircuitFailures: math.MaxInt32})
	if err != nil {
		return err
	}
	if len(clients) == 0 {
		clients = []auth.Client{{ID: 1}}
	}
	a := &asker{Options: o, Report: report, client: client, driver: driver, clients: clients, ids: map[int64]map[string][]int64{}}
	a.database, _ = driver.(Database)
	a.journal, _ = driver.(follow.Journal)
	for _, c := range clients {
		a.ids[c.ID] = map[string][]int64{}
	}
	for _, r := range inOrder(o.Sheet.Model) {
		path := strictyaml.Child("resources", r.Name)
		failed := slices.ContainsFunc(report.Findings, func(f Finding) bool {
			return f.Severity == Error && slices.Contains(unreadable, f.Rule) && (f.Path == path || strings.HasPrefix(f.Path, path+"."))
		})
		if !failed && a.supports(r, mapping.OpList) {
			a.resource(ctx, r, path)
		}
		if ctx.Err() != nil {
			return ctx.Err()
		}
	}
	return nil
}

// inOrder are the resources; those that lists of others require as filters come first.
func inOrder(m *mapping.Model) []*mapping.Resource {
	all := slices.Clone(m.Resources)
	slices.SortStableFunc(all, func(a, b *mapping.Resource) int { return len(a.ListRequires) - len(b.ListRequires) })
	return all
}

func (a *asker) supports(r *mapping.Resource, op mapping.Scope) bool {
	return a.client.Offer().Has(r, op)
}

// subject is the resource that is being checked, with records of one client from its list.
type subject struct {
	*asker
	*mapping.Resource
	path    string
	of      auth.Client
	base    []backend.Filter // the filters that its lists require
	records []mapping.Record
	until   time.Time
}

func (a *asker) resource(ctx context.Context, r *mapping.Resource, path string) {
	x := &subject{asker: a, Resource: r, path: path, until: time.Now().Add(patience)}
	x.show("map check: what clients ask of %s", r.Name)
	if err := x.begin(ctx); err != nil {
		x.add(Error, "ask.list", path, "its list cannot be read: "+x.refusal(err), "mend it as the message says")
		return
	}
	if len(x.records) == 0 {
		x.Looked = append(x.Looked, r.Name+": nothing was asked, since no client that was asked for has one")
		return
	}
	for _, rec := range x.records {
		a.ids[x.of.ID][r.Name] = append(a.ids[x.of.ID][r.Name], int64(rec.ID()))
	}
	x.outside()
	questions := []func(context.Context){x.others, x.writing}
	if a.database != nil { // a service's lists come from the copy
		questions = append([]func(context.Context){x.lists, x.plans, x.noted}, questions...)
	}
	for _, ask := range questions {
		if ctx.Err() == nil {
			ask(ctx)
		}
	}
	if x.isLate() {
		x.Looked = append(x.Looked, fmt.Sprintf("%s: not all was asked, it took longer than %s", r.Name, patience))
	}
}

// isLate reports whether the time for questions is up.
func (x *subject) isLate() bool { return time.Now().After(x.until) }

// mostParents is with how many records a list that requires one is tried.
const mostParents = 10

// required are the filters that a list requires, one set for each known ID that they can
// refer to. The copy of a service's records requires none.
func (a *asker) required(r *mapping.Resource, ids map[string][]int64) (tries [][]backend.Filter) {
	tries = [][]backend.Filter{nil}
	if a.database == nil {
		return tries
	}
	for _, name := range r.ListRequires {
		f := r.Field(name)
		var values []mapping.Value
		of := referredTo(f)
		for _, id := range ids[of][:min(len(ids[of]), mostParents)] {
			values = append(values, mapping.IntValue(id))
		}
		if f.Check == "resource" {
			values = []mapping.Value{mapping.TextValue("contact")}
		}
		var longer [][]backend.Filter
		for _, v := range values {
			for _, try := range tries {
				longer = append(longer, append(slices.Clone(try), backend.Filter{Field: f, Value: v}))
			}
		}
		tries = longer
	}
	return tries
}

// referredTo is the resource that a field refers to; contact, if it can be one of several.
func referredTo(f *mapping.Field) string {
	if f.ReferenceBy != "" {
		return "contact"
	}
	return f.Reference
}

// list reads a page of the client's list.
func (x *subject) list(ctx context.Context, q backend.Query, more ...backend.Filter) (backend.Page, error) {
	if q.Client.ID == 0 {
		q.Client = x.of
	}
	q.Filters = append(slices.Clone(x.base), more...)
	q.Limit = cmp.Or(q.Limit, pageSize)
	return x.client.List(ctx, x.Resource, q)
}

// begin reads the records that the questions are about: those of the first client that has some.
func (x *subject) begin(ctx context.Context) error {
	for _, x.of = range x.clients {
		for _, x.base = range x.required(x.Resource, x.ids[x.of.ID]) {
			for {
				page, err := x.list(ctx, backend.Query{Offset: len(x.records)})
				if err != nil {
					return err
				}
				x.records = append(x.records, page.Records...)
				if !page.More || len(page.Records) == 0 || len(x.records) >= x.Rows {
					break
				}
			}
			if len(x.records) > 0 {
				return nil
			}
		}
	}
	return nil
}

// ofField is where the sheet says something of a field.
func (x *subject) ofField(f *mapping.Field) string { return ofField(x.Name, f.Name) }

// ofField is where the sheet says something of a field.
func ofField(resource, field string) string {
	return strictyaml.Child("resources", resource, "fields", field)
}

// refusal is what a client would be refused with, without values.
func (x *subject) refusal(err error) string {
	violations, ok := mapping.AsViolations(err)
	if !ok {
		return hidden(err)
	}
	reasons := map[string]bool{}
	for _, v := range violations {
		reason := string(v.Reason)
		if len(v.Args) > 0 && x.Field(v.Args[0]) != nil {
			reason += " of " + v.Args[0]
		}
		if cause := errors.Unwrap(v); cause != nil {
			reason += ": " + hidden(cause)
		}
		reasons[reason] = true
	}
	return strings.Join(slices.Sorted(maps.Keys(reasons)), "; ")
}
