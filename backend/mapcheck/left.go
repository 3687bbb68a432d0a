package mapcheck

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"frontdesk/backend"
	"frontdesk/mapping"
	"frontdesk/mapping/sheet"
)

// leftOut is what clients of the whole model will not find.
func leftOut(s *sheet.Sheet, whole *mapping.Model) Left {
	l := Left{Operations: map[string][]string{}, Fields: map[string][]string{}, Rules: s.WithoutRules}
	for _, r := range whole.Resources {
		known := s.Resource(r.Name)
		if known == nil {
			l.Resources = append(l.Resources, r.Name)
			continue
		}
		for _, op := range mapping.RecordOperations() {
			if known.Operations[op] == nil {
				l.Operations[r.Name] = append(l.Operations[r.Name], string(op))
			}
		}
		for i := range r.Fields {
			if name := r.Fields[i].Name; known.Field(name) == nil {
				l.Fields[r.Name] = append(l.Fields[r.Name], name)
			}
		}
	}
	l.Rows = lostRows(s, whole)
	return l
}

// lostRows are the rows of the interface's tables that cannot occur.
func lostRows(s *sheet.Sheet, whole *mapping.Model) []string {
	var lost []string
	catalogue := mapping.NewCatalogue()
	field := func(is func(*mapping.Field) bool) func(*sheet.Resource) bool {
		return func(r *sheet.Resource) bool {
			return slices.ContainsFunc(r.Fields, func(f sheet.Field) bool { return is(f.Field) })
		}
	}
	occurs := map[mapping.Reason]func(*sheet.Resource) bool{ // on resources that are so
		mapping.ArrayEmpty:     field(func(f *mapping.Field) bool { return f.Type == mapping.Array }),
		mapping.ByteaInvalid:   field(func(f *mapping.Field) bool { return f.Type == mapping.Bytea }),
		mapping.DateNotAfter:   field(func(f *mapping.Field) bool { return f.After != "" }),
		mapping.DuplicateValue: field(func(f *mapping.Field) bool { return f.Unique && !f.Readonly }),
		mapping.SystemRecord:   field(func(f *mapping.Field) bool { return f.Name == "is_system" }),
		mapping.BlockedRecord:  mapped("is_blocked"),
		mapping.ArchivedRecord: mapped("is_archived"),
	}
	can := func(e mapping.Entry) bool {
		for _, r := range s.Resources {
			if r.Operations[e.Scope] != nil && occurs[e.Reason](r) {
				return true
			}
		}
		return false
	}
	for _, e := range catalogue.Entries() {
		inRecords := slices.Contains([]mapping.Scope{mapping.OpCreate, mapping.OpUpdate, mapping.OpDelete}, e.Scope)
		switch {
		case !catalogue.Documented(e):
		case occurs[e.Reason] != nil && inRecords && !can(e), ofMissing(s, whole, e.Scope):
			lost = append(lost, string(e.Scope)+": "+e.Message)
		}
	}
	return lost
}

// ofMissing tells whether a scope is of a resource that the sheet does not have, or of
// an endpoint that works with what it does not have.
func ofMissing(s *sheet.Sheet, whole *mapping.Model, scope mapping.Scope) bool {
	_, path, ok := strings.Cut(string(scope), "/")
	if ok && whole.Resource(path) != nil {
		return s.Resource(path) == nil
	}
	offer := backend.Offer{Model: s.Model, Supports: s.Supports, Writes: s.Writes, Exports: true}
	return ok && !offer.Carries("/"+path)
}

func mapped(name string) func(*sheet.Resource) bool {
	return func(r *sheet.Resource) bool {
		f := r.Field(name)
		return f != nil && !r.Fields[f.Index].Traits().Fixed
	}
}

func (l Left) write(b *strings.Builder) {
	if len(l.Resources) > 0 {
		wrapped(b, "Not for clients: ", "resources "+strings.Join(l.Resources, ", "))
	}
	for _, name := range slices.Sorted(maps.Keys(l.Operations)) {
		wrapped(b, "Not for clients: ", fmt.Sprintf("%s of %s", strings.Join(l.Operations[name], ", "), name))
	}
	for _, name := range slices.Sorted(maps.Keys(l.Fields)) {
		wrapped(b, "Not for clients: ", fmt.Sprintf("%s of %s", strings.Join(l.Fields[name], ", "), name))
	}
	if len(l.Rules) > 0 {
		wrapped(b, "Not kept: ", "rules "+strings.Join(l.Rules, ", "))
	}
	byScope := map[string][]string{}
	for _, row := range l.Rows {
		scope, message, _ := strings.Cut(row, ": ")
		byScope[scope] = append(byScope[scope], message)
	}
	for _, scope := range slices.Sorted(maps.Keys(byScope)) {
		if messages := byScope[scope]; len(messages) > 3 {
			wrapped(b, "Cannot occur: ", fmt.Sprintf("%d rows of %s", len(messages), scope))
		} else {
			for _, message := range messages {
				wrapped(b, "Cannot occur: ", scope+": "+message)
			}
		}
	}
}
