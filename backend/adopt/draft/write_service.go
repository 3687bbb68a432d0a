package draft

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// endpointOf is where a service has the records of a table; nil of a database.
func (d *drafter) endpointOf(t *table) *endpoint {
	if d.http == nil {
		return nil
	}
	return d.http.endpoints[t]
}

// writeAccess says how calls tell who asks.
func (s *service) writeAccess(b *strings.Builder) {
	if s.login != nil && s.login.access != nil {
		for i, line := range s.login.access {
			fmt.Fprintf(b, "    %s%s\n", line, map[bool]string{true: " # TODO who of the service's users sees the records of all clients?"}[i == 0])
		}
		return
	}
	if s.access != "" {
		fmt.Fprintf(b, "    secrets: {token: \"${SERVICE_TOKEN}\"}\n    headers: %s # TODO is one token for all clients right? Else log_on\n", s.access)
		return
	}
	fmt.Fprintf(b, "    # TODO how does the service know who asks? secrets: {token: \"${SERVICE_TOKEN}\"}, headers: {Authorization: \"Bearer {secret.token}\"}, or log_on\n")
}

// writeService writes a resource of a service.
func (d *drafter) writeService(b *strings.Builder, m *match) {
	e, t := m.endpoint, m.table
	key := t.Primary
	fmt.Fprintf(b, "  %s:%s\n", m.Name, d.remark(e.list+": "+m.why, m.doubt))
	if len(key) == 0 {
		d.doubt(b, "    key: {columns: id, id: kept} # TODO what identifies a record?\n")
	} else {
		d.writePlaces(b, m, key)
	}
	if m.client(d) == nil && d.client != "" {
		fmt.Fprintf(b, "    client: %s\n", d.whose(m))
	}
	if s := e.style; s != nil && !s.expressed() && len(key) == 1 && t.column(key[0]).sort == sortInteger {
		fmt.Fprintf(b, "    order: %s%s\n", "["+scalar(key[0], false)+"]", d.remark("the list is asked for in that order", nil))
	}
	d.sayFields(m)
	if of := m.linkages(); of != "" && m.only != "get, list" {
		fmt.Fprintf(b, "    constants: {%s}%s\n", of, d.remark("what the references are to, of JSON:API", nil))
	}
	if c := d.hiddenBy(m); c != nil {
		fmt.Fprintf(b, "    hidden: row[%s]%s\n", quoted(c.Name), d.remark("name, yes or no", nil))
		c.used = "hidden"
	}
	var doing []string
	of := d.replaced(m)
	if m.only != "get, list" {
		for _, o := range []struct{ name, method, path string }{{"create", "", of.create}, {"update", e.method, of.update}, {"delete", "", of.delete}} {
			if o.path != "" && (m.only == "" || o.name != "create") {
				method := ""
				if o.method != "" {
					method = "method: " + o.method + ", "
				}
				doing = append(doing, o.name+": {"+method+"path: "+quoted(o.path)+e.writing(o.name)+"}")
			}
		}
	}
	fmt.Fprintf(b, "    operations:%s\n", d.remark("its paths", e.todos(m)))
	if e.get != "" {
		fmt.Fprintf(b, "      get: {path: %s%s}\n", quoted(of.get), e.writing("get"))
	}
	if e.style != nil {
		d.styledList(b, m, of)
	} else {
		fmt.Fprintf(b, "      %s\n", d.listing(m, of))
	}
	for _, o := range doing {
		fmt.Fprintf(b, "      %s\n", o)
	}
	d.writeFields(b, m)
	fmt.Fprintln(b)
}

// writing is what else an operation has to say than its path, besides the list's.
func (e *endpoint) writing(operation string) string {
	if e.style == nil || e.style.one == "" {
		return ""
	}
	switch operation {
	case "get":
		return ", result: " + e.style.one
	case "create":
		return ", content_type: " + jsonAPIMedia + ", result: " + e.style.one + ", body: " + e.jsonAPIBody("")
	case "update":
		return ", content_type: " + jsonAPIMedia + ", result: " + e.style.one + ", body: " + e.jsonAPIBody("{key}")
	default:
		return ""
	}
}

// todos are what has to be said of an endpoint.
func (e *endpoint) todos(m *match) []string {
	all := slices.Clone(e.todo)
	if m.only != "" {
		all = append(all, "without the others: "+m.onlyWhy)
	} else if !m.writes() {
		all = append(all, "does it take records? create: {path: …}, update, delete")
	}
	return all
}

// writePlaces writes the key.
func (d *drafter) writePlaces(b *strings.Builder, m *match, key []string) {
	why, last := "name", m.table.column(key[len(key)-1])
	if len(last.values) > 0 {
		why = "name, all different in " + m.table.rows()
	}
	text := "columns: " + names(key)
	if len(key) > 1 || last.sort != sortInteger {
		text += ", id: kept"
	}
	fmt.Fprintf(b, "    key: {%s}%s\n", text, d.remark(why, nil))
}

// parentField is the reference to the record that those of a list belong to; "" for none.
func (d *drafter) parentField(m *match) string {
	if m.endpoint.parent == "" {
		return ""
	}
	for i := range m.Fields {
		if f := &m.Fields[i]; f.Required && f.Reference != "" && d.matches[f.Reference] != nil && slices.Contains(m.ListRequires, f.Name) {
			return f.Name
		}
	}
	return ""
}

// replaced are the paths of an endpoint with what the sheet says for their parameters.
func (d *drafter) replaced(m *match) endpoint {
	e := *m.endpoint
	if e.parent == "" {
		return e
	}
	parameter, field := "{"+e.parent+"}", d.parentField(m)
	e.list = strings.ReplaceAll(e.list, parameter, "{filter."+field+"}")
	e.create = strings.ReplaceAll(e.create, parameter, "{value."+field+"}")
	for _, p := range []*string{&e.get, &e.update, &e.delete} {
		*p = strings.ReplaceAll(strings.ReplaceAll(*p, "{key}", "{key.2}"), parameter, "{key.1}")
	}
	return e
}

// listing says how a list is asked for.
func (d *drafter) listing(m *match, e endpoint) string {
	all := []string{"path: " + quoted(e.list)}
	var query []string
	for _, q := range e.query {
		query = append(query, scalar(q.key, false)+": "+quoted(q.value))
	}
	for _, place := range slices.Sorted(maps.Keys(e.filters)) {
		if c := m.table.column(place); c != nil && m.uses(c) != nil && m.uses(c).Name != d.parentField(m) {
			query = append(query, scalar(e.filters[place], false)+": \"{filter."+m.uses(c).Name+"}\"")
		}
	}
	if len(query) > 0 {
		all = append(all, "query: {"+strings.Join(query, ", ")+"}")
	}
	if e.result != "" {
		all = append(all, "result: "+scalar(e.result, false))
	}
	if e.paging != "" {
		all = append(all, "paging: "+e.paging)
	}
	if e.total != "" {
		all = append(all, "total: "+e.total)
	}
	return "list: {" + strings.Join(all, ", ") + "}"
}
