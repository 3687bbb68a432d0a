package gateway

import (
	"cmp"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"frontdesk/auth"
)

// typeName is a resource's name as the description writes types: order_line
// becomes OrderLine.
func typeName(resource string) string {
	var b strings.Builder
	for part := range strings.SplitSeq(resource, "_") {
		if part != "" {
			b.WriteString(strings.ToUpper(part[:1]) + part[1:])
		}
	}
	return b.String()
}

// plural is the plural of an English name.
func plural(name string) string {
	switch {
	case strings.HasSuffix(name, "y") && !strings.HasSuffix(name, "ay") && !strings.HasSuffix(name, "ey") && !strings.HasSuffix(name, "oy"):
		return strings.TrimSuffix(name, "y") + "ies"
	case strings.HasSuffix(name, "s"), strings.HasSuffix(name, "x"), strings.HasSuffix(name, "ch"), strings.HasSuffix(name, "sh"):
		return name + "es"
	default:
		return name + "s"
	}
}

// refusalKey tells refusals apart.
type refusalKey struct {
	status  int
	reasons string
	limited bool
}

func statusName(status int) string { return strings.ReplaceAll(http.StatusText(status), " ", "") }

// refusers are the operations that refuse alike: of one, its name; and what they do.
type refusers struct {
	key  refusalKey
	only string
	verb string
	uses int
}

// nameRefusals names the refusals of the whole interface, whatever the key may call: clients
// that are generated name types after them, which a wider allowlist must not rename. What
// several operations share is named for what these do, or for the status alone, with a number
// from the second one of a name on.
func (d *describer) nameRefusals() map[refusalKey]string {
	names, used := map[refusalKey]string{}, map[string]int{}
	for _, r := range d.everyRefusal() {
		name := upperFirst(cmp.Or(r.only, r.verb)) + statusName(r.key.status)
		if used[name]++; used[name] > 1 {
			name += strconv.Itoa(used[name])
		}
		names[r.key] = name
	}
	return names
}

// everyRefusal lists the refusals of an api_key that may call everything: of each status the
// most common one first, then in the order of the operations.
func (d *describer) everyRefusal() (list []*refusers) {
	every := make([]bool, len(d.g.routes.numbered))
	for i := range every {
		every[i] = true
	}
	all, by := d.g.newDescriber(&auth.Key{Name: d.key.Name, Allowed: every, Bounds: d.key.Bounds}), map[refusalKey]*refusers{}
	for op := range d.g.routes.operations {
		if op.page {
			continue
		}
		all.judge(op)
		for status, rows := range all.rowsByStatus(op) {
			key := refusalKey{status, strings.Join(all.refusal(status, rows).Reasons, " "), all.limited}
			r := by[key]
			if r == nil {
				r = &refusers{key: key, only: op.about.name, verb: verbOf(op)}
				by[key], list = r, append(list, r)
			}
			if r.uses++; r.uses > 1 {
				r.only = ""
			}
			if r.verb != verbOf(op) {
				r.verb = ""
			}
		}
	}
	slices.SortStableFunc(list, func(a, b *refusers) int {
		return cmp.Or(cmp.Compare(a.key.status, b.key.status), cmp.Compare(b.uses, a.uses))
	})
	return list
}

// verbOf is what an operation does to any resource: create, updateMany; "" where it is none of
// these.
func verbOf(op *Operation) string {
	r := op.Endpoint.Resource
	if r == nil {
		return ""
	}
	verb := strings.TrimSuffix(op.about.name, plural(typeName(r.Name)))
	return strings.TrimSuffix(verb, typeName(r.Name))
}
