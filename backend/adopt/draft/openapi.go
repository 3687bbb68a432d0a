package draft

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/goccy/go-yaml"
)

// spec is an OpenAPI description, 2 or 3, as far as it was read.
type spec struct {
	whole  map[string]any
	prefix string // before all paths
}

// describe takes the paths of a description for what there is at them: lists, and what is
// done with their records.
func (d *drafter) describe(text []byte) error {
	s := spec{}
	if err := yaml.Unmarshal(text, &s.whole); err != nil {
		return errors.New("expected JSON or YAML")
	}
	s.prefix = strings.TrimSuffix(str(s.whole["basePath"]), "/")
	paths := dict(s.whole["paths"])
	if len(paths) == 0 {
		return errors.New("expected paths in it")
	}
	for _, at := range keys(paths) {
		if s.isList(at, dict(paths[at])) {
			d.listOf(s, at, dict(paths[at]))
		}
	}
	for _, at := range keys(paths) {
		d.recordOf(s, at, dict(paths[at]))
	}
	d.http.access = s.access()
	return nil
}

func dict(v any) map[string]any { m, _ := v.(map[string]any); return m }
func str(v any) string          { s, _ := v.(string); return s }
func items(v any) []any         { l, _ := v.([]any); return l }

func keys(m map[string]any) []string { return slices.Sorted(maps.Keys(m)) }

// resolve follows a $ref, and puts allOf together; of anyOf and oneOf the first counts.
func (s spec) resolve(v any, depth int) map[string]any {
	m := dict(v)
	if depth > 20 {
		return nil
	}
	if ref := str(m["$ref"]); strings.HasPrefix(ref, "#/") {
		var at any = s.whole
		for _, step := range strings.Split(ref[2:], "/") {
			at = dict(at)[strings.NewReplacer("~1", "/", "~0", "~").Replace(step)]
		}
		return s.resolve(at, depth+1)
	}
	if parts := items(m["allOf"]); parts != nil {
		whole := map[string]any{"properties": map[string]any{}}
		for _, part := range append(slices.Clone(parts), map[string]any{"properties": m["properties"]}) {
			of := s.resolve(part, depth+1)
			for k, v := range dict(of["properties"]) {
				whole["properties"].(map[string]any)[k] = v
			}
			for k, v := range of {
				if k != "properties" && whole[k] == nil {
					whole[k] = v
				}
			}
		}
		return whole
	}
	for _, one := range []string{"oneOf", "anyOf"} {
		for _, of := range items(m[one]) {
			if r := s.resolve(of, depth+1); str(r["type"]) != "null" {
				return r
			}
		}
	}
	return m
}

// answer is the schema of what an operation answers.
func (s spec) answer(operation map[string]any) map[string]any {
	responses := dict(operation["responses"])
	for _, code := range []string{"200", "201", "2XX", "default"} {
		r := s.resolve(responses[code], 0)
		if schema := r["schema"]; schema != nil {
			return s.resolve(schema, 0)
		}
		content := dict(r["content"])
		for _, media := range keys(content) {
			if strings.Contains(media, "json") {
				return s.resolve(dict(content[media])["schema"], 0)
			}
		}
	}
	return nil
}

// listed is the schema of the records of a list, and where in its answer they are.
func (s spec) listed(schema map[string]any) (record map[string]any, at string) {
	if of := schema["items"]; of != nil {
		return s.resolve(of, 0), ""
	}
	properties := dict(schema["properties"])
	names := keys(properties)
	slices.SortStableFunc(names, func(a, b string) int {
		usual := []string{"items", "data", "results", "value", "records", "content"}
		return strings.Compare(fmt.Sprint(!is(a, usual)), fmt.Sprint(!is(b, usual)))
	})
	for _, name := range names {
		of := s.resolve(properties[name], 0)
		if record := s.resolve(of["items"], 0); of["items"] != nil && record["properties"] != nil {
			return record, name
		}
	}
	return nil, ""
}

