package sheet

import (
	"errors"
	"maps"
	"slices"
	"strings"

	"frontdesk/config/strictyaml"
	"frontdesk/mapping"
)

// LoadPart loads a sheet that has problems, without its faulty parts: it leaves out fields,
// resources and accounts with a problem, and what depends on them. Tools use it to say more
// about an unfinished sheet; the gateway never serves by it. without lists the paths left
// out. The sheet is nil if a problem is in a part that no sheet can do without.
func LoadPart(path string, model *mapping.Model, o Options) (s *Sheet, without []string, err error) {
	o.without = map[string]bool{}
	for {
		s, err = Load(path, model, o)
		problems, ok := errors.AsType[strictyaml.Problems](err)
		if !ok {
			return s, slices.Sorted(maps.Keys(o.without)), err
		}
		fields, others := map[string]bool{}, map[string]bool{}
		for _, p := range problems {
			part, isField := partOf(p.Path, o.without)
			if part == "" || o.without[part] {
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
		maps.Copy(o.without, others)
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

// leaveOut takes parts out of a sheet, except accounts, which load leaves out. A field that the
// interface requires becomes absent: true.
func (f *file) leaveOut(parts map[string]bool, model *mapping.Model) {
	for part := range parts {
		steps := strings.Split(part, ".")
		switch steps[0] {
		case "errors":
			f.Errors = nil
		case "keep":
			f.Keep = "keep.db"
		case "rules":
			f.Rules = "backend"
		case "without_rules":
			f.WithoutRules = nil
		case "codes":
			delete(f.Codes, steps[1])
		case "resources":
			f.leaveOutOf(steps[1:], model)
		}
	}
}

func (f *file) leaveOutOf(steps []string, model *mapping.Model) {
	if len(steps) == 1 {
		delete(f.Resources, steps[0])
		return
	}
	r, known := f.Resources[steps[0]]
	if !known {
		return
	}
	delete(r.Fields, steps[2])
	if of := model.Resource(steps[0]); of != nil {
		if field := of.Field(steps[2]); field != nil && field.Required {
			r.Fields[steps[2]] = fieldFile{given: true, fieldSettings: fieldSettings{promiseFile: promiseFile{Absent: true}}}
		}
	}
}

// others are the problems of the parts that were not left out.
func others(problems strictyaml.Problems, without map[string]bool) strictyaml.Problems {
	return slices.DeleteFunc(problems, func(p strictyaml.Problem) bool {
		for part := range without {
			if rest, is := strings.CutPrefix(p.Path, part); is && (rest == "" || rest[0] == '.' || rest[0] == '[') {
				return true
			}
		}
		return false
	})
}
