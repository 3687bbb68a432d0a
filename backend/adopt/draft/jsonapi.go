package draft

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"net/url"
	"slices"
	"strconv"
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
	if e.todo = []string{"does it filter by filter[...], as most of its kind do?"}; !e.sorts {
		e.todo[0] += " Does it sort? sort: {by: ...}"
	}
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

// sorts tells whether a service of JSON:API lists by id upwards and downwards as it is asked to,
// and takes an order by a member and then by id, as pages need it.
func (a Asked) sorts(ctx context.Context, path string, body []byte) bool {
	whole, err := decodeJSON(body)
	records := jsonAPIRecords(whole)
	if err != nil || len(records) < 2 {
		return false
	}
	member := firstAttribute(records[0])
	if _, err := a.get(ctx, path+"?sort=-"+url.QueryEscape(member)+",id"); member == "" || err != nil {
		return false
	}
	return a.listsBy(ctx, path+"?sort=id", 1) && a.listsBy(ctx, path+"?sort=-id", -1)
}

// listsBy tells whether an answer has its records by id, upwards or, by -1, downwards.
func (a Asked) listsBy(ctx context.Context, path string, way int) bool {
	s, err := a.get(ctx, path)
	if err != nil {
		return false
	}
	whole, err := decodeJSON(s.Body)
	ids := idsOf(jsonAPIRecords(whole))
	return err == nil && len(ids) > 1 && slices.IsSortedFunc(ids, func(a, b string) int {
		x, noNumber := strconv.ParseInt(a, 10, 64)
		y, nor := strconv.ParseInt(b, 10, 64)
		if noNumber == nil && nor == nil {
			return way * cmp.Compare(x, y)
		}
		return way * strings.Compare(a, b)
	})
}

// firstAttribute is the name of the first attribute of a record that is one value.
func firstAttribute(record any) string {
	for _, m := range record.([]member) {
		attributes, _ := m.value.([]member)
		for _, a := range attributes {
			if _, isText := a.value.(string); m.name == "attributes" && isText {
				return a.name
			}
		}
	}
	return ""
}

func idsOf(records []any) (ids []string) {
	for _, r := range records {
		for _, m := range r.([]member) {
			if m.name == "id" {
				ids = append(ids, fmt.Sprint(m.value))
			}
		}
	}
	return ids
}
