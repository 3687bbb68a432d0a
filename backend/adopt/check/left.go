package check

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"frontdesk/backend"
	"frontdesk/config/strictyaml"
	"frontdesk/mapping"
	"frontdesk/mapping/sheet"
)

// leftOut is what clients of the whole model will not find in a system.
func leftOut(o Options, system backend.Supporter) Left {
	s, whole := o.Sheet, o.Model
	l := Left{Operations: map[string][]string{}, Fields: map[string][]string{}, Values: map[string][]string{}, Rules: s.WithoutRules}
	offer := backend.Offer{Model: s.Model, Supports: system.Supports, Writes: system.Writes, Exports: true}
	for _, r := range whole.Resources {
		known := s.Model.Resource(r.Name)
		if known == nil {
			l.Resources = append(l.Resources, r.Name)
			continue
		}
		for _, op := range mapping.RecordOperations() {
			if !offer.Has(known, op) {
				l.Operations[r.Name] = append(l.Operations[r.Name], string(op))
			}
		}
		for i := range r.Fields {
			f := &r.Fields[i]
			offered := known.Field(f.Name)
			if offered == nil {
				l.Fields[r.Name] = append(l.Fields[r.Name], f.Name)
				continue
			}
			for _, value := range f.OneOf {
				if len(offered.OneOf) > 0 && !slices.Contains(offered.OneOf, value) && !isFixed(s.Resources[known], offered) {
					at := r.Name + "." + f.Name
					l.Values[at] = append(l.Values[at], value)
				}
			}
		}
	}
	return l
}

// isFixed reports whether a field is the same in all records.
func isFixed(r *sheet.Resource, f *mapping.Field) bool {
	if r.Service != nil {
		return !r.Service.Fields[f.Index].Constant.IsAbsent()
	}
	return !r.SQL.Fields[f.Index].Constant.IsAbsent()
}

// rulesOff adds findings for rules that are switched off although the system has all that they need.
func (r *Report) rulesOff(o Options) {
	for i, rule := range o.Sheet.WithoutRules {
		needed, _ := backend.RuleFields(rule)
		var whole []string
		for _, of := range o.Sheet.Model.Resources {
			known := o.Sheet.Resources[of]
			lacks := func(alternatives string) bool {
				return !slices.ContainsFunc(strings.Split(alternatives, "|"), func(name string) bool {
					f := of.Field(name)
					return f != nil && !isFixed(known, f)
				})
			}
			if slices.Contains(o.Model.Resource(of.Name).Rules, rule) && !slices.ContainsFunc(needed, lacks) {
				whole = append(whole, of.Name)
			}
		}
		if len(whole) > 0 {
			r.add(Warning, "rules.off", fmt.Sprintf("without_rules[%d]", i), fmt.Sprintf("the rule %s is switched off, and all that it judges by is in %s", rule, strings.Join(whole, " and ")),
				"take it out, unless records of the system break it on purpose")
		}
	}
}

// unowned adds findings for resources whose records have no client: every client would see and change
// all of them. A draft keeps them closed.
func (r *Report) unowned(s *sheet.Sheet) {
	for _, of := range s.Model.Resources {
		path, known := strictyaml.Child("resources", of.Name), s.Resources[of]
		isClosed := known.Service != nil && known.Service.Select != nil && known.Service.Select.String() == "false"
		if !known.IsShared() || isClosed || of.Owner() != nil && known.Service != nil && known.Service.Walk == nil || r.doc.Has(strictyaml.Child(path, "shared")) {
			continue
		}
		r.add(Error, "client.none", strictyaml.Child(path, "client"), fmt.Sprintf("nothing tells whose the records of %s are, and every client is shown those of all", of.Name),
			"name the place of their client, or the record through which it is found; or close it, by operations or a condition that nothing fulfils. shared: true only where all clients are to see and change the same")
	}
}

func (l Left) write(b *strings.Builder) {
	if len(l.Resources) > 0 {
		fmt.Fprintln(b, "Not for clients: "+"resources "+strings.Join(l.Resources, ", "))
	}
	for _, left := range []map[string][]string{l.Operations, l.Fields, l.Values} {
		for _, name := range slices.Sorted(maps.Keys(left)) {
			fmt.Fprintln(b, "Not for clients: "+fmt.Sprintf("%s of %s", strings.Join(left[name], ", "), name))
		}
	}
	if len(l.Rules) > 0 {
		fmt.Fprintln(b, "Not kept: "+"rules "+strings.Join(l.Rules, ", "))
	}
}
