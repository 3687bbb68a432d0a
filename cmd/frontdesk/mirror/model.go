package mirror

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
)

// resource is a resource as /model/<name> tells of it, in so far as a copy needs that.
type resource struct {
	Name    string  `json:"name"`
	Fields  []field `json:"fields"`
	Changes string  `json:"changes"`
}

type field struct {
	Name      string `json:"name"`
	Datatype  string `json:"datatype"`
	Reference string `json:"reference"`
	Array     bool   `json:"array"`
}

// kinds are the types of columns by datatype. Contents and arrays have none: contents are
// left out, and the lines in an array are records of their own resource.
var kinds = map[string]string{"int4": "INTEGER", "float8": "REAL", "varchar": "TEXT", "text": "TEXT", "timestamp": "TEXT"}

// columns are the fields that are copied, the id first.
func (r *resource) columns() []field {
	all := slices.DeleteFunc(slices.Clone(r.Fields), func(f field) bool { return f.Array || kinds[f.Datatype] == "" })
	slices.SortStableFunc(all, func(a, b field) int {
		switch {
		case a.Name == idColumn:
			return -1
		case b.Name == idColumn:
			return 1
		}
		return 0
	})
	return all
}

// discover asks whose records these are, and which resources can be copied: those that were
// named, or all whose changes are told.
func (m *mirror) discover(ctx context.Context) (client string, told []*resource, err error) {
	var acces struct{ Data struct{ Client string } }
	if err := m.client.get(ctx, "/authenticate/acces", nil, &acces); err != nil {
		return "", nil, err
	}
	var modules struct {
		Data []struct{ Resources []string }
	}
	if err := m.client.get(ctx, "/authenticate/modules", nil, &modules); err != nil {
		return "", nil, err
	}
	var readable []string
	for _, module := range modules.Data {
		readable = append(readable, module.Resources...)
	}
	for _, name := range m.o.Resources {
		if !slices.Contains(readable, name) {
			return "", nil, Wrong{fmt.Errorf("--resource %s: not among what this api_key may GET: %s", name, strings.Join(readable, ", "))}
		}
	}
	m.models = map[string]*resource{}
	for _, name := range readable {
		var model struct{ Data *resource }
		err := m.client.get(ctx, "/model/"+name, nil, &model)
		if is(err, endpointUnknown) {
			return "", nil, fmt.Errorf("this api_key may not GET /model/%s, which a copy is made by: ask the operator for GET /model/*", name)
		}
		if err != nil {
			return "", nil, err
		}
		m.models[name] = model.Data
		wanted := len(m.o.Resources) == 0 || slices.Contains(m.o.Resources, name)
		switch {
		case !wanted:
		case model.Data.Changes != "all" && model.Data.Changes != "without deletions":
			if len(m.o.Resources) > 0 {
				return "", nil, Wrong{fmt.Errorf("--resource %s: its changes are not told", name)}
			}
		default:
			told = append(told, model.Data)
		}
	}
	if len(told) == 0 {
		return "", nil, fmt.Errorf("of nothing that this api_key may GET changes are told")
	}
	return cmp.Or(acces.Data.Client, nameless+m.o.Username), told, nil
}

// parentOf finds the resource whose records have those of a child as an array, and the
// child's field that names its parent.
func (m *mirror) parentOf(child *resource) (parent *resource, array, key string) {
	for _, candidate := range m.models {
		for _, f := range candidate.Fields {
			if !f.Array || f.Reference != child.Name {
				continue
			}
			keys := slices.DeleteFunc(child.columns(), func(f field) bool { return f.Reference != candidate.Name })
			if len(keys) == 1 {
				return candidate, f.Name, keys[0].Name
			}
		}
	}
	return nil, "", ""
}
