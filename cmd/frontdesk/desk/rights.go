package desk

import (
	"fmt"
	"slices"

	"frontdesk/config"
	"frontdesk/config/strictyaml"
	"frontdesk/gateway"
	"frontdesk/mapping"
)

// rightsOf returns the fields that an allowlist withholds. A field withheld from GET is withheld from
// writes, too. For an api_key without GET, the answers to its writes leave out what POST or PUT withholds,
// except for the fields that every record has.
func rightsOf(rules []config.Rule, endpoints []config.Endpoint) mapping.Rights {
	if !slices.ContainsFunc(rules, config.Rule.TakesFields) { // the usual case
		return nil
	}
	byPath, common := map[string]map[string][]string{}, map[string]config.Names{} // byPath[path][method] is withheld
	for _, e := range endpoints {
		if fields, ok := config.Taken(rules, e); ok && e.Fields != "" {
			if byPath[e.Path] == nil {
				byPath[e.Path], common[e.Path] = map[string][]string{}, e.Common
			}
			byPath[e.Path][e.Method] = fields
		}
	}
	rights := mapping.Rights{}
	for path, taken := range byPath {
		reads, may := taken["GET"]
		if !may {
			reads = slices.DeleteFunc(union(taken["POST"], taken["PUT"]), common[path].Has)
		}
		of := mapping.FieldRights{Reads: reads, Creates: union(reads, taken["POST"]), Updates: union(reads, taken["PUT"])}
		if len(of.Creates)+len(of.Updates) > 0 {
			rights[path[1:]] = of
		}
	}
	return rights
}

// union returns the names of both lists, sorted, each once.
func union(a, b []string) []string {
	return slices.Compact(slices.Sorted(slices.Values(slices.Concat(a, b))))
}

// judgeRights reports the entries that withhold fields that a gateway cannot withhold from an api_key.
func judgeRights(c *config.Config, g *gateway.Gateway) (problems strictyaml.Problems) {
	endpoints := EndpointsOf(g)
	for i := range c.APIKeys {
		key := &c.APIKeys[i]
		rights := rightsOf(key.Allow, endpoints)
		if rights == nil {
			continue
		}
		may := func(method, path string) bool {
			_, ok := config.Taken(key.Allow, config.Endpoint{Method: method, Path: path})
			return ok
		}
		for _, fault := range g.RightsFaults(rights, may) {
			entry := max(0, config.TakenBy(key.Allow, endpoints, fault.Resource, fault.Field))
			at := key.AllowAt(entry)
			problems = append(problems, strictyaml.Problem{
				File: at.File, Line: at.Line, Column: 1, Path: fmt.Sprintf("allow[%d] of %s", entry, key.Name), Rule: config.RuleAllowFieldNeeded,
				Message: fmt.Sprintf("takes %s of %s away: %s", fault.Field, fault.Resource, fault.Why),
			})
		}
	}
	return problems
}

// judgeRightsOf is judgeRights for the gateway that the configuration would have. It returns no problem if
// that gateway cannot be made, which is reported elsewhere.
func judgeRightsOf(c *config.Config) strictyaml.Problems {
	if !slices.ContainsFunc(c.APIKeys, func(k config.Key) bool { return slices.ContainsFunc(k.Allow, config.Rule.TakesFields) }) {
		return nil
	}
	offer, err := OfferOf(c)
	if err != nil {
		return nil
	}
	g, err := DescribingGateway(c, offer, ProductionEnvironment)
	if err != nil {
		return nil
	}
	return judgeRights(c, g)
}
