package backend

import (
	"slices"
	"strings"

	"frontdesk/mapping"
)

// addedUp are the fields that the totals of an order are computed from: a write that makes a total too
// large is refused.
var addedUp = []string{
	"orderline.quantity", "orderline.price", "orderline.discount_percentage", "orderline.turnover_group_id", "turnovergroup.vat_kind",
}

// Reveals says why the outcome of a write of r reveals something about a field, although the write
// does not set it: a field of the resource named of, in the same record or another. It returns "" if
// the outcome reveals nothing.
func (o Offer) Reveals(of string, f *mapping.Field, r *mapping.Resource, op mapping.Scope) string {
	own, full := of == r.Name, of+"."+f.Name
	writes := op == mapping.OpCreate || op == mapping.OpUpdate
	totals := (r.Name == "order" && writes || r.Name == "orderline") && slices.Contains(addedUp, full)
	switch {
	case own && o.OwnRules:
		return "the administration judges by rules of its own"
	case totals:
		return "totals are made of it"
	case op == mapping.OpDelete && refersTo(r, of, f):
		return "a record in use cannot be deleted"
	case own && (r.Owner() == f && op != mapping.OpCreate):
		return "the record that it names may be closed"
	case own && writes && isPaired(r, f):
		return "it is judged together with another field"
	}
	known := rules()
	for _, name := range r.Rules {
		rule := known[name]
		judges := slices.Contains(rule.related, full) || own && slices.ContainsFunc(rule.needs, func(needs string) bool { return slices.Contains(strings.Split(needs, "|"), f.Name) })
		if judges && len(rule.raises[op]) > 0 {
			return "the rule " + name + " judges by it"
		}
	}
	return ""
}

// refersTo reports whether a record of r is in use because of a field.
func refersTo(r *mapping.Resource, of string, f *mapping.Field) bool {
	return slices.ContainsFunc(r.Referrers(), func(ref mapping.Referrer) bool {
		return ref.Resource.Name == of && (ref.Field.Name == f.Name || ref.By != nil && ref.By.Name == f.Name)
	})
}

// isPaired reports whether a value of the field can make one of another field invalid, or a default of the
// field that of another record.
func isPaired(r *mapping.Resource, f *mapping.Field) bool {
	return f.After != "" || f.ReferenceBy != "" || f.Unique && (f.UniquePer != "" || f.Default != "") ||
		slices.ContainsFunc(r.Fields, func(other mapping.Field) bool {
			return other.After == f.Name || other.ReferenceBy == f.Name || other.UniquePer == f.Name
		})
}
