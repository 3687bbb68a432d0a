package backendtest

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
)

// describedCases hold the description to what is taken.
func describedCases() []Case {
	return []Case{
		each(rule("list.described", "Every parameter of a list that GET /openapi.json describes is taken, with each of the values that it names",
			"The description is made from the model: have the sheet or the driver say what can be sorted and filtered by.", asDescribed)),
	}
}

// Described are the parameters of GET of each path that a description has.
func Described(description []byte) (map[string][]Parameter, error) {
	var d struct {
		Paths      map[string]map[string]struct{ Parameters []Parameter }
		Components struct{ Parameters map[string]Parameter }
	}
	err := json.Unmarshal(description, &d)
	all := map[string][]Parameter{}
	for path, operations := range d.Paths {
		if get, there := operations["get"]; there {
			all[path] = get.Parameters
		}
		for i, p := range all[path] {
			if name, shared := strings.CutPrefix(p.Ref, "#/components/parameters/"); shared {
				all[path][i] = d.Components.Parameters[name]
			}
		}
	}
	return all, err
}

// Parameter is what the description says of one of an operation's.
type Parameter struct {
	Ref      string `json:"$ref"`
	Name, In string
	Required bool
	Schema   struct {
		Enum, Examples []any
		Items          *struct{ Enum []any }
	}
	Examples map[string]struct{ Value any }
}

// Values are those that the description names, as a query has them.
func (p Parameter) Values() (all []string) {
	list := func(v any) string {
		parts, ok := v.([]any)
		if !ok {
			return plainText(v)
		}
		texts := make([]string, len(parts))
		for i, part := range parts {
			texts[i] = plainText(part)
		}
		return strings.Join(texts, ",")
	}
	named := append(append([]any{}, p.Schema.Enum...), p.Schema.Examples...)
	if p.Schema.Items != nil {
		named = append(named, p.Schema.Items.Enum...)
	}
	for _, e := range p.Examples {
		named = append(named, e.Value)
	}
	for _, v := range named {
		all = append(all, list(v))
	}
	return all
}

func asDescribed(t *T) {
	if !t.can("GET", "/"+t.resource.Name) {
		t.needs("an api_key that may call GET /%s", t.resource.Name)
	}
	a := t.send("", "GET", "/openapi.json?api_key="+url.QueryEscape(t.APIKey), "")
	if a.status != http.StatusOK {
		t.impossible("GET /openapi.json is not to be had: status %d", a.status)
	}
	described, err := Described(a.body)
	parameters, there := described["/"+t.resource.Name]
	t.check(err == nil && there, "the description", "GET /"+t.resource.Name, fmt.Sprint(err))
	list := t.listOf(t.resource, t.get(t.resource, t.record(t.resource)).data())
	for _, p := range parameters {
		if p.In != "query" || slices.Contains(t.resource.requires, p.Name) {
			continue
		}
		for _, v := range p.Values() {
			path := "/" + t.resource.Name + "?page_size=1" + strings.TrimPrefix(list, "/"+t.resource.Name+"?page_size=1000")
			if p.Name == "page_size" {
				path = strings.Replace(path, "page_size=1", "page=1", 1)
			}
			path += "&" + url.QueryEscape(p.Name) + "=" + url.QueryEscape(v)
			answered := t.call("GET", path, "")
			t.check(answered.status == http.StatusOK, "GET "+path, "200", fmt.Sprintf("%d %s", answered.status, answered.body))
		}
	}
}
