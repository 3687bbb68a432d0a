package draft

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"frontdesk/mapping"
)

// style is how services of a kind are asked and written to, as far as no answer of theirs
// tells. Which it is, their answers do tell.
type style struct {
	name   string
	seenBy string // what of the answers tells
	method string // of update; "" where a service of the kind may as well take no records
	// Filters are parameters called as the members are, or one expression of parts.
	parameter string // of the expression; "" for parameters
	quotes    string // the sheet's word for how it writes values
	join      string
	text      string // a condition on a text: member and placeholder
	bare      string // on any other value
	contains  string // on a part of a text; "" for none
	operators map[mapping.Operator]string
	// sort is the parameter of the order, and the order of a member upwards and downwards.
	sort, up, down string
	byID           [2]string // the order of the records themselves; "" for that of the key
	fixed          []setting // parameters of every list
	paging, total  string
	query          []setting // by which lists are paged
	own            []string  // members that are the service's own and nobody's data
	noNull         bool      // null is nothing, as 0, "" and false are
	errors         []entry
	patterns       string // characters that filters take for more than a text
	one            string // path of a record in the answers to get and writes; "" for the answer itself
}

var styles = []*style{
	{
		name: "PocketBase", seenBy: "records with collectionId and collectionName", method: "PATCH",
		parameter: "filter", quotes: "pocketbase", join: " && ", text: "%s = '{%s}'", bare: "%s = {%s}", contains: "%s ~ '{%s}'",
		operators: map[mapping.Operator]string{mapping.AtLeast: ">=", mapping.Above: ">", mapping.AtMost: "<=", mapping.Below: "<"},
		sort:      "sort", up: "%s", down: "-%s", byID: [2]string{"@rowid", "-@rowid"}, own: []string{"collectionId", "collectionName"}, noNull: true,
		errors: []entry{
			{`{when: {status: "400", code_at: data.*.code, code: validation_not_unique}, reason: duplicate_value, field_from: data.*}`, "of PocketBase", true},
			{`{when: {status: "400", code_at: data.*.code, code: validation_missing_rel_records}, reason: related_id_not_found, field_from: data.*}`, "of PocketBase", true},
		},
	},
	{
		name: "OData", seenBy: "@odata.context beside the list",
		parameter: "$filter", quotes: "doubled", join: " and ", text: "%s eq '{%s}'", bare: "%s eq {%s}", contains: "contains(%s,'{%s}')",
		operators: map[mapping.Operator]string{mapping.AtLeast: "ge", mapping.Above: "gt", mapping.AtMost: "le", mapping.Below: "lt"},
		sort:      "$orderby", up: "%s asc", down: "%s desc", fixed: []setting{{"$count", "true"}}, total: `{result: "@odata\\.count"}`, paging: "{style: offset, size: 100}", query: []setting{{"$top", "{limit}"}, {"$skip", "{offset}"}},
	},
	{
		name: "RSQL", seenBy: "the description of a parameter",
		quotes: "backslash", patterns: "*", join: ";", text: "%s=='{%s}'", bare: "%s=={%s}",
		operators: map[mapping.Operator]string{mapping.AtLeast: "=ge=", mapping.Above: "=gt=", mapping.AtMost: "=le=", mapping.Below: "=lt="},
	},
	{
		name: "JSON:API", seenBy: "records with type, id and attributes", method: "PATCH", one: "data", patterns: ",<>~:*",
		sort: "sort", up: "%s", down: "-%s", byID: [2]string{"id", "-id"}, // where it was seen to sort
		errors: []entry{
			{`{when: {status: "409"}, reason: duplicate_value, field_from: errors.*.source.pointer}`, "of JSON:API", true},
		},
	},
	{
		name: "json-server", seenBy: "pages asked for by _page and _limit", method: "PATCH",
		operators: map[mapping.Operator]string{mapping.AtLeast: "_gte", mapping.AtMost: "_lte"},
		fixed:     []setting{{"_sort", "id"}}, paging: "{style: page, size: 100}", query: []setting{{"_page", "{page}"}, {"_limit", "{limit}"}},
	},
}

func styled(name string) *style {
	return styles[slices.IndexFunc(styles, func(s *style) bool { return s.name == name })]
}

// hasMembers tells whether a value is an object with members of all these names.
func hasMembers(of any, names ...string) bool {
	object, _ := of.([]member)
	return object != nil && all(names, func(name string) bool {
		return slices.ContainsFunc(object, func(m member) bool { return m.name == name })
	})
}

// styleOf tells the style of a service by an answer.
func styleOf(whole any, records []any, s Sample) *style {
	switch link := s.Header.Get("Link"); {
	case len(records) > 0 && hasMembers(records[0], "collectionId", "collectionName"):
		return styled("PocketBase")
	case jsonAPIRecords(whole) != nil:
		return styled("JSON:API")
	case hasMembers(whole, "@odata.context"):
		return styled("OData")
	case strings.Contains(link, "_page=") && strings.Contains(link, "_limit="):
		return styled("json-server")
	}
	return nil
}

