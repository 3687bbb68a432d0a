package config

import (
	"fmt"
	"slices"
	"strings"
	"unique"

	"frontdesk/config/strictyaml"
)

// Names are names of fields in one text: birth_date, note. So a Rule is comparable.
type Names string

// NamesOf joins names.
func NamesOf(names []string) Names { return Names(strings.Join(names, ", ")) }

// Has reports whether a name is among them.
func (n Names) Has(name string) bool { return slices.Contains(n.list(), name) }

func (n Names) list() []string {
	return strings.FieldsFunc(string(n), func(r rune) bool { return r == ',' || r == ' ' })
}

// primaryID is the field that every request for one record names; it is never withheld.
const primaryID = "id"

const fieldsForm = "{without: [fields]} or {only: [fields]}"

// UnmarshalYAML reads the text of a rule, or a mapping of method and path to Fields.
func (r *Rule) UnmarshalYAML(n strictyaml.Node) error {
	if n.Kind() != strictyaml.Mapping {
		n.Decode((*ruleText)(r))
		return nil
	}
	keys := n.Keys()
	if len(keys) != 1 {
		return fmt.Errorf("found %d keys, expected one, such as GET /contact: {without: [note]}", len(keys))
	}
	rule, err := parseGrant(keys[0].Name)
	if err != nil {
		return fmt.Errorf("found %s, %w", strictyaml.Quote(keys[0].Name), err)
	}
	fields := map[string]Fields{}
	if !n.Decode(&fields) {
		return nil
	}
	if *r, err = rule.with(fields[keys[0].Name]); err != nil {
		return fmt.Errorf("found without and only, or no field, %w", err)
	}
	return nil
}

// ruleText is a Rule that is decoded only from text.
type ruleText Rule

// UnmarshalText is ParseRule.
func (r *ruleText) UnmarshalText(text []byte) error { return (*Rule)(r).UnmarshalText(text) }

func (r Rule) parseFields(text string) (Rule, error) {
	var fields Fields
	if _, problems := strictyaml.Decode("", []byte(text), &fields, strictyaml.Options{}); len(problems) > 0 {
		return Rule{}, strictyaml.Expected(fieldsForm)
	}
	return r.with(fields)
}

// with returns the rule with the fields that it withholds.
func (r Rule) with(f Fields) (Rule, error) {
	if (f.Without == nil) == (f.Only == nil) || len(f.Without)+len(f.Only) == 0 {
		return Rule{}, strictyaml.Expected(fieldsForm)
	}
	r.Without, r.Only = unique.Make(NamesOf(f.Without)).Value(), unique.Make(NamesOf(f.Only)).Value()
	return r, nil
}

// TakesFields reports whether the rule withholds fields.
func (r Rule) TakesFields() bool { return r.Without != "" || r.Only != "" }

// fields formats the fields that the rule withholds, as they stand after its method and path; "" for none.
func (r Rule) fields() string {
	switch {
	case r.Without != "":
		return ": {without: [" + string(r.Without) + "]}"
	case r.Only != "":
		return ": {only: [" + string(r.Only) + "]}"
	default:
		return ""
	}
}

// Takes returns the fields of an endpoint that the rule withholds, sorted; none if it does not match the
// endpoint. With Only, it never withholds the primary ID, nor from answers the fields that every record has.
func (r Rule) Takes(e Endpoint) []string {
	if !r.TakesFields() || !r.Matches(e.Method, e.Path) {
		return nil
	}
	keeps := r.Only != ""
	named := append(r.Without.list(), r.Only.list()...)
	if keeps && e.Method == "GET" {
		named = append(named, e.Common.list()...)
	}
	return slices.DeleteFunc(e.Fields.list(), func(name string) bool {
		return slices.Contains(named, name) == keeps || keeps && name == primaryID
	})
}

// Taken returns the fields of an endpoint that an allowlist withholds; ok reports whether it grants the
// endpoint. All entries for one endpoint withhold the same (see contradictions).
func Taken(rules []Rule, e Endpoint) (fields []string, ok bool) {
	for _, rule := range rules {
		if rule.Matches(e.Method, e.Path) {
			return rule.Takes(e), true
		}
	}
	return nil, false
}

// TakenBy returns the index of the entry that withholds a field of a resource; -1 if none does.
func TakenBy(rules []Rule, endpoints []Endpoint, resource, field string) int {
	return slices.IndexFunc(rules, func(rule Rule) bool {
		return slices.ContainsFunc(endpoints, func(e Endpoint) bool { return e.Path == "/"+resource && slices.Contains(rule.Takes(e), field) })
	})
}

// fields judges the fields of the entry at a path.
func (c *checker) fields(rule Rule, at string) {
	var known []string
	for _, e := range c.endpoints {
		if e.Path == rule.Path && rule.Matches(e.Method, e.Path) {
			known = append(known, e.Fields.list()...)
		}
	}
	switch {
	case !rule.TakesFields() || c.endpoints == nil:
		return
	case known == nil:
		c.fail(at, ruleAllowFields, "found fields of %s, expected them of GET, POST, PUT or * of one resource, such as GET /contact: what is done with many records follows", rule.grant())
	}
	kind, names := "without", rule.Without
	if rule.Only != "" {
		kind, names = "only", rule.Only
	}
	for i, name := range names.list() {
		if known != nil && !slices.Contains(known, name) {
			field := fmt.Sprintf("%s[%d]", strictyaml.Child(at, rule.grant(), kind), i)
			c.fail(field, ruleAllowFieldUnknown, "found %s, which is no field of %s%s", c.doc.Found(field, name), rule.Path, c.doc.Suggest(field, name, known))
		}
	}
}

// contradictions finds entries that grant the same endpoint but withhold different fields: one would grant
// what the other withholds.
func (c *checker) contradictions(rules []Rule, path string) {
	if !slices.ContainsFunc(rules, Rule.TakesFields) { // the usual case
		return
	}
	for i, rule := range rules {
		for j, other := range rules[:i] {
			found := slices.IndexFunc(c.endpoints, func(e Endpoint) bool {
				return rule.Matches(e.Method, e.Path) && other.Matches(e.Method, e.Path) && !slices.Equal(rule.Takes(e), other.Takes(e))
			})
			if found >= 0 {
				at, first := fmt.Sprintf("%s[%d]", path, i), c.doc.At(fmt.Sprintf("%s[%d]", path, j))
				c.fail(at, ruleAllowContradicts, "found %s, but %s at %s:%d grants %s %s with other fields, expected both to take the same away",
					c.doc.Found(at, rule.String()), c.doc.Found(first.Path, other.String()), first.File, first.Line, c.endpoints[found].Method, c.endpoints[found].Path)
				break
			}
		}
	}
}
