package backend

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"frontdesk/config/strictyaml"
	"frontdesk/mapping"
)

// Offer is which parts of the interface an administration supports.
type Offer struct {
	Model *mapping.Model
	// Supports reports whether a resource has an operation; nil if all have all.
	Supports func(r *mapping.Resource, op mapping.Scope) bool
	// Writes reports whether a field can be stored, even if it is readonly for clients; nil
	// if all can.
	Writes func(r *mapping.Resource, f *mapping.Field) bool
	// Exports says that backups are supported.
	Exports bool
	// Feeds returns which changes of a resource are reported; nil for none.
	Feeds func(r *mapping.Resource) Feed
	// Collation is the collation of a field in lists, see Collator; nil for comparison by bytes.
	Collation func(r *mapping.Resource, f *mapping.Field) string
	// Until says that lists with modified_since have Page.Until.
	Until bool
	// Distant says that several writes at once are done by callback only.
	Distant bool
	// Copied says that lists come from a copy, and state its age.
	Copied bool
	// OwnRules says that the administration judges writes by rules of its own.
	OwnRules bool
}

// Has reports whether there is an operation of a resource.
func (o Offer) Has(r *mapping.Resource, op mapping.Scope) bool {
	return r != nil && (o.Supports == nil || o.Supports(r, op))
}

// Feed returns which changes of a resource are reported.
func (o Offer) Feed(r *mapping.Resource) Feed {
	if o.Feeds == nil {
		return FeedNone
	}
	return o.Feeds(r)
}

// need is what an endpoint without a resource of its own needs of a resource.
type need struct {
	resource   string
	fields     []string
	operations []mapping.Scope
	writes     string // which of the fields it sets; "" for none
}

// needs are those of the interface's endpoints, by path.
func needs() map[string][]need {
	const get, list, update = mapping.OpGet, mapping.OpList, mapping.OpUpdate
	type of = []mapping.Scope
	return map[string][]need{
		"/vehicle/publishstart": {
			{"vehicle", []string{"publish_status", "tax_kind"}, of{get, update}, "publish_status"},
			{"vehicleadvertisementsite", []string{"vehicle_id"}, of{list}, ""},
		},
		"/vehicle/publishstop":  {{"vehicle", []string{"publish_status"}, of{get, update}, "publish_status"}},
		"/updatelicenseplate":   {{"vehicle", []string{"license_plate", "country_id"}, of{get, update}, "license_plate"}},
		"/empoyee/email":        {{"employee", []string{"username", "email"}, of{list}, ""}},
		"/document/info":        {{"document", []string{"name", "mime_type", "size", "sha256", "external_url"}, of{get}, ""}},
		"/contact/checkaddress": {{"country", []string{"code"}, of{get}, ""}},
	}
}

// Carries reports whether the administration supports an endpoint without a resource of its own.
func (o Offer) Carries(path string) bool { return len(o.Lacks(path)) == 0 }

// Lacks is what an endpoint without a resource of its own needs and is not there: a resource, a field of one
// as employee.email, or in words what it is about.
func (o Offer) Lacks(path string) (all []string) {
	switch path {
	case "/backup/owner":
		if !o.Exports {
			all = append(all, "all fields")
		}
	case "/changes", "/changes/digest":
		if !slices.ContainsFunc(o.Model.Resources, func(r *mapping.Resource) bool { return o.Feed(r) != FeedNone }) {
			all = append(all, "records whose changes are known")
		}
	}
	for _, n := range needs()[path] {
		r := o.Model.Resource(n.resource)
		if r == nil || slices.ContainsFunc(n.operations, func(op mapping.Scope) bool { return !o.Has(r, op) }) {
			all = append(all, n.resource)
			continue
		}
		for _, name := range n.fields {
			if f := r.Field(name); f == nil || name == n.writes && o.Writes != nil && !o.Writes(r, f) {
				all = append(all, n.resource+"."+name)
			}
		}
	}
	return all
}

// JudgeModel returns what the model lacks for its rules, as [strictyaml.Problems].
func JudgeModel(model *mapping.Model) error {
	var problems strictyaml.Problems
	for _, r := range model.Resources {
		for i, rule := range r.Rules {
			at := fmt.Sprintf("rules[%d]", i)
			fields, ok := RuleFields(rule)
			if !ok {
				problems = append(problems, r.Problem(at, "there is no rule %s%s", rule, strictyaml.Suggest(rule, slices.Sorted(maps.Keys(rules())))))
			}
			for _, alternatives := range fields {
				has := slices.ContainsFunc(strings.Split(alternatives, "|"), func(name string) bool { return r.Field(name) != nil })
				if !has {
					problems = append(problems, r.Problem(at, "field %s is missing, which rule %s works with", alternatives, rule))
				}
			}
		}
	}
	return problems.Err()
}
