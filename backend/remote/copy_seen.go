package remote

import (
	"slices"
	"strings"

	"frontdesk/mapping/sheet"
)

// always are the fields that every record had that was seen.
func (l *look) always() membership {
	all := membership{}
	for name, n := range l.present {
		if n == l.count && !isMember(name) || n == l.all && isMember(name) {
			all[name] = true
		}
	}
	return all
}

// readingOf is all jq that reads a record.
func readingOf(r *sheet.Resource) (all []string) {
	add := func(of *sheet.JQ) {
		if of != nil {
			all = append(all, of.String())
		}
	}
	add(r.Service.Select)
	add(r.Service.Client.JQ)
	for i := range r.Service.Fields {
		add(r.Service.Fields[i].Read.JQ)
		add(r.Service.Fields[i].Elements.JQ)
	}
	return all
}

// membersIn are the members of a record that jq names, each with the kind of its value. jq does not
// fail if a member is missing or of another kind, so both must be noticed here.
func (l *look) membersIn(row sheet.JSON) (all []string) {
	if len(l.jq) == 0 {
		return nil
	}
	for name, v := range row.Object() {
		named, known := l.named[name]
		if !known {
			named = slices.ContainsFunc(l.jq, func(text string) bool { return strings.Contains(text, name) })
			l.named[name] = named
		}
		if named {
			all = append(all, "."+name+" "+kindOf(v))
		}
	}
	return all
}

// isMember reports whether a name is that of a member, and not of a field.
func isMember(name string) bool { return strings.HasPrefix(name, ".") }

// kindOf is the JSON type of a value.
func kindOf(v any) string {
	switch v.(type) {
	case nil:
		return "null"
	case bool:
		return "boolean"
	case string:
		return "string"
	case []any:
		return "array"
	case map[string]any:
		return "object"
	default:
		return "number"
	}
}
