package check

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"frontdesk/auth"
	"frontdesk/backend"
	"frontdesk/backend/remote"
	"frontdesk/config/strictyaml"
	"frontdesk/mapping"
	"frontdesk/mapping/sheet"
)

// Service is an HTTP service behind its sheet: a *remote.Driver that looks closely.
type Service interface {
	backend.Driver
	backend.Supporter
	Walk(ctx context.Context, r *mapping.Resource, client auth.Client, since *string, each func([]remote.Seen)) error
	Read(ctx context.Context, r *mapping.Resource, client auth.Client, id int32) (remote.Seen, error)
	Target(f *mapping.Field, rec mapping.Record) *mapping.Resource
}

var _ Service = (*remote.Driver)(nil)

// HTTP compares a sheet with the answers of its service: to walks over all records, to reads of single
// records, and to writes. The zero client stands for that of the user who logs in.
func HTTP(ctx context.Context, s Service, client auth.Client, o Options) (*Report, error) {
	report, err := begin(&o, s)
	if err != nil {
		return nil, err
	}
	defer report.sort()
	c := &httpCheck{Options: o, Report: report, service: s, client: client, censuses: censuses{}}
	c.headers()
	if user := c.login(ctx, s, o); client.ID == 0 {
		c.client = user
	}
	if c.client.ID == 0 {
		c.Looked = append(c.Looked, "nothing else was looked at: it is not known for which client")
		return report, nil
	}
	if err := c.walks(ctx); err != nil {
		return nil, err
	}
	if o.Other.ID == 0 {
		c.Looked = append(c.Looked, "no other client was asked for: whether one sees records of another was not looked at")
	}
	return report, ask(ctx, s, each([]auth.Client{c.client, o.Other}), o, report)
}

// httpCheck compares with a service.
type httpCheck struct {
	Options
	*Report
	service  Service
	client   auth.Client
	censuses censuses
	failed   []string // resources that cannot be walked
}

// headers adds findings for calls without a header that most of their kind send, such as If-Match:
// without it updates are lost silently.
func (c *httpCheck) headers() {
	for op, of := range map[mapping.Scope]func(*sheet.ServiceResource) *sheet.ServiceCall{
		mapping.OpCreate: func(s *sheet.ServiceResource) *sheet.ServiceCall { return s.Create },
		mapping.OpUpdate: func(s *sheet.ServiceResource) *sheet.ServiceCall { return s.Update },
		mapping.OpDelete: func(s *sheet.ServiceResource) *sheet.ServiceCall { return s.Delete },
	} {
		calls, senders := map[string]*sheet.ServiceCall{}, map[string]int{}
		for _, r := range c.Sheet.Resources {
			if call := of(r.Service); call != nil {
				calls[r.Name] = call
				for _, h := range call.Headers {
					senders[h.Name]++
				}
			}
		}
		for name, call := range calls {
			for header, n := range senders {
				if 2*n > len(calls) && !slices.ContainsFunc(call.Headers, func(h sheet.Named) bool { return h.Name == header }) {
					c.add(Warning, "http.header", c.at(strictyaml.Child("resources", name), string(op)), fmt.Sprintf("%s sends no %s, as %d of %d do", op, header, n, len(calls)), "say it under headers, or leave it where the service does not ask for it here")
				}
			}
		}
	}
}

// walks walks all resources, those that others belong to first.
func (c *httpCheck) walks(ctx context.Context) error {
	all := slices.Clone(c.Sheet.Model.Resources)
	slices.SortStableFunc(all, func(a, b *mapping.Resource) int { return c.depth(a) - c.depth(b) })
	for _, r := range all {
		if err := c.walk(ctx, c.Sheet.Resources[r]); err != nil {
			return err
		}
	}
	for _, r := range all {
		s := c.censuses[r]
		if s == nil {
			continue
		}
		lost := slices.DeleteFunc(c.censuses.nowhere(s), func(f found) bool { return slices.Contains(c.failed, r.Field(f.at).Reference) })
		for _, f := range append(s.found, lost...) {
			c.report(c.Sheet.Resources[r], f)
		}
	}
	if c.Write.ID != 0 && c.isStranger() {
		c.add(Error, "http.empty", "client", fmt.Sprintf("the client %q has no record of any resource: nothing was written", c.client.Name), "name with --client one that the service has, as the service has it")
	}
	if c.Other.ID == 0 {
		return nil
	}
	return c.apart(ctx)
}

