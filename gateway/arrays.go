package gateway

import (
	"slices"

	"frontdesk/auth"
	"frontdesk/mapping"
)

// The elements of an array field are records of another resource. An api_key that may not
// GET these does not see them in their parent record either, and what it may not POST it
// cannot send with a new parent: such a field is not in the key's model at all, in any
// use of the model. That is decided in this file and nowhere else.

// arrayUse is what a request does with an array field.
type arrayUse int

const (
	arrayRead  arrayUse = iota // have it answered
	arraySend                  // send it with a new record
	arrayKnown                 // know of it: in the model, and in updates, which take no arrays
)

// writes returns the writes in which the use sends a field.
func (use arrayUse) writes() mapping.Writes {
	return [...]mapping.Writes{arrayRead: 0, arraySend: mapping.InCreates, arrayKnown: mapping.InUpdates}[use]
}

// childRights are the rights to have an array field answered, and to send it.
type childRights [2]childRight

// childRight is the right to one operation of an array's elements. If that operation is
// not offered at all, the number is openToAll: the array is then the only access to the
// elements, and follows the right to the parent record.
type childRight struct {
	number int
	grant  string // as an allowlist has it; "" where the operation is not offered
}

// childRightsOf finds the rights to every array of a model.
func (r *routes) childRightsOf(model *mapping.Model) map[*mapping.Field]childRights {
	all := map[*mapping.Field]childRights{}
	for _, resource := range model.Resources {
		for _, f := range mapping.Each(resource.Fields) {
			if f.Type == mapping.Array {
				all[f] = childRights{arrayRead: r.rightTo("GET", "/"+f.ArrayOf), arraySend: r.rightTo("POST", "/"+f.ArrayOf)}
			}
		}
	}
	return all
}

func (r *routes) rightTo(method, path string) childRight {
	if e := r.endpoints[path]; e != nil {
		if op := e.first(method); op != nil {
			return childRight{number: op.Number, grant: op.grant}
		}
	}
	return childRight{number: openToAll}
}

func (c childRight) of(key *auth.Key) bool { return c.number == openToAll || key.May(c.number) }

// mayUse reports whether an api_key's model has an array field. It allocates nothing.
func (r *routes) mayUse(key *auth.Key, f *mapping.Field, use arrayUse) bool {
	withheld := f.Withheld&use.writes() != 0
	if f.Type != mapping.Array {
		return !withheld
	}
	rights, known := r.children[f]
	if use == arrayKnown {
		return known && (rights[arrayRead].of(key) || rights[arraySend].of(key))
	}
	return known && !withheld && rights[use].of(key)
}

// arraysOf are the arrays of an api_key's model.
type arraysOf struct {
	routes *routes
	key    *auth.Key
	use    arrayUse
}

// Has implements mapping.Arrays.
func (a arraysOf) Has(f *mapping.Field) bool { return a.routes.mayUse(a.key, f, a.use) }

// arrays returns the arrays that the api_key of a description may use.
func (d *describer) arrays(use arrayUse) mapping.Arrays {
	return arraysOf{d.g.routes, d.key, use}
}

// sent returns what the body of an operation does with arrays.
func (op *Operation) sent() arrayUse {
	if op.Method == "POST" {
		return arraySend
	}
	return arrayKnown
}

// arrayName returns the first array that the api_key may know of, as an example; "" if there
// is none.
func (d *describer) arrayName() string {
	for _, r := range d.g.o.Offer.Model.Resources {
		for _, f := range mapping.Each(r.Fields) {
			if f.Type == mapping.Array && f.In(d.arrays(arrayKnown)) {
				return f.Name
			}
		}
	}
	return ""
}

// readsOrSends reports whether a request may use an array field that it named, and notes
// for the log which right that needs.
func (x *Exchange) readsOrSends(f *mapping.Field, use arrayUse) bool {
	if x.background {
		return !slices.Contains(x.without, f.Name)
	}
	right := x.routes.children[f][use]
	if right.grant != "" && !slices.Contains(x.needs, right.grant) {
		x.needs = append(x.needs, right.grant)
	}
	if x.routes.mayUse(x.Key, f, use) {
		return true
	}
	if !slices.Contains(x.lacks, right.grant) {
		x.lacks = append(x.lacks, right.grant)
	}
	return false
}

// knows reports whether the caller may learn that the array field exists.
func (x *Exchange) knows(f *mapping.Field, use arrayUse) bool {
	if x.background {
		return !slices.Contains(x.without, f.Name)
	}
	return x.routes.mayUse(x.Key, f, use)
}

// sentArrays are the arrays that a body may have.
type sentArrays Exchange

// Has implements mapping.Arrays.
func (s *sentArrays) Has(f *mapping.Field) bool {
	x := (*Exchange)(s)
	switch use := x.Operation.sent(); {
	case f.Withheld&use.writes() != 0:
		return false
	case f.Type != mapping.Array:
		return true
	case use == arraySend:
		return x.readsOrSends(f, use)
	default:
		return x.knows(f, arrayKnown)
	}
}

// modelVersion identifies the model as the caller meets it.
func (x *Exchange) modelVersion(model *mapping.Model) string {
	version := model.Version
	for _, resource := range model.Resources {
		for _, f := range mapping.Each(resource.Fields) {
			for use, what := range [...]string{arrayRead: "reading", arraySend: "sending"} {
				if f.Type == mapping.Array && !x.knows(f, arrayUse(use)) {
					version += " without " + what + " " + resource.Name + "." + f.Name
				}
			}
		}
	}
	return version
}

// ArrayNeed is an array field of an operation, and the entry of an allowlist that it
// needs.
type ArrayNeed struct {
	Field     string
	Operation Grant
	Grant     Grant
}

// ArraysWithout returns the arrays of an operation's answers and bodies that an api_key
// cannot use.
func (g *Gateway) ArraysWithout(key *auth.Key, op *Operation) []ArrayNeed {
	r, use := op.Endpoint.Resource, arrayRead
	switch {
	case r != nil && op == op.Endpoint.item["GET"]:
	case r != nil && op == op.Endpoint.list["POST"]:
		use = arraySend
	default:
		return nil
	}
	var without []ArrayNeed
	for _, f := range mapping.Each(r.Fields) {
		if f.Type == mapping.Array && !(use == arraySend && f.Readonly) && !g.routes.mayUse(key, f, use) {
			without = append(without, ArrayNeed{Field: f.Name, Operation: Grant{op.Method, op.Endpoint.Path}, Grant: Grant{op.Method, "/" + f.ArrayOf}})
		}
	}
	return without
}

// ArraysWithheld returns the arrays that an api_key cannot use although it may call the
// operations that have them.
func (g *Gateway) ArraysWithheld(key *auth.Key) (all []ArrayNeed) {
	for op := range g.routes.operations {
		if op.isFor(key) {
			all = append(all, g.ArraysWithout(key, op)...)
		}
	}
	return all
}