// adopt has an endpoint be asked as those of its style are.
func (e *endpoint) adopt(s *style) {
	if s == nil {
		return // what describes it may have told
	}
	e.style = s
	if s.paging != "" {
		e.paging = s.paging
		e.query = slices.DeleteFunc(e.query, func(q setting) bool {
			return slices.Contains([]string{"{limit}", "{page}", "{offset}", "{cursor}"}, q.value)
		})
		e.query = append(e.query, s.query...)
		e.todo, e.total = nil, cmp.Or(s.total, e.total)
	}
	if s.method != "" && e.create == "" {
		one := strings.TrimSuffix(e.list, "/") + "/{key}"
		e.create, e.update, e.delete, e.method = e.list, one, one, s.method
	}
}

// expressed tells whether filters are one expression.
func (s *style) expressed() bool { return s != nil && s.join != "" }

// expressions are how the service writes values in filters; "" where nothing is to be said.
func (s *service) expressions() string {
	for _, e := range slices.SortedFunc(maps.Values(s.endpoints), func(a, b *endpoint) int { return cmp.Compare(a.list, b.list) }) {
		var said []string
		if e.style.expressed() {
			said = append(said, "quotes: "+e.style.quotes)
		}
		if e.style != nil && e.style.patterns != "" {
			said = append(said, "wildcards: "+quoted(e.style.patterns))
		}
		if len(said) > 0 {
			return "{" + strings.Join(said, ", ") + "}"
		}
	}
	return ""
}

// condition is a member compared with a placeholder.
func (s *style) condition(c *column, operator, placeholder string) string {
	form := s.bare
	if c.sort == sortText || c.dates() && s.name == "PocketBase" {
		form = s.text
	}
	if operator != "" {
		form = strings.NewReplacer(" = ", " "+operator+" ", " eq ", " "+operator+" ", "==", operator).Replace(form)
	}
	return fmt.Sprintf(form, c.Name, placeholder)
}

// parts are the conditions of an expression, those of a field in a line.
func (d *drafter) parts(m *match) (lines []string) {
	s := m.endpoint.style
	add := func(conditions ...string) {
		all := make([]string, len(conditions))
		for i, c := range conditions {
			all[i] = quoted(c) + ","
		}
		if len(all) > 0 {
			lines = append(lines, strings.Join(all, " "))
		}
	}
	if c := m.client(d); c != nil && (c.sort == sortInteger || c.sort == sortText && all(c.values, isNumeral)) {
		add(s.condition(c, "", "client.id"))
	}
	if c := d.hiddenBy(m); c != nil {
		add(strings.Replace(s.condition(c, "", "x"), "{x}", "false", 1))
	}
	for _, of := range d.asked(m) {
		var conditions []string
		if of.equal {
			conditions = append(conditions, s.condition(of.column, "", "filter."+of.Name))
		}
		for _, o := range of.operators {
			conditions = append(conditions, s.condition(of.column, s.operators[o], "filter."+of.Name+"."+o.String()))
		}
		if of.contains {
			conditions = append(conditions, fmt.Sprintf(s.contains, of.column.Name, "filter."+of.Name+".contains"))
		}
		if of.since {
			conditions = append([]string{s.condition(of.column, s.operators[mapping.AtLeast], "modified_since")}, conditions...)
		}
		add(conditions...)
	}
	return lines
}

// hiddenBy is a flag of a service's records that says that they are gone, and is no field.
func (d *drafter) hiddenBy(m *match) *column {
	for _, c := range m.table.columns {
		if c.sort == sortBoolean && likeness(c.parts, []string{"deleted"}, nil) >= 0.5 && m.uses(c) == nil && !c.always("true") {
			return c
		}
	}
	return nil
}

// askedBy is a field with what the service can be asked of it.
type askedBy struct {
	*mapping.Field
	column                 *column
	equal, contains, since bool
	operators              []mapping.Operator
}

// asked are the fields that a service of a known style can be asked by.
func (d *drafter) asked(m *match) (out []askedBy) {
	s := m.endpoint.style
	for _, f := range mapping.Each(m.Fields) {
		said := m.said[f.Name]
		if said == nil || m.unasked[f.Name] || len(said.settings) == 0 || said.settings[0].key != "from" || said.has("time_from") || !f.InLists() {
			continue
		}
		c := m.table.column(said.settings[0].value)
		of := askedBy{Field: f, column: c, equal: f.Filterable() && f.Type != mapping.Timestamp}
		of.since = f.Name == "modified_at"
		for _, o := range slices.Sorted(maps.Keys(s.operators)) {
			if f.FilterableBy(o) && (f.Type == mapping.Timestamp || f.Type == mapping.Int4 || f.Type == mapping.Float8) && !said.has("codes") && !m.unranged[f.Name] {
				of.operators = append(of.operators, o)
			}
		}
		of.contains = s.contains != "" && f.FilterableBy(mapping.Contains) && c.sort == sortText && !said.has("codes") && !m.unranged[f.Name]
		out = append(out, of)
	}
	return out
}

