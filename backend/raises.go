package backend

import (
	"slices"

	"frontdesk/mapping"
)

// Raises are the reasons for which a Client can refuse an operation on a record that is valid
// by itself, sorted, for callers that may use these arrays. The OpenAPI description lists
// them. Failures of the administration are not included.
func Raises(r *mapping.Resource, op mapping.Scope, arrays mapping.Arrays) []mapping.Reason {
	var all []mapping.Reason
	if op != mapping.OpCreate && op != mapping.OpList {
		all = append(all, mapping.RecordNotFound)
	}
	switch op {
	case mapping.OpUpdate:
		all = append(all, mapping.PreconditionChanged, mapping.SystemRecord, mapping.BlockedRecord, mapping.ArchivedRecord)
	case mapping.OpDelete:
		all = append(all, mapping.PreconditionChanged, mapping.SystemRecord)
	}
	if r.Owner() != nil && op != mapping.OpGet && op != mapping.OpList {
		all = append(all, mapping.BlockedRecord, mapping.ArchivedRecord)
	}
	if op == mapping.OpCreate || op == mapping.OpUpdate {
		all = append(all, fieldsRaise(r, op, arrays)...)
	}
	all = append(all, rulesRaise(r, op)...)
	for i := range r.Fields {
		if f := &r.Fields[i]; op == mapping.OpCreate && f.Type == mapping.Array && f.In(arrays) {
			all = append(all, fieldsRaise(f.Target(), op, arrays)...)
			all = append(all, rulesRaise(f.Target(), op)...)
		}
	}
	if op == mapping.OpDelete && len(r.Referrers()) > 0 {
		all = append(all, mapping.InUse)
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// fieldsRaise are the reasons that fields of a resource can cause.
func fieldsRaise(r *mapping.Resource, op mapping.Scope, arrays mapping.Arrays) []mapping.Reason {
	var all []mapping.Reason
	if op == mapping.OpUpdate {
		all = append(all, r.MergedRaises()...)
	}
	for _, f := range mapping.Each(r.Fields) {
		if f.Readonly || f.Primary || !f.In(arrays) {
			continue
		}
		if f.Reference != "" || f.ReferenceBy != "" {
			all = append(all, mapping.RelatedIDNotFound)
		}
		if op == mapping.OpUpdate && (f.Immutable || f.Type == mapping.Array) {
			all = append(all, mapping.CannotUpdate)
		}
		if f.Unique && !judgedByRule(r, f, op) && !(op == mapping.OpUpdate && f.Immutable) {
			all = append(all, mapping.DuplicateValue)
		}
	}
	return all
}

func rulesRaise(r *mapping.Resource, op mapping.Scope) []mapping.Reason {
	var all []mapping.Reason
	for _, name := range r.Rules {
		all = append(all, rules()[name].raises[op]...)
	}
	return all
}

// judgedByRule reports whether a rule has its own message for a duplicate value of a unique
// field, or forbids to change the field at all.
func judgedByRule(r *mapping.Resource, f *mapping.Field, op mapping.Scope) bool {
	return slices.ContainsFunc(r.Rules, func(name string) bool {
		rule := rules()[name]
		return rule.words == f.Name || op == mapping.OpUpdate && rule.fixes == f.Name
	})
}
