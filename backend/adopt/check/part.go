package check

import (
	"errors"
	"maps"
	"slices"
	"strings"

	"frontdesk/config/strictyaml"
	"frontdesk/mapping"
	"frontdesk/mapping/sheet"
)

// LoadPart loads a sheet that has problems, without its faulty parts: it leaves out fields,
// resources and accounts with a problem, and what depends on them. Tools use it to say more
// about an unfinished sheet; the gateway never serves by it. without lists the paths left
// out. The sheet is nil if a problem is in a part that no sheet can do without.
func LoadPart(path string, model *mapping.Model, o sheet.Options) (s *sheet.Sheet, without []string, err error) {
	o.Without = map[string]bool{}
	for {
		s, err = sheet.Load(path, model, o)
		problems, ok := errors.AsType[strictyaml.Problems](err)
		if !ok {
			return s, slices.Sorted(maps.Keys(o.Without)), err
		}
		fields, others := map[string]bool{}, map[string]bool{}
		for _, p := range problems {
			part, isField := partOf(p.Path, o.Without)
			if part == "" || o.Without[part] {
				return nil, nil, nil
			}
			if isField {
				fields[part] = true
			} else {
				others[part] = true
			}
		}
		if len(fields) > 0 { // without them others may be well
			others = fields
		}
		maps.Copy(o.Without, others)
	}
}

// partOf returns the part that has a problem, if a sheet can be loaded without it; "" if not.
func partOf(path string, without map[string]bool) (part string, isField bool) {
	steps := strings.FieldsFunc(path, func(r rune) bool { return r == '.' || r == '[' })
	if len(steps) >= 4 && steps[0] == "resources" && steps[2] == "fields" {
		if field := strings.Join(steps[:4], "."); !without[field] {
			return field, true
		}
	}
	switch {
	case len(steps) >= 2 && (steps[0] == "resources" || steps[0] == "codes"):
		return steps[0] + "." + steps[1], false
	case len(steps) >= 1 && slices.Contains([]string{"accounts", "errors", "keep", "rules", "without_rules"}, steps[0]):
		return steps[0], false
	}
	return "", false
}
