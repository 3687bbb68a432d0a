package check

import (
	"context"
	"fmt"
	"maps"
	"os"
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

// HTTP compares a sheet with what its service answers: all records, as the gateway walks them, some
// by themselves, and what is written. The zero client is that of the user who logs in.
func HTTP(ctx context.Context, s Service, client auth.Client, o Options) (*Report, error) {
	text, err := os.ReadFile(o.Sheet.File)
	if err != nil {
		return nil, err
	}
	if o.Rows <= 0 {
		o.Rows = defaultRows
	}
	c := &httpCheck{Options: o, Report: &Report{doc: outlined(o.Sheet.File, text), Left: leftOut(o, s), present: map[string]string{}}, service: s, client: client, text: string(text), censuses: censuses{}}
	c.listed(o.Sheet)
	c.rulesOff(o)
	c.unowned(o.Sheet)
	if user := c.login(ctx, s, o); client.ID == 0 {
		c.client = user
	}
	if c.client.ID == 0 {
		c.Looked = append(c.Looked, "nothing else was looked at: it is not known for which client")
		return c.Report, nil
	}
	if err := c.walks(ctx); err != nil {
		return nil, err
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

// httpCheck compares with a service.
type httpCheck struct {
	Options
	*Report
	service  Service
	client   auth.Client
	text     string // of the sheet
	censuses censuses
	failed   []string // resources that cannot be walked
}

// walks looks at all records, those that others belong to first.
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
			c.tell(c.Sheet.Resources[r], f)
		}
	}
	if c.Other.ID == 0 {
		return nil
	}
	return c.apart(ctx)
}

// depth is how many records tell whose a record of the resource is. Those that have no walk of their
// own come last: that of others may find them.
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
		return nil // within the records of another
	}
	c.show("map check: all records of %s", r.Name)
	all, err := c.census(ctx, r.Resource, c.client)
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if err != nil {
		c.failed = append(c.failed, r.Name)
		c.add(Error, "http.read", c.at(path, "walk"), "its records cannot be walked: "+maskedText(err.Error(), c.text), "mend walk, or log_on, as the message says")
	}
	for _, s := range slices.SortedFunc(maps.Values(all), func(a, b *census) int { return strings.Compare(a.Name, b.Name) }) {
		if s.Resource != r.Resource && c.Sheet.Resources[s.Resource].Service.Walk != nil {
			continue
		}
		c.censuses[s.Resource] = s
		for i := range s.fields {
			if s.read > 0 {
				c.present[ofField(s.Name, s.Fields[i].Name)] = fmt.Sprintf("in %d of %d", s.read-s.fields[i].absent, s.read)
			}
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

// at is a place of the sheet, or what it is in where the sheet does not have it.
func (c *httpCheck) at(path string, keys ...string) string {
	if full := strictyaml.Child(path, keys...); c.doc.Has(full) {
		return full
	}
	return path
}

// claims are the verdicts of what a census finds. {field} stands for the field, {place} for where
// the service has it, {why} for the first error.
var claims = map[claim]verdict{
	unshown:  {Error, "data.unfit", "of {all} record(s) cannot be shown, by {field}, and are left out of lists: {why}", "mend read, type, zero or empty of the field, or the records"},
	unlisted: {Error, "data.unknown-code", "of {all} record(s) have at {place} what the codes of {field} do not list, and are left out of lists", "list them under codes, or say unknown: \"null\"; the service's own answers show them"},
	empty: {Warning, "data.null", "of {all} record(s) have no {field}, which the interface requires: clients see none",
		"name the path that has it, mend the records, or have read say what is shown in its place"},
	missing:   {Warning, "http.path-missing", "record(s) came, and {place} is in none of them", "name the path that the service has, or leave the field out"},
	valueless: {Note, "http.valueless", "record(s) came, and the jq of {field} yields null for all of them", "see that it names what the service has"},
	tooLong:   {Note, "data.long", "of {all} record(s) have a longer {field} than the interface takes", "clients read it whole, but cannot write it back"},
	nobodys:   {Warning, "http.client-missing", "of {all} record(s) do not say whose they are, and are nobody's: {why}", "name the path that tells whose a record is, or have the service answer it"},
	others:    {Note, "http.others", "of {all} record(s) in the list of a client are another's, and are read past", "have the service leave them out: walks cost as much as all that it answers"},
	twice:     {Error, "http.twice", "of {all} record(s) came before with the same key", "name the whole key, as with _parent.id of what stands within other records; or have the service keep an order while its pages are read"},
	nowhere:   {Warning, "data.reference", "of {all} {field} lead to no record which their client sees", "clients are told of records that are not there: mend the records, or list what stands for none under zero"},
	atOnce:    {Warning, "http.paging", "record(s) came at once, and no page is asked for: so many are often not all", "say under walk.paging how pages are asked for, or leave it where these are all"},
	getFails:  {Error, "http.get", "of {all} record(s) of the list cannot be read by get: {why}", "mend get, or have it answer the client as the list does"},
	getDiffers: {Error, "http.get-differs", "of {all} record(s) that were read by get have another {field} there than in the list",
		"have both answer the same, or say what they show in jq"},
	listLacks:    {Error, "http.list-lacks", "of {all} record(s) have {field} by get, and none in the list: lists show null, and a filter by it finds nothing", "have the list answer it"},
	sinceFails:   {Error, "http.since", "record(s) came, and what has changed cannot be asked for: {why}", "mend walk.since as the message says: lists fail"},
	sinceMisses:  {Error, "http.since", "record, the one that was changed last, is not among what has changed since: clients are not told what changes", "mend what since sends, or type and time_zone of modified_at"},
	sinceIgnored: {Warning, "http.since", "record(s) are told that have not changed since the moment that is sent: every list costs a walk", "see how the service takes the moment, or leave since out"},
}

// tell words a finding.
func (c *httpCheck) tell(r *sheet.Resource, f found) {
	v, path, place := claims[f.what], strictyaml.Child("resources", r.Name), ""
	at := c.at(path, strings.Split(f.at, ".")...)
	field := r.Resource.Field(f.at)
	if field != nil {
		at, place = c.at(path, "fields", f.at), r.Service.Fields[field.Index].Read.String()
	}
	isAll := f.records == f.of
	switch {
	case f.what == missing && field.Required, (f.what == nobodys || f.what == others) && isAll:
		v.severity = Error
	case f.what == nowhere && isAll:
		v.severity, v.cure = Error, "name the path of the "+strings.TrimSuffix(field.Reference+" ", " ")+", or leave the field out"
	}
	why := ""
	if f.err != nil {
		why = hidden(f.err)
	}
	seen := strings.NewReplacer("{field}", f.at, "{place}", place, "{all}", fmt.Sprint(f.of), "{why}", why).Replace(v.seen)
	c.add(v.severity, v.rule, at, fmt.Sprintf("%d %s", f.records, seen), v.cure)
}

// apart walks as the other client as well, where calls name the client: the service must tell the two
// apart.
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
