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
	used    map[gateway.Grant]*counted // served in the time asked for
	before  map[gateway.Grant]*counted // served before it
	refused map[gateway.Grant]*counted // in the time asked for
	gone    map[string]*counted        // served, of operations that the configuration does not have
}

// grantUsesOf sorts the requests of each api_key by the grants they used. What
// needs none is left out.
func (l *Lists) grantUsesOf(all *Used) map[string]*grantUses {
	byKey := map[string]*grantUses{}
	for i := range l.keys {
		byKey[l.keys[i].Name] = &grantUses{
			used: map[gateway.Grant]*counted{}, before: map[gateway.Grant]*counted{}, refused: map[gateway.Grant]*counted{}, gone: map[string]*counted{},
		}
	}
	for u, n := range all.during {
		g := byKey[u.Key]
		if g == nil || u.Endpoint == "" {
			continue
		}
		switch grant, governed, known := l.grantOf(u); {
		case known && !governed:
		case !known && u.Then != wasRefused:
			sum(g.gone, u.Method+" "+u.Endpoint, n)
		case u.Then == wasRefused && known && u.Lacks == "":
			sum(g.refused, grant, n)
		case known:
			sum(g.used, grant, n)
			l.sumArrays(g, u, n)
		}
	}
	for u, n := range all.before {
		if grant, governed, known := l.grantOf(u); byKey[u.Key] != nil && known && governed && u.Then != wasRefused {
			sum(byKey[u.Key].before, grant, n)
			for _, need := range l.named(u.Needs) {
				sum(byKey[u.Key].before, need, n)
			}
		}
	}
	return byKey
}

// sumArrays adds up the arrays that requests used, besides the operation itself.
func (l *Lists) sumArrays(g *grantUses, u use, n *counted) {
	lacks := l.named(u.Lacks)
	for _, need := range l.named(u.Needs) {
		if u.Then == wasRefused && slices.Contains(lacks, need) {
			sum(g.refused, need, n)
		} else {
			sum(g.used, need, n)
		}
	}
}

// named are the grants of a list, as far as the configuration has them.
func (l *Lists) named(list string) (grants []gateway.Grant) {
	for _, text := range listed(list) {
		method, path, _ := strings.Cut(text, " ")
		if grant := (gateway.Grant{Method: method, Path: path}); slices.Contains(l.grants, grant) {
			grants = append(grants, grant)
		}
	}
	return grants
}

// grantOf finds the grant that a use needs.
func (l *Lists) grantOf(u use) (grant gateway.Grant, governed, known bool) {
	op := l.gateway.Logged(u.Method, u.Endpoint)
	if op == nil {
		return grant, false, false
	}
	grant, governed = op.Grant()
	return grant, governed, true
}

func sum[K comparable](m map[K]*counted, k K, n *counted) {
	if m[k] == nil {
		m[k] = new(counted)
	}
	m[k].add(n.Requests, n.Last)
}

// covered are the grants that an entry of an allowlist covers, those that were
// used first.
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

// total adds up the counts of several grants.
func total(grants []gateway.Grant, of map[gateway.Grant]*counted) (all counted) {
	for _, grant := range grants {
		if n := of[grant]; n != nil {
			all.add(n.Requests, n.Last)
		}
	}
	return all
}

// methodOrder is the order of the interface.
var methodOrder = [...]string{"GET", "POST", "PUT", "DELETE"}

// byEndpoint puts grants in the order that people look for them in.
func byEndpoint(a, b gateway.Grant) int {
	return cmp.Or(cmp.Compare(a.Path, b.Path), slices.Index(methodOrder[:], a.Method)-slices.Index(methodOrder[:], b.Method))
}
