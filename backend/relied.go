package backend

import (
	"fmt"
	"slices"
	"strings"

	"frontdesk/mapping"
)

// relied are the fields that the interface's own endpoints work with, by
// resource: a vendor's model may add to them, not do without.
func relied() map[string][]string {
	return map[string][]string{
		"vehicle":                  {"license_plate", "country_id", "publish_status", "tax_kind"},
		"vehicleadvertisementsite": {"vehicle_id"},
		"employee":                 {"username", "email"},
		"document":                 {"name", "mime_type", "size", "sha256", "external_url"},
		"country":                  {"code"},
	}
}

// reliedByRule are the fields that a rule works with, in the resource that
// names it. Those of one rule that may stand for another are joined by |.
func reliedByRule() map[string][]string {
	return map[string][]string{
		"order_status":   {"order_status|order_id"},
		"license_plate":  {"license_plate", "country_id"},
		"published":      {"publish_status"},
		"one_owner":      {"role", "vehicle_id"},
		"prefered_email": {"is_prefered_email", "type", "contact_id"},
		"email_value":    {"type", "value"},
		"postcode":       {"postcode", "country_id"},
		"flatrate_line": {
			"flatrate_id", "article_id", "article_number", "article_kind", "unit_type", "quantity", "turnover_group_id",
			"is_manual_input", "is_no_article_price", "price", "sort_order",
		},
	}
}

// checkModel tells what a model lacks for the interface and its rules to work.
func checkModel(model *mapping.Model) error {
	var lacking []string
	need := func(r *mapping.Resource, of string, fields []string) {
		for _, alternatives := range fields {
			has := slices.ContainsFunc(strings.Split(alternatives, "|"), func(name string) bool { return r.Field(name) != nil })
			if !has {
				lacking = append(lacking, fmt.Sprintf("resource %s: field %s is missing, which %s works with", r.Name, alternatives, of))
			}
		}
	}
	for name, fields := range relied() {
		if r := model.Resource(name); r != nil {
			need(r, "the interface", fields)
		} else {
			lacking = append(lacking, fmt.Sprintf("resource %s is missing, which the interface works with", name))
		}
	}
	known := reliedByRule()
	for _, r := range model.Resources {
		for _, rule := range r.Rules {
			if fields, ok := known[rule]; ok {
				need(r, "rule "+rule, fields)
			} else {
				lacking = append(lacking, fmt.Sprintf("resource %s: there is no rule %s", r.Name, rule))
			}
		}
	}
	if len(lacking) == 0 {
		return nil
	}
	slices.Sort(lacking)
	return fmt.Errorf("model: %s", strings.Join(lacking, "\nmodel: "))
}
