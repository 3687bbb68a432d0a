package allowlist

import (
	"cmp"
	"slices"
	"strings"

	"frontdesk/config"
	"frontdesk/gateway"
)

// grantUses tells which grants the requests of an api_key used.
type grantUses struct {
	used    map[gateway.Grant]*counted
	refused map[gateway.Grant]*counted
	gone    map[string]*counted // served, of operations that the configuration does not have
}

// grantUsesOf sorts the requests of each api_key by the grants they used. What
// needs none is left out.
func (l *Lists) grantUsesOf(all *Used) map[string]*grantUses {
	byKey := map[string]*grantUses{}
	for i := range l.keys {
		byKey[l.keys[i].Name] = &grantUses{used: map[gateway.Grant]*counted{}, refused: map[gateway.Grant]*counted{}, gone: map[string]*counted{}}
	}
	for u, n := range all.uses {
		g := byKey[u.Key]
		if g == nil || u.Endpoint == "" {
			continue
		}
		op := l.gateway.Logged(u.Method, u.Endpoint)
		if op == nil {
			if u.Then != wasRefused {
				sum(g.gone, u.Method+" "+u.Endpoint, *n)
			}
			continue
		}
		switch grant, governed := op.Grant(); {
		case !governed:
		case u.Then == wasRefused && u.Lacks == "":
			sum(g.refused, grant, *n)
		default:
			sum(g.used, grant, *n)
			l.sumArrays(g, u, *n)
		}
	}
	return byKey
}

// sumArrays adds up the arrays that requests used, besides the operation itself.
func (l *Lists) sumArrays(g *grantUses, u use, n counted) {
	lacks := listed(u.Lacks)
	for _, text := range listed(u.Needs) {
		method, path, _ := strings.Cut(text, " ")
		switch need := (gateway.Grant{Method: method, Path: path}); {
		case !slices.Contains(l.grants, need): // of a configuration that had it
		case u.Then == wasRefused && slices.Contains(lacks, text):
			sum(g.refused, need, n)
		default:
			sum(g.used, need, n)
		}
	}
}

// covered are the grants that an entry of an allowlist covers: those that were used, and the others.
func (l *Lists) covered(rule config.Rule, used map[gateway.Grant]*counted) (yes, no []gateway.Grant) {
	for _, grant := range l.grants {
		switch {
		case !rule.Matches(grant.Method, grant.Path):
		case used[grant] != nil:
			yes = append(yes, grant)
		default:
			no = append(no, grant)
		}
	}
	return yes, no
}

// methodOrder is the order of the interface.
var methodOrder = [...]string{"GET", "POST", "PUT", "DELETE"}

// byEndpoint puts grants in the order that people look for them in.
func byEndpoint(a, b gateway.Grant) int {
	return cmp.Or(cmp.Compare(a.Path, b.Path), slices.Index(methodOrder[:], a.Method)-slices.Index(methodOrder[:], b.Method))
}