// isList tells whether a path is that of a list of records: what it answers is one, and not
// a record that has lists.
func (s spec) isList(at string, item map[string]any) bool {
	get := dict(item["get"])
	schema := s.answer(get)
	record, _ := s.listed(schema)
	own := dict(schema["properties"])["id"] != nil
	return get != nil && record["properties"] != nil && !own && !strings.HasSuffix(at, "}")
}

// listOf takes a path for a list.
func (d *drafter) listOf(s spec, at string, item map[string]any) {
	get := dict(item["get"])
	schema := s.answer(get)
	record, result := s.listed(schema)
	t, e := d.addEndpoint(s.prefix + at)
	e.result = result
	d.properties(t, s, "", record, nil)
	t.Primary = t.guessKey()
	if steps := strings.Split(at, "/"); len(steps) > 3 && strings.HasPrefix(steps[len(steps)-2], "{") {
		e.parent = strings.Trim(steps[len(steps)-2], "{}")
		d.belongs(t, e.parent, steps[len(steps)-3])
	}
	if item["post"] != nil {
		e.create = e.list
	}
	e.parameters(s, t, append(slices.Clone(items(item["parameters"])), items(get["parameters"])...))
	e.told(s, schema)
}

// belongs makes the record that those of a list belong to a part of their key: a member of
// the answers, or else the parameter of the path.
func (d *drafter) belongs(t *table, parameter, parent string) {
	c := t.place(parameter)
	if c == nil || slices.Contains(t.Primary, c.Name) {
		name := parameter
		if c != nil {
			name = strings.TrimSuffix(parent, "s") + "_" + parameter
		}
		c = d.setColumn(t, name)
		c.sort = sortInteger
	}
	t.Primary = append([]string{c.Name}, t.Primary...)
}

// parameters reads by what a list is paged and filtered.
func (e *endpoint) parameters(s spec, t *table, all []any) {
	var style, limit string
	for _, p := range all {
		of := s.resolve(p, 0)
		name := str(of["name"])
		if str(of["in"]) != "query" || name == "" {
			continue
		}
		if told := strings.ToUpper(str(of["description"])); strings.Contains(told, "RSQL") || strings.Contains(told, "FIQL") {
			e.style, e.expression = styled("RSQL"), name
			continue
		}
		switch c := t.place(name); {
		case is(name, changes):
			e.query = append(e.query, setting{name, "{modified_since}"})
		case c != nil:
			e.filters[c.Name] = name
		case is(name, limits):
			e.query, limit = append(e.query, setting{name, "{limit}"}), name
		case is(name, pages):
			e.query, style = append(e.query, setting{name, "{page}"}), "page"
		case is(name, offsets):
			e.query, style = append(e.query, setting{name, "{offset}"}), "offset"
		case is(name, cursors):
			e.query, style = append(e.query, setting{name, "{cursor}"}), "cursor"
		}
	}
	switch {
	case style == "":
	case style == "cursor":
		e.paging = "cursor"
	default:
		e.paging = "{style: " + style + "}"
		if limit == "" {
			e.todo = append(e.todo, "how many records has a page? size: 100 is taken")
		}
	}
}

// place is the column that a parameter is called after.
func (t *table) place(name string) *column {
	for _, c := range t.columns {
		if bare(c.Name) == bare(name) {
			return c
		}
	}
	return nil
}

// told reads what an answer says beside its list.
func (e *endpoint) told(s spec, schema map[string]any) {
	next := ""
	var visit func(of map[string]any, at string, depth int)
	visit = func(of map[string]any, at string, depth int) {
		properties := dict(of["properties"])
		for _, name := range keys(properties) {
			path, p := joined(at, name), s.resolve(properties[name], 0)
			switch kind := str(p["type"]); {
			case path == e.result || depth > 2:
			case p["properties"] != nil:
				visit(p, path, depth+1)
			case kind == "integer" && is(name, totals):
				e.total = "{result: " + scalar(path, false) + "}"
			case is(name, cursors) || is(name, nexts):
				next = path
			}
		}
	}
	visit(schema, "", 0)
	switch {
	case e.paging == "cursor" && next != "":
		e.paging = "{style: cursor, next: " + scalar(next, false) + "}"
	case e.paging == "cursor":
		e.paging = ""
		e.query = slices.DeleteFunc(e.query, func(q setting) bool { return q.value == "{cursor}" })
		e.todo = append(e.todo, "where in the answer is the next cursor?")
	case e.paging == "" && next != "":
		e.paging = "{style: link, next: " + scalar(next, false) + "}"
	}
}