// isStranger reports whether there are records, but none of the client.
func (c *httpCheck) isStranger() bool {
	others := false
	for _, s := range c.censuses {
		if s.clients[c.client.ID] != nil {
			return false
		}
		others = others || s.records > 0 && s.clients[0] == nil
	}
	return others
}

// depth is over how many references a record of the resource has its client. Resources without a walk
// of their own come last: walks of others may find them.
func (c *httpCheck) depth(r *mapping.Resource) (n int) {
	if c.Sheet.Resources[r].Service.Walk == nil {
		n = len(c.Sheet.Resources)
	}
	for of := c.Sheet.Resources[r].Parent(); of != nil && n < 2*len(c.Sheet.Resources); of = of.Parent() {
		n++
	}
	return n
}

func (c *httpCheck) walk(ctx context.Context, r *sheet.Resource) error {
	path := strictyaml.Child("resources", r.Name)
	if p := r.Parent(); p != nil && slices.Contains(c.failed, p.Name) {
		c.failed = append(c.failed, r.Name)
		c.Looked = append(c.Looked, fmt.Sprintf("%s: not looked at, since not every %s is known that they belong to", r.Name, p.Name))
		return nil
	}
	if c.censuses[r.Resource] != nil {
		return nil // its records are within those of another
	}
	c.show("map check: all records of %s", r.Name)
	all, err := c.census(ctx, r.Resource, c.client)
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if err != nil {
		c.failed = append(c.failed, r.Name)
		c.add(Error, "http.read", c.at(path, "walk"), "its records cannot be walked: "+c.words(err), "mend walk, or log_on, as the message says")
	}
	for _, s := range slices.SortedFunc(maps.Values(all), func(a, b *census) int { return strings.Compare(a.Name, b.Name) }) {
		if s.Resource != r.Resource && c.Sheet.Resources[s.Resource].Service.Walk != nil {
			continue
		}
		c.censuses[s.Resource] = s
		for name, kinds := range s.members {
			slices.Sort(kinds)
			c.uses(s.Name, name, strings.Join(kinds, ", "))
		}
		switch {
		case err != nil:
		case s.has(c.client.ID):
			c.Looked = append(c.Looked, fmt.Sprintf("%s: all %d record(s), of %d client(s)", s.Name, s.records, len(s.clients)))
		default:
			c.Looked = append(c.Looked, fmt.Sprintf("%s: all %d record(s)", s.Name, s.records))
			c.add(Note, "http.empty", strictyaml.Child("resources", s.Name), fmt.Sprintf("client %d has none of %d %s", c.client.ID, s.records, s.Name), "check with a client that has records")
		}
	}
	return nil
}

// apart walks as the other client as well, if calls name the client: the service must distinguish the
// two.
func (c *httpCheck) apart(ctx context.Context) error {
	type same struct {
		of, path string
		n, all   int
	}
	var found []same
	differ := false
	for _, r := range c.Sheet.Model.Resources {
		of, mine, path := c.Sheet.Resources[r], c.censuses[r], strictyaml.Child("resources", r.Name)
		if of.Service.Walk == nil || !of.Service.PerClient || c.doc.Has(strictyaml.Child(path, "shared")) || mine == nil || slices.Contains(c.failed, r.Name) {
			continue
		}
		all, err := c.census(ctx, r, c.Other)
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if err != nil {
			c.add(Error, "ask.isolation", c.at(path, "walk"), fmt.Sprintf("its records cannot be walked for client %d: %s", c.Other.ID, hidden(err)), "mend it as the message says")
			continue
		}
		n, theirs := mine.alike(all[r]), all[r].records
		if n > 0 {
			found = append(found, same{r.Name, path, n, mine.records})
		}
		differ = differ || n < max(mine.records, theirs)
	}
	for _, f := range found {
		severity, cure := Note, "say shared: true where they are the same for all clients; where each client has records of its own that are alike, all is well"
		if !differ {
			severity, cure = Error, "see that the client which calls name does what it should: the service answers both the same, whatever is asked"
		}
		c.add(severity, "ask.isolation", c.at(f.path, "walk"), fmt.Sprintf("%d of %d record(s) of client %d are client %d's as well, letter by letter", f.n, f.all, c.client.ID, c.Other.ID), cure)
	}
	return nil
}
