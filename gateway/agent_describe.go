package gateway

import (
	"encoding/json"
	"maps"
	"net/http"
	"slices"
	"strings"

	"frontdesk/auth"
	"frontdesk/backend"
	"frontdesk/mapping"
)

// describedResource is a resource as an agent may use it.
type describedResource struct {
	Name        string           `json:"name"`
	Description string           `json:"description"`
	Operations  []string         `json:"operations"`
	Requires    []string         `json:"list_requires,omitempty"`
	Fields      []map[string]any `json:"fields,omitempty"`
}

// describeTool answers which resources an api_key may use or, of one resource, its fields. Like the
// description of the interface it shows what the key may call.
func (g *Gateway) describeTool(x *Exchange, name string) toolAnswer {
	met := g.within(x.rights)
	all := []describedResource{}
	for _, r := range met.o.Offer.Model.Resources {
		if d := (describedResource{Name: r.Name, Description: r.Description, Operations: met.toolsFor(x.Key, r)}); d.Operations != nil && (name == "" || name == r.Name) {
			if name != "" && !slices.Equal(d.Operations, []string{"delete"}) { // the right to delete alone shows no field
				d.Requires, d.Fields = r.ListRequires, x.describedFields(met.o.Offer, r, slices.Contains(d.Operations, "list"))
			}
			all = append(all, d)
		}
	}
	if name != "" && len(all) == 0 {
		return g.answerTool(x, toolRequest{err: mapping.Fail(mapping.EndpointUnknown, "/"+name)})
	}
	return toolAnswer{Status: http.StatusOK, Body: appendJSON(nil, map[string]any{"data": all})}
}

// toolsFor returns the operations of a resource that an api_key may use by tools.
func (g *Gateway) toolsFor(key *auth.Key, r *mapping.Resource) (names []string) {
	e := g.routes.endpoints["/"+r.Name]
	if e == nil {
		return nil
	}
	for _, o := range []struct {
		name string
		of   *Operation
	}{{"list", e.list["GET"]}, {"get", e.item["GET"]}, {"create", e.list["POST"]}, {"update", e.item["PUT"]}, {"delete", e.item["DELETE"]}} {
		if o.of != nil && permit(key, o.of) == "" {
			names = append(names, o.name)
		}
	}
	return names
}

// describedFields returns the fields as /model describes them, without members that are null or false,
// and with the operators of their filters: = [in] [null].
func (x *Exchange) describedFields(offer backend.Offer, r *mapping.Resource, listed bool) (all []map[string]any) {
	fields, _ := x.describeFields(offer, r)
	for _, f := range fields {
		var field map[string]any
		if err := json.Unmarshal(appendJSON(nil, f), &field); err != nil {
			panic(err) // appendJSON encoded it
		}
		maps.DeleteFunc(field, func(_ string, value any) bool { return value == nil || value == false })
		var filters []string
		for _, p := range filterParams(r, r.Field(f.Name)) {
			filters = append(filters, when(p.operator == mapping.Equals, "=")+strings.TrimPrefix(p.Name, f.Name))
		}
		if listed && filters != nil {
			field["filters"] = strings.Join(filters, " ")
		}
		all = append(all, field)
	}
	return all
}
