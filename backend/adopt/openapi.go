package adopt

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/goccy/go-yaml"
)

// mostMembers bounds the members of one record.
const mostMembers = 500

// spec is an OpenAPI description, 2 or 3, as far as it was read.
type spec struct {
	whole  map[string]any
	prefix string // before all paths
}

// describe reads the paths of a description: lists, and operations on their records.
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
	d.access = s.access()
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

// answer is the schema of an operation's answer.
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
	for _, name := range keys(properties) {
		of := s.resolve(properties[name], 0)
		if record := s.resolve(of["items"], 0); of["items"] != nil && record["properties"] != nil {
			return record, name
		}
	}
	return nil, ""
}

// isList reports whether a path is that of a list of records, and not of a record that has
// lists.
func (s spec) isList(at string, item map[string]any) bool {
	get := dict(item["get"])
	schema := s.answer(get)
	record, _ := s.listed(schema)
	own := dict(schema["properties"])["id"] != nil
	return get != nil && record["properties"] != nil && !own && !strings.Contains(at, "{")
}

// listOf takes a path for a list.
func (d *drafter) listOf(s spec, at string, item map[string]any) {
	get := dict(item["get"])
	record, result := s.listed(s.answer(get))
	t := &table{name: at[strings.LastIndexByte(strings.TrimSuffix(at, "/"), '/')+1:], endpoint: &endpoint{list: s.prefix + at, result: result}}
	t.name = strings.Trim(t.name, "/")
	d.tables = append(d.tables, t)
	t.properties(s, "", record, nil)
	if item["post"] != nil {
		t.endpoint.operations = append(t.endpoint.operations, "create")
	}
	for _, p := range append(slices.Clone(items(item["parameters"])), items(get["parameters"])...) {
		if of := s.resolve(p, 0); str(of["in"]) == "query" && str(of["name"]) != "" {
			t.endpoint.parameters = append(t.endpoint.parameters, str(of["name"]))
		}
	}
	if t.column("id") != nil {
		t.primary = []string{"id"}
	}
}

// recordOf takes a path for that of one record of a list.
func (d *drafter) recordOf(s spec, at string, item map[string]any) {
	list, last := at[:max(0, strings.LastIndexByte(at, '/'))], at[strings.LastIndexByte(at, '/')+1:]
	if !strings.HasPrefix(last, "{") || !strings.HasSuffix(last, "}") {
		return
	}
	for _, t := range d.tables {
		e := t.endpoint
		if strings.TrimSuffix(e.list, "/") != s.prefix+list {
			continue
		}
		if get := dict(item["get"]); get != nil {
			e.operations = append(e.operations, "get")
			t.properties(s, "", s.answer(get), nil)
		}
		if key := t.column(strings.Trim(last, "{}")); key != nil && t.primary == nil {
			t.primary = []string{key.name}
		}
		for _, method := range []string{"patch", "put"} {
			if e.method == "" && item[method] != nil {
				e.operations, e.method = append(e.operations, "update"), strings.ToUpper(method)
			}
		}
		if item["delete"] != nil {
			e.operations = append(e.operations, "delete")
		}
	}
}

// properties makes columns of a schema's properties; within are the schemas around it, since a
// schema may contain itself.
func (t *table) properties(s spec, at string, schema map[string]any, within []string) {
	properties := dict(schema["properties"])
	for _, name := range keys(properties) {
		p := s.resolve(properties[name], 0)
		path, own := strings.TrimPrefix(at+"."+name, "."), str(dict(properties[name])["$ref"])
		switch {
		case strings.Contains(name, ".") || len(t.columns) > mostMembers || len(within) > 3 || own != "" && slices.Contains(within, own):
		case p["properties"] != nil:
			t.properties(s, path, p, append(slices.Clone(within), own))
		case p["items"] != nil: // a list within the record
		case t.column(path) == nil:
			c := &column{name: path}
			c.described(p)
			t.columns = append(t.columns, c)
		}
	}
}

// described is what a schema says of a column.
func (c *column) described(p map[string]any) {
	kind := str(p["type"])
	for _, one := range items(p["type"]) { // of 3.1: [string, "null"]
		if str(one) == "null" {
			c.nullable = true
		} else {
			kind = str(one)
		}
	}
	if p["nullable"] == true {
		c.nullable = true
	}
	switch format := str(p["format"]); {
	case kind == "integer":
		c.sort = "integer"
	case kind == "number":
		c.sort = "decimal"
	case kind == "boolean":
		c.sort = "boolean"
	case format == "date":
		c.sort = "date"
	case format == "date-time":
		c.sort = "timestamp"
	case kind == "string":
		c.sort = "text"
	}
	if n, ok := p["maxLength"].(uint64); ok && n < 100_000 {
		c.length = int(n)
	}
	if p["readOnly"] == true {
		c.generated = true
	}
	if of := items(p["enum"]); of != nil {
		for _, v := range of {
			if v != nil {
				c.words = append(c.words, fmt.Sprint(v))
			}
		}
	}
}

// access is how calls authenticate: by the first scheme that takes a token.
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
			return "{" + scalar(str(of["name"])) + `: "{secret.token}"}`
		}
	}
	return ""
}
