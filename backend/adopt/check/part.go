package check

import (
	"errors"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"

	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/parser"

	"frontdesk/config/strictyaml"
	"frontdesk/mapping"
	"frontdesk/mapping/sheet"
)

// LoadPart loads a sheet that has problems, without its faulty parts: it leaves out fields,
// resources and accounts with a problem, and what depends on them. Tools use it to say more
// about an unfinished sheet; the gateway never serves by it. without lists the paths left
// out. The sheet is nil if a problem is in a part that no sheet can do without.
func LoadPart(path string, model *mapping.Model, o sheet.Options) (s *sheet.Sheet, without []string, err error) {
	src, err := os.ReadFile(path)
	if err != nil {
		return nil, nil, err
	}
	out := map[string]bool{}
	for {
		s, err = sheet.Parse(path, remaining(src, model, out), model, o)
		problems, ok := errors.AsType[strictyaml.Problems](err)
		if !ok {
			return s, slices.Sorted(maps.Keys(out)), err
		}
		fields, others := map[string]bool{}, map[string]bool{}
		for _, p := range problems {
			part, isField := partOf(p.Path, out)
			if part == "" || out[part] {
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
		maps.Copy(out, others)
	}
}

// instead stands for parts that a sheet cannot do without.
var instead = map[string]string{"accounts": "{users: []}", "keep": "keep.db", "rules": "backend"}

// remaining is a sheet without some of its parts.
func remaining(src []byte, model *mapping.Model, out map[string]bool) []byte {
	file, err := parser.ParseBytes(src, 0)
	if err != nil || len(file.Docs) == 0 {
		return src // what is wrong is told when it is loaded
	}
	added := ""
	for part := range out {
		steps := strings.Split(part, ".")
		if replaced := instead[part]; replaced != "" {
			added += fmt.Sprintf("\n%s: %s", part, replaced)
		}
		leaveOut(file.Docs[0].Body, steps, len(steps) == fieldSteps && isMapped(model.Resource(steps[1]), steps[3]))
	}
	return []byte(strings.TrimRight(file.String(), "\n") + added + "\n")
}

// isMapped tells whether a sheet maps a field of a resource that the model has.
func isMapped(r *mapping.Resource, name string) bool {
	f := (*mapping.Field)(nil)
	if r != nil {
		f = r.Field(name)
	}
	return f != nil && !f.Primary
}

// leaveOut takes what is at a path out of a mapping. A field that a resource needs is absent then on
// purpose.
func leaveOut(in ast.Node, steps []string, isField bool) {
	m, is := in.(*ast.MappingNode)
	if !is {
		return
	}
	i := slices.IndexFunc(m.Values, func(v *ast.MappingValueNode) bool { return v.Key.GetToken().Value == steps[0] })
	switch {
	case i < 0:
	case len(steps) > 1:
		leaveOut(m.Values[i].Value, steps[1:], isField)
	case isField:
		absent, _ := parser.ParseBytes([]byte("{absent: true}"), 0)
		m.Values[i].Value = absent.Docs[0].Body
	default:
		m.Values = slices.Delete(m.Values, i, i+1)
	}
}

// fieldSteps is how many steps lead to a field: resources.NAME.fields.NAME.
const fieldSteps = 4

// partOf returns the part that has a problem, if a sheet can be loaded without it; "" if not.
func partOf(path string, without map[string]bool) (part string, isField bool) {
	steps := strings.FieldsFunc(path, func(r rune) bool { return r == '.' || r == '[' })
	if len(steps) >= fieldSteps && steps[0] == "resources" && steps[2] == "fields" {
		if field := strings.Join(steps[:fieldSteps], "."); !without[field] {
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
