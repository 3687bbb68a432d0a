package check

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"frontdesk/config/strictyaml"
)

// uses notes the kind of what a system has at a place that the sheet uses: the type of a column, or of
// a member of a service's records. It notes no value.
func (r *Report) uses(resource, name, kind string) {
	if r.System == nil {
		r.System = map[string]string{}
	}
	r.System[strictyaml.Child("resources", resource)+" "+name] = kind
}

// columns notes the columns of the tables that the sheet uses.
func (c *sqlCheck) columns() {
	for _, r := range c.Options.Sheet.Model.Resources {
		known := c.Options.Sheet.Resources[r]
		for _, name := range []string{known.Table, known.Read} {
			t := c.schema.Table(name)
			if t == nil {
				continue
			}
			for _, of := range t.Columns {
				kind := of.Type
				if of.Length > 0 {
					kind += fmt.Sprintf("(%d)", of.Length)
				} else if of.Precision > 0 {
					kind += fmt.Sprintf("(%d,%d)", of.Precision, of.Scale)
				}
				if !of.Nullable {
					kind += " not null"
				}
				c.uses(r.Name, t.Name+"."+of.Name, kind)
			}
		}
	}
}

// kindOf is the type of a member of JSON; "" for null.
func kindOf(v any) string {
	switch v.(type) {
	case nil:
		return ""
	case string:
		return "text"
	case bool:
		return "true or false"
	case []any:
		return "list"
	case map[string]any:
		return "object"
	default:
		return "number"
	}
}

// Since adds findings for what the system has lost or changed since an earlier report.
func (r *Report) Since(before *Report) {
	compare := func(of, with map[string]string, rule string, s Severity, seen func(name, was, is string) string) {
		for _, key := range slices.Sorted(maps.Keys(of)) {
			path, name, _ := strings.Cut(key, " ")
			isLooked := slices.ContainsFunc(slices.Collect(maps.Keys(with)), func(other string) bool { return strings.HasPrefix(other, path+" ") })
			if text := seen(name, of[key], with[key]); isLooked && text != "" {
				r.add(s, rule, path, text, "see that the sheet still says what the system has")
			}
		}
	}
	compare(before.System, r.System, "drift.changed", Warning, func(name, was, is string) string {
		switch is {
		case was:
			return ""
		case "":
			return fmt.Sprintf("%s was %s when the sheet was checked before, and is gone", name, was)
		}
		return fmt.Sprintf("%s was %s when the sheet was checked before, and is %s", name, was, is)
	})
	compare(r.System, before.System, "drift.new", Note, func(name, is, was string) string {
		if was != "" {
			return ""
		}
		return fmt.Sprintf("%s, %s, was not there when the sheet was checked before", name, is)
	})
	r.sort()
}
