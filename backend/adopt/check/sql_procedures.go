package check

import (
	"cmp"
	"fmt"
	"strings"

	"frontdesk/backend/legacy"
	"frontdesk/config/strictyaml"
)

// procedures looks for procedures and their arguments.
func (c *resourceCheck) procedures() {
	for op, how := range c.Operations {
		name := cmp.Or(how.Procedure, how.After)
		if name == "" {
			continue
		}
		path := c.at("operations", string(op))
		var known []string
		var found *legacy.Routine
		for i := range c.schema.Routines {
			known = append(known, c.schema.Routines[i].Name)
			if r := &c.schema.Routines[i]; r.Name == name && (found == nil || inputs(r) == len(how.Arguments)) {
				found = r
			}
		}
		if found == nil {
			c.add(Error, "sql.procedure-missing", path, fmt.Sprintf("there is no procedure %s%s", name, strictyaml.Suggest(name, known)), "name a procedure of the database")
			continue
		}
		out := 0
		for _, p := range found.Parameters {
			if p.Out {
				out++
			}
		}
		if in := inputs(found); in != len(how.Arguments) {
			c.add(Error, "sql.argument-missing", strictyaml.Child(path, "arguments"), fmt.Sprintf("%s takes %d arguments (%s), the sheet gives %d", found.Name, in, parameterNames(found), len(how.Arguments)), "give them all, in their order")
		}
		if len(how.Out) > out && !found.Function {
			c.add(Error, "sql.argument-missing", strictyaml.Child(path, "out"), fmt.Sprintf("%s has %d out parameters (%s), the sheet reads %d", found.Name, out, parameterNames(found), len(how.Out)), "read those that there are")
		}
	}
}

func inputs(r *legacy.Routine) (n int) {
	for _, p := range r.Parameters {
		if p.In {
			n++
		}
	}
	return n
}

func parameterNames(r *legacy.Routine) string {
	var all []string
	for _, p := range r.Parameters {
		text := p.Name + " " + p.Type
		if p.Out {
			text += " out"
		}
		all = append(all, text)
	}
	return strings.Join(all, ", ")
}
