package gateway

import (
	"slices"
	"strconv"
	"strings"

	"frontdesk/backend"
	"frontdesk/mapping"
)

// The sizes of a page.
const (
	defaultPageSize = 100
	maxPageSize     = 1000
	maxArraysPage   = 100 // of records with their arrays
)

// listParams returns the parameters of a list: the reserved names that the administration
// supports, and the filters of every field. A field with a reserved name cannot be filtered
// by.
func listParams(resource *mapping.Resource) []param {
	params := []param{
		{Field: mapping.Field{Name: "page", Type: mapping.Int4, Description: "Which page to answer, from 1, which it is where it is left out. It cannot be combined with after.", Example: "1"}, min: 1},
		pageSizeParam("How many records a page has; with arrays at most 100."),
		fieldsParam(resource),
		sortParam(resource),
		{Field: mapping.Field{Name: "modified_since", Type: mapping.Timestamp, Description: "Only records changed at that time or later.", Example: "2026-07-01T10:00:00.000Z"}},
		flag("total", "1 to have all matching records counted."),
		{Field: mapping.Field{Name: "after", Type: mapping.Int4, Description: "Only records with an id above this one, in the order of their ids: a faster way to read many pages than page. It cannot be combined with page or sort.", Example: "0"}},
	}
	taken := map[string]bool{}
	for _, p := range params {
		taken[p.Name] = true
	}
	params = slices.DeleteFunc(params, func(p param) bool { return p.Name == "modified_since" && resource.Undated })
	for _, f := range mapping.Each(resource.Fields) {
		if !taken[f.Name] {
			params = append(params, filterParams(resource, f)...)
		}
	}
	return params
}

// fieldsParam chooses which fields are answered.
func fieldsParam(resource *mapping.Resource) param {
	p := param{Field: mapping.Field{Name: fieldsName, Type: mapping.Varchar, Description: "The fields to answer, with commas between; all but arrays and, in lists, binary data where it is left out. They come in the order of the model.", Example: "id,modified_at"}}
	for _, f := range mapping.Each(resource.Fields) {
		p.choice = append(p.choice, f.Name)
	}
	return p
}

// sortParam chooses what a list is sorted by.
func sortParam(resource *mapping.Resource) param {
	p := param{choice: []string{}, before: "-?", Field: mapping.Field{Name: "sort", Type: mapping.Varchar, Description: "Fields to sort by, with commas between, the first one first; descending with a - in front. Records that are alike are sorted by id."}}
	for _, f := range mapping.Each(resource.Fields) {
		if f.Sortable() {
			p.choice = append(p.choice, f.Name)
			p.Example = "-" + f.Name
		}
	}
	if resource.Fields[resource.ModifiedAt].Sortable() {
		p.Example = "-modified_at"
	}
	return p
}

// parseList parses the query of a list.
func (g *Gateway) parseList(x *Exchange) mapping.Violations {
	x.Query.Limit = defaultPageSize
	v := contradicting(x)
	page := 1
	for _, p := range x.Params {
		var bad mapping.Violations
		switch p.Name {
		case "page":
			if page = parsePage(p.Value); page < 1 {
				bad = mapping.Violations{mapping.Fail(mapping.PageInvalid)}
			}
		case "page_size":
			bad = parsePageSize(x, p.Value)
		case fieldsName:
			x.Query.Fields, bad = parseFields(x)
		case "sort":
			bad = parseSort(x, p.Value)
		case "after":
			var after mapping.Value
			if after, bad = p.parse(mapping.Int4, nil); after.Int() < 0 {
				bad = mapping.Violations{mapping.Fail(mapping.Int4Invalid, mapping.Literal(p.Name), p.Value)}
			}
			x.Query.Keyset, x.Query.After = true, int32(after.Int())
		case "modified_since":
			x.Query.ModifiedSince, bad = p.parse(mapping.Timestamp, g.o.Location)
		case "total":
			x.Query.Total, bad = p.isOn()
		default:
			bad = g.parseFilter(x, p)
		}
		v = append(v, bad...)
	}
	if v == nil && x.Query.Limit > maxArraysPage && x.Endpoint.Resource.HasArray(x.Query.Fields) {
		v = pageSizeInvalid(maxArraysPage)
	}
	x.Query.Offset = (page - 1) * x.Query.Limit
	return v
}

// contradicting refuses page and sort together with after, which is for the default order.
func contradicting(x *Exchange) (v mapping.Violations) {
	for _, name := range [...]string{"page", "sort"} {
		if x.HasParam("after") && x.HasParam(name) {
			v = append(v, mapping.Fail(mapping.AfterCombined, mapping.Literal(name)))
		}
	}
	return v
}

// parsePage parses the number or the size of a page, an int4; 0 if it is invalid.
func parsePage(s string) int {
	n, err := strconv.ParseUint(s, 10, 31)
	if err != nil {
		return 0
	}
	return int(n)
}

func parsePageSize(x *Exchange, s string) mapping.Violations {
	if x.Query.Limit = parsePage(s); x.Query.Limit < 1 || x.Query.Limit > maxPageSize {
		return pageSizeInvalid(maxPageSize)
	}
	return nil
}

func pageSizeInvalid(most int) mapping.Violations {
	return mapping.Violations{mapping.Fail(mapping.PageSizeInvalid, most)}
}

func parseSort(x *Exchange, s string) mapping.Violations {
	var v mapping.Violations
	if s == "" {
		return nil
	}
	for name := range strings.SplitSeq(s, ",") {
		bare, descending := strings.CutPrefix(name, "-")
		f := x.Endpoint.Resource.Field(bare)
		if f == nil || !f.Sortable() {
			v = append(v, mapping.Fail(mapping.FieldNotInModel, bare))
			continue
		}
		x.namesField(f)
		// A field that was named before, and every field after the ID, has no effect.
		last := len(x.Query.Sort) - 1
		decided := last >= 0 && x.Query.Sort[last].Field.Primary ||
			slices.ContainsFunc(x.Query.Sort, func(o backend.Order) bool { return o.Field == f })
		if !decided {
			x.Query.Sort = append(x.Query.Sort, backend.Order{Field: f, Descending: descending})
		}
	}
	return v
}

// nextPage returns the address of the page after this one, "" where there is none:
// the same query, one page or one keyset further.
func (g *Gateway) nextPage(x *Exchange, page backend.Page) string {
	if !page.More || len(page.Records) == 0 {
		return ""
	}
	step, value := "page", strconv.Itoa(x.page()+1)
	if x.HasParam("after") {
		step, value = "after", strconv.Itoa(int(page.Records[len(page.Records)-1].ID()))
	}
	return g.publicPath + x.Endpoint.Path + x.queryWith(step, value)
}

// queryWith returns the query of the request with another value of one parameter.
func (x *Exchange) queryWith(name, value string) string {
	return "?" + encodeParams(append(x.paramsBut(name), Param{Name: name, Value: value}))
}

// page returns the requested page number.
func (x *Exchange) page() int { return x.Query.Offset/x.Query.Limit + 1 }
