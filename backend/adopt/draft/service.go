package draft

import (
	"fmt"
	"net/http"
	"path"
	"slices"
	"strings"

	"frontdesk/backend/legacy"
)

// Sample is an answer of a service: a list of records, or one of them.
type Sample struct {
	Path   string // that was asked for
	Body   []byte // JSON
	Header http.Header
	// Sorts tells that the service was asked by sort=member and sort=-member, as JSON:API has
	// it, and obeyed.
	Sorts bool
}

// service is an HTTP service, as far as its answers or its description tell.
type service struct {
	endpoints map[*table]*endpoint
	// access is how calls say who asks, as lines of the sheet; "" where nothing tells.
	access string
	login  *login // nil where nothing tells who may log in
}

// endpoint is where the records of one kind are.
type endpoint struct {
	list, get              string // paths, with {key}; "" for none
	create, update, delete string
	method                 string // of update
	result                 string // path of the list in its answer; "" for the answer itself
	query                  []setting
	paging, total          string // as the sheet says them; "" for none
	// parent is the parameter of the path with the record that those of the list belong to.
	parent  string
	filters map[string]string // columns by which it can be filtered, with their parameters
	todo    []string
	style   *style // nil where nothing tells it
	// types are those of its records, of JSON:API, and of what these refer to, by their places.
	types map[string]string
	// expression is the parameter that takes an expression, where the style leaves it open.
	expression string
	// sorts tells that it was seen to sort as JSON:API has it.
	sorts bool
}

// hear takes what is known of a service for tables and columns.
func (d *drafter) hear(o Options) error {
	d.source.Engine = "http"
	d.http = &service{endpoints: map[*table]*endpoint{}}
	if o.OpenAPI != nil {
		if err := d.describe(o.OpenAPI); err != nil {
			return fmt.Errorf("read the OpenAPI file: %w", err)
		}
	}
	for _, s := range o.Samples {
		if err := d.sampleOf(s); err != nil {
			return fmt.Errorf("read %s: %w", s.Path, err)
		}
	}
	d.refer()
	return nil
}

// addEndpoint makes a table of what there is at a path; that which is there already where it
// was described before.
func (d *drafter) addEndpoint(at string) (*table, *endpoint) {
	for t, e := range d.http.endpoints {
		if e.list == at {
			return t, e
		}
	}
	name := nameOf(at)
	t := &table{Table: &legacy.Table{Name: name}, parts: d.words.split(name)}
	e := &endpoint{list: at, filters: map[string]string{}}
	d.tables = append(d.tables, t)
	d.http.endpoints[t] = e
	return t, e
}

// nameOf is what is asked for at a path: its last step that says something, with that of
// what it belongs to.
func nameOf(at string) string {
	var steps []string
	for _, step := range strings.Split(strings.TrimSuffix(at, path.Ext(at)), "/") {
		if step != "" && !slices.Contains([]string{"records", "items", "list", "search", "all", "query", "api", "rest", "odata", "collections"}, strings.ToLower(step)) {
			steps = append(steps, step)
		}
	}
	if len(steps) == 0 {
		return at
	}
	name := steps[len(steps)-1]
	if n := len(steps); n > 2 && strings.HasPrefix(steps[n-2], "{") {
		name = strings.TrimSuffix(steps[n-3], "s") + "_" + name
	}
	return name
}

// setColumn returns the column of a table, which is made where there is none.
func (d *drafter) setColumn(t *table, name string) *column {
	if c := t.column(name); c != nil {
		return c
	}
	c := &column{Column: &legacy.Column{Name: name}, of: t, parts: d.words.split(lastWords(name))}
	t.columns = append(t.columns, c)
	return c
}

// containers are steps of a path that say nothing of what is there.
var containers = []string{"attributes", "relationships", "data", "fields", "properties"}

// lastWords are those steps of a path that say what is there: customer.id is the customer's,
// and person.birthDate a birth date.
func lastWords(name string) string {
	steps := strings.Split(name, ".")
	last := steps[len(steps)-1]
	steps = append(slices.DeleteFunc(steps[:len(steps)-1], func(step string) bool { return slices.Contains(containers, step) }), last)
	if n := len(steps); n > 1 && slices.Contains([]string{"id", "name", "number", "code", "value", "amount", "date"}, strings.ToLower(last)) {
		return steps[n-2] + "_" + last
	}
	return last
}

// guessKey finds the place that identifies a record.
func (t *table) guessKey() []string {
	for _, is := range []func(*column) bool{
		func(c *column) bool { return strings.EqualFold(c.Name, "id") || c.Name == "_id" },
		func(c *column) bool { return c.has("id") && len(c.parts) == 1 },
		func(c *column) bool {
			return c.has("id", "number", "code") && slices.ContainsFunc(c.parts, func(p part) bool {
				return slices.ContainsFunc(p.ideas, func(i string) bool { return hasIdea(t.parts, i) })
			})
		},
		func(c *column) bool { return c.has("number", "code", "id") },
	} {
		for _, c := range t.columns {
			if is(c) && (c.sort == sortText || c.sort == sortInteger) && c.different() {
				return []string{c.Name}
			}
		}
	}
	return nil
}

// different tells whether no two records that were seen have the same value.
func (c *column) different() bool {
	seen := map[string]bool{}
	for _, v := range c.values {
		if v == "" || seen[v] {
			return false
		}
		seen[v] = true
	}
	return true
}

// writes tells whether the service is known to take records of it.
func (m *match) writes() bool { return m.endpoint != nil && m.endpoint.create+m.endpoint.update != "" }

// The names by which services take and tell the parts of a list, in small letters and
// without marks.
var (
	limits   = []string{"limit", "perpage", "pagesize", "size", "top", "count", "maxresults", "rows"}
	offsets  = []string{"offset", "skip", "start", "startindex"}
	pages    = []string{"page", "pagenumber", "pageno", "currentpage"}
	cursors  = []string{"cursor", "nextcursor", "pagetoken", "nextpagetoken", "after", "startingafter", "continuationtoken"}
	nexts    = []string{"next", "nextpage", "nextlink", "nexturl", "odatanextlink"}
	totals   = []string{"total", "totalcount", "totalitems", "totalrecords", "totalresults", "totalelements", "count", "odatacount", "recordstotal"}
	changes  = []string{"updatedsince", "modifiedsince", "changedsince", "updatedafter", "modifiedafter", "since", "ifmodifiedsince", "updatedfrom", "modifiedfrom"}
	headings = []string{"X-Total-Count", "X-Total", "Total-Count", "X-Pagination-Total-Count", "X-WP-Total"}
)

// bare is a name in small letters and without marks.
func bare(name string) string {
	return strings.Map(func(r rune) rune {
		if !isLetter(r) && !isDigit(r) {
			return -1
		}
		return r
	}, strings.ToLower(name))
}

// is tells whether a name is one of a kind.
func is(name string, kind []string) bool { return slices.Contains(kind, bare(name)) }
