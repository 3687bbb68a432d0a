package mapdraft

import (
	"encoding/json"
	"net/url"
	"slices"
	"strings"
)

// Services that keep to JSON:API (jsonapi.org) have the members of a record in attributes and
// its references in relationships, and tell in links where the next page is.

// jsonAPIMedia is the content type that they want.
const jsonAPIMedia = "application/vnd.api+json"

// jsonAPIRecords are the records that an answer of JSON:API lists; nil of any other answer.
func jsonAPIRecords(whole any) []any {
	object, _ := whole.([]member)
	for _, m := range object {
		if list, _ := m.value.([]any); m.name == "data" && len(list) > 0 && hasMembers(list[0], "type", "id", "attributes") {
			return list
		}
	}
	return nil
}

// adoptJSONAPI takes from records what they tell of themselves: their type, and the types of
// those that they refer to. Only what clients may see or write stays a column.
func (e *endpoint) adoptJSONAPI(t *table, whole []member) {
	e.types = map[string]string{}
	for _, c := range t.columns {
		if (c.Name == "type" || isLinkage(c.Name, "type")) && len(c.values) > 0 && !slices.ContainsFunc(c.values, func(v string) bool { return v != c.values[0] }) {
			e.types[c.Name] = c.values[0]
		}
	}
	t.columns = slices.DeleteFunc(t.columns, func(c *column) bool {
		return c.Name != "id" && !strings.HasPrefix(c.Name, "attributes.") && !isLinkage(c.Name, "id")
	})
	t.lists = slices.DeleteFunc(t.lists, func(path string) bool { return !strings.HasPrefix(path, "attributes.") })
	e.query, e.paging = nil, "{style: link, next: links.next}"
	e.todo = []string{"does it filter by filter[...], as most of its kind do? Does it sort? sort: {by: ...}"}
	if size := pageSize(whole); size != "" {
		e.query = []setting{{size, "{limit}"}}
	}
}

// isLinkage tells whether a path is that of a member of what a record refers to.
func isLinkage(path, name string) bool {
	return strings.HasPrefix(path, "relationships.") && strings.HasSuffix(path, ".data."+name)
}

// pageSize is the parameter with the size of pages in the links of an answer; "" for none.
func pageSize(whole []member) string {
	for _, m := range whole {
		links, _ := m.value.([]member)
		for _, link := range links {
			address, _ := link.value.(string)
			of, err := url.Parse(address)
			if m.name != "links" || err != nil {
				continue
			}
			for _, name := range []string{"page[size]", "page[limit]"} {
				if of.Query().Has(name) {
					return name
				}
			}
		}
	}
	return ""
}

// jsonAPIBody is the body of create or, with a key, of update.
func (e *endpoint) jsonAPIBody(key string) string {
	name, _ := json.Marshal(e.types["type"])
	body := `{"data": {"type": ` + string(name)
	if key != "" {
		body += `, "id": "` + key + `"`
	}
	if body += `, "attributes": {fields.attributes}`; len(e.types) > 1 {
		body += `, "relationships": {fields.relationships}`
	}
	return readable(body + "}}")
}

// linkages are the types of what the fields of a resource refer to, as constants.
func (m *match) linkages() string {
	var all []string
	for i := range m.Fields {
		said := m.said[m.Fields[i].Name]
		if said == nil || len(said.settings) == 0 || !isLinkage(said.settings[0].value, "id") {
			continue
		}
		at := strings.TrimSuffix(said.settings[0].value, "id") + "type"
		if of := m.endpoint.types[at]; of != "" {
			all = append(all, scalar(at, false)+": "+scalar(of, false))
		}
	}
	return strings.Join(all, ", ")
}
