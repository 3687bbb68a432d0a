package gateway

import (
	"math"
	"net/url"
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
)

// reserved are the parameters of GET many; a field of such a name cannot be
// filtered by.
var reserved = [...]string{"page", "page_size", "fields", "sort", "modified_since", "total", "after"}

// listParams takes the reserved names and every field that can be a filter.
func listParams(resource *mapping.Resource) func(string) bool {
	known := map[string]bool{}
	for i := range resource.Fields {
		if f := &resource.Fields[i]; f.Filterable() && !f.Primary {
			known[f.Name] = true
		}
	}
	for _, name := range reserved {
		known[name] = true
	}
	return func(name string) bool { return known[name] }
}

// parseList reads what a list is asked for.
func (g *Gateway) parseList(x *Exchange) mapping.Violations {
	resource := x.Endpoint.Resource
	if v := contradicting(x); v != nil {
		return v
	}
	if v := required(x, resource.ListRequires...); v != nil {
		return v
	}
	x.Query.Limit = defaultPageSize
	var v mapping.Violations
	add := func(found mapping.Violations) { v = append(v, found...) }
	page := 1
	for _, p := range x.Params {
		switch p.Name {
		case "page":
			page = parsePage(p.Value)
			if page < 1 {
				add(mapping.Violations{mapping.Fail(mapping.PageInvalid)})
			}
		case "page_size":
			add(parsePageSize(x, p.Value))
		case "fields":
			var unknown mapping.Violations
			x.Query.Fields, unknown = parseFields(x, false)
			add(unknown)
		case "sort":
			add(parseSort(x, p.Value))
		default:
			add(g.parseFilter(x, p))
		}
	}
	x.Query.Offset = (page - 1) * x.Query.Limit
	return v
}

// contradicting refuses what keyset paging takes the place of.
func contradicting(x *Exchange) mapping.Violations {
	var v mapping.Violations
	if !x.HasParam("after") {
		return nil
	}
	if x.HasParam("page") {
		v = append(v, mapping.Fail(mapping.QueryUnsupported, "page"))
	}
	if sort := x.Param("sort"); sort != "" && sort != "id" {
		v = append(v, mapping.Fail(mapping.QueryUnsupported, "sort"))
	}
	return v
}

// maxPage keeps a page's offset within what a database can count to.
const maxPage = math.MaxInt32

// parsePage reads a page number; 0 where it is none.
func parsePage(s string) int {
	n, err := strconv.ParseUint(s, 10, 64)
	if err != nil && strings.Trim(s, "0123456789") != "" {
		return 0
	}
	return int(min(n, maxPage))
}

func parsePageSize(x *Exchange, s string) mapping.Violations {
	n, err := strconv.ParseUint(s, 10, 31)
	if err != nil || n < 1 || n > maxPageSize {
		return mapping.Violations{mapping.Fail(mapping.PageSizeInvalid)}
	}
	x.Query.Limit = int(n)
	return nil
}

func parseSort(x *Exchange, s string) mapping.Violations {
	var v mapping.Violations
	if s == "" {
		return nil
	}
	for name := range strings.SplitSeq(s, ",") {
		bare, descending := strings.CutPrefix(name, "-")
		f := x.Endpoint.Resource.Field(bare)
		if f == nil || !f.InLists() || f.Unsortable {
			v = append(v, mapping.Fail(mapping.FieldNotInModel, bare))
			continue
		}
		// A field that was named before, and whatever follows the ID, decides
		// nothing any more.
		last := len(x.Query.Sort) - 1
		decided := last >= 0 && x.Query.Sort[last].Field.Primary ||
			slices.ContainsFunc(x.Query.Sort, func(o backend.Order) bool { return o.Field == f })
		if !decided {
			x.Query.Sort = append(x.Query.Sort, backend.Order{Field: f, Descending: descending})
		}
	}
	return v
}

// parseFilter reads what narrows a list: after, modified_since, total, or an
// equality with a field.
func (g *Gateway) parseFilter(x *Exchange, p Param) mapping.Violations {
	switch p.Name {
	case "after":
		f := mapping.Field{Name: p.Name, Type: mapping.Int4}
		value, bad := f.Parse(p.Value, g.o.Location)
		if bad != nil || value.Int() < 0 {
			return mapping.Violations{mapping.Fail(mapping.Int4Invalid, mapping.Literal(p.Name), p.Value)}
		}
		x.Query.After = int32(value.Int())
	case "modified_since":
		f := mapping.Field{Name: p.Name, Type: mapping.Timestamp}
		value, bad := f.Parse(p.Value, g.o.Location)
		if bad != nil {
			return mapping.Violations{bad}
		}
		x.Query.ModifiedSince = value
	case "total":
		if p.Value != "0" && p.Value != "1" {
			return mapping.Violations{mapping.Fail(mapping.ValidationFailed, mapping.Literal(p.Name), p.Value, mapping.Literal("0|1"))}
		}
		x.Query.Total = p.Value == "1"
	default:
		f := x.Endpoint.Resource.Field(p.Name)
		value, bad := f.Parse(p.Value, g.o.Location)
		if bad != nil {
			return mapping.Violations{bad}
		}
		x.Query.Filters = append(x.Query.Filters, backend.Filter{Field: f, Value: value})
	}
	return nil
}

// nextPage is the address of the page after this one, "" where there is none:
// the same query, one page or one keyset further.
func (g *Gateway) nextPage(x *Exchange, page backend.Page) string {
	if !page.More || len(page.Records) == 0 {
		return ""
	}
	step, value := "page", strconv.Itoa(x.page()+1)
	if x.HasParam("after") {
		step, value = "after", strconv.Itoa(int(page.Records[len(page.Records)-1].ID()))
	}
	var b strings.Builder
	b.WriteString(g.o.BasePath)
	b.WriteString(x.Endpoint.Path)
	b.WriteByte('?')
	for _, p := range x.Params {
		if p.Name == step {
			continue
		}
		b.WriteString(url.QueryEscape(p.Name))
		b.WriteByte('=')
		b.WriteString(url.QueryEscape(p.Value))
		b.WriteByte('&')
	}
	b.WriteString(step)
	b.WriteByte('=')
	b.WriteString(value)
	return b.String()
}

// page is the number of the page that was asked for.
func (x *Exchange) page() int { return x.Query.Offset/x.Query.Limit + 1 }