// recordOf takes a path for that of one record of a list.
func (d *drafter) recordOf(s spec, at string, item map[string]any) {
	list, last := at[:max(0, strings.LastIndexByte(at, '/'))], at[strings.LastIndexByte(at, '/')+1:]
	if !strings.HasPrefix(last, "{") || !strings.HasSuffix(last, "}") {
		return
	}
	for t, e := range d.http.endpoints {
		if strings.TrimSuffix(e.list, "/") != s.prefix+list {
			continue
		}
		path := strings.TrimSuffix(e.list, "/") + "/{key}"
		if get := dict(item["get"]); get != nil {
			e.get = path
			d.properties(t, s, "", s.answer(get), nil)
		}
		for _, method := range []string{"patch", "put"} {
			if e.update == "" && item[method] != nil {
				e.update, e.method = path, strings.ToUpper(method)
			}
		}
		if item["delete"] != nil {
			e.delete = path
		}
	}
}

// properties takes those of a schema for columns; within are the schemas that it is in, since
// one may be within itself.
func (d *drafter) properties(t *table, s spec, at string, schema map[string]any, within []string) {
	properties := dict(schema["properties"])
	for _, name := range keys(properties) {
		p := s.resolve(properties[name], 0)
		path, own := joined(at, name), str(dict(properties[name])["$ref"])
		switch {
		case strings.Contains(name, ".") || len(t.columns) > 500 || len(within) > 3 || own != "" && slices.Contains(within, own):
		case p["properties"] != nil:
			d.properties(t, s, path, p, append(slices.Clone(within), own))
		case p["items"] != nil:
			if s.resolve(p["items"], 0)["properties"] != nil {
				t.within(path)
			}
		default:
			d.setColumn(t, path).described(p)
		}
	}
}

// described is what a schema says of a column.
func (c *column) described(p map[string]any) {
	kind := str(p["type"])
	for _, one := range items(p["type"]) { // of 3.1: [string, "null"]
		if str(one) == "null" {
			c.Nullable = true
		} else {
			kind = str(one)
		}
	}
	if p["nullable"] == true {
		c.Nullable = true
	}
	switch format := str(p["format"]); {
	case kind == "integer":
		c.sort = sortInteger
	case kind == "number":
		c.sort = sortDecimal
	case kind == "boolean":
		c.sort = sortBoolean
	case format == "date":
		c.sort = sortDate
	case format == "date-time":
		c.sort = sortTimestamp
	case kind == "string":
		c.sort = sortText
	}
	if n, ok := p["maxLength"].(uint64); ok && n < 100_000 {
		c.Length = int(n)
	}
	if p["readOnly"] == true {
		c.kept = true
	}
	if of := items(p["enum"]); of != nil && c.few == nil {
		for _, v := range of {
			if v != nil {
				c.few = append(c.few, fmt.Sprint(v))
			}
		}
	}
}

// access is how calls say who asks, by the first scheme that a token serves.
func (s spec) access() string {
	schemes := dict(dict(s.whole["components"])["securitySchemes"])
	if schemes == nil {
		schemes = dict(s.whole["securityDefinitions"])
	}
	for _, name := range keys(schemes) {
		of := s.resolve(schemes[name], 0)
		switch kind := str(of["type"]); {
		case kind == "http" && strings.EqualFold(str(of["scheme"]), "bearer"), kind == "oauth2":
			return `{Authorization: "Bearer {secret.token}"}`
		case kind == "apiKey" && str(of["in"]) == "header":
			return "{" + scalar(str(of["name"]), false) + `: "{secret.token}"}`
		}
	}
	return ""
}