// sorts are the orders that a service of a known style can be told.
func (d *drafter) sorts(m *match) string {
	s := m.endpoint.style
	if s == nil || s.sort == "" || s.name == "JSON:API" && !m.endpoint.sorts {
		return ""
	}
	both := func(place string) [2]string { return [2]string{fmt.Sprintf(s.up, place), fmt.Sprintf(s.down, place)} }
	by := s.byID
	if by[0] == "" {
		if len(m.table.Primary) != 1 {
			return ""
		}
		by = both(m.table.Primary[0])
	}
	said := "id: " + names(by[:])
	for _, f := range mapping.Each(m.Fields) {
		if of := m.said[f.Name]; of != nil && f.Sortable() && !m.unsorted[f.Name] && of.settings[0].key == "from" && !of.has("codes") && !isLinkage(of.settings[0].value, "id") {
			by := both(strings.TrimPrefix(of.settings[0].value, attributesOf(s)))
			said += ", " + f.Name + ": " + names(by[:])
		}
	}
	return "{by: {" + said + "}}"
}

// attributesOf is what stands before the members of a record that have names of their own.
func attributesOf(s *style) string {
	if s.name == "JSON:API" {
		return "attributes."
	}
	return ""
}

// styledList writes how a list of a known style is asked for.
func (d *drafter) styledList(b *strings.Builder, m *match, e endpoint) {
	s := e.style
	line := func(indent int, format string, a ...any) {
		fmt.Fprintf(b, "%s%s\n", strings.Repeat(" ", indent), fmt.Sprintf(format, a...))
	}
	line(6, "list: # %s, by %s", s.name, s.seenBy)
	line(8, "path: %s", quoted(e.list))
	query := append(slices.Clone(s.fixed), e.query...)
	sorts := d.sorts(m)
	if sorts != "" {
		query = append(query, setting{s.sort, "{sort}"})
	}
	var conditions []string
	if s.expressed() {
		if conditions = d.parts(m); len(conditions) > 0 {
			query = append(query, setting{cmp.Or(e.expression, s.parameter), "{filter}"})
		}
	} else {
		query = append(query, d.asParameters(m)...)
	}
	var said []string
	for _, q := range query {
		said = append(said, scalar(q.key, false)+": "+quoted(q.value))
	}
	line(8, "query: {%s}", strings.Join(said, ", "))
	if len(conditions) > 0 {
		line(8, "filter:")
		line(10, "join: %s", quoted(s.join))
		line(10, "parts: [")
		for _, c := range conditions {
			line(12, "%s", c)
		}
		line(10, "]")
	}
	for _, of := range []setting{{"sort", sorts}, {"result", e.result}, {"paging", e.paging}, {"total", e.total}} {
		if of.value != "" {
			line(8, "%s: %s", of.key, of.value)
		}
	}
}

// parameterOf is the parameter that a list is filtered by a member with.
func (s *style) parameterOf(c *column) string {
	if s.name != "JSON:API" {
		return c.Name
	}
	name := strings.TrimPrefix(strings.TrimPrefix(c.Name, "attributes."), "relationships.")
	return "filter[" + strings.TrimSuffix(name, ".data.id") + "]"
}

// asParameters are filters that are parameters, called as the members are.
func (d *drafter) asParameters(m *match) (query []setting) {
	s := m.endpoint.style
	if c := m.client(d); c != nil && c.sort == sortInteger {
		query = append(query, setting{s.parameterOf(c), "{client.id}"})
	}
	if c := d.hiddenBy(m); c != nil {
		query = append(query, setting{s.parameterOf(c), "false"})
	}
	for _, of := range d.asked(m) {
		if of.equal {
			query = append(query, setting{s.parameterOf(of.column), "{filter." + of.Name + "}"})
		}
		if of.since && len(s.operators) > 0 {
			query = append(query, setting{of.column.Name + s.operators[mapping.AtLeast], "{modified_since}"})
			continue
		}
		for _, o := range of.operators {
			query = append(query, setting{of.column.Name + s.operators[o], "{filter." + of.Name + "." + o.String() + "}"})
		}
	}
	return query
}

// unask leaves out of a list what a sheet's reader refuses of its filters and orders, by
// field. It is false where the problem is another.
func (m *match) unask(keys []string, why string) bool {
	if m.endpoint == nil || m.endpoint.style == nil || len(keys) < 3 || keys[1] != "list" {
		return false
	}
	at := strings.Join(keys[2:], ".")
	if strings.HasPrefix(at, "sort.by.") && len(keys) > 4 && keys[4] != "id" {
		m.unsorted[keys[4]] = true
		return true
	}
	for _, name := range slices.Sorted(maps.Keys(m.said)) {
		switch {
		case (strings.Contains(why, "{filter."+name+".")) && !m.unranged[name]:
			m.unranged[name] = true
			return true
		case (strings.Contains(why, "{filter."+name+"}") || strings.Contains(why, " "+name+" ")) && !m.unasked[name]:
			m.unasked[name] = true
			return true
		}
	}
	return false
}
