package main

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"frontdesk/auth"
	"frontdesk/cmd/frontdesk/accesslog"
	"frontdesk/cmd/frontdesk/terminal"
	"frontdesk/config"
	"frontdesk/gateway"
)

type allowCommands struct {
	Learn  allowLearnCommand  `cmd:"" help:"Draft the least allowlist that lets an api_key do what it did."`
	Unused allowUnusedCommand `cmd:"" help:"Show what allowlists grant and nobody used."`
}

// grantUses tells which grants the requests of an api_key used.
type grantUses struct {
	used    map[gateway.Grant]*logTally // served in the time asked for
	before  map[gateway.Grant]*logTally // served before it
	refused map[gateway.Grant]*logTally // in the time asked for
	gone    map[string]*logTally        // served, of operations that the configuration does not have
	untold  map[gateway.Grant]*logTally // served, and needing it if they had arrays, which the log does not tell
}

// grantUsesOf sorts the requests of each api_key by the grants they used. What
// needs none is left out.
func (t *tools) grantUsesOf(during, before uses) map[string]*grantUses {
	byKey := map[string]*grantUses{}
	for i := range t.keys {
		byKey[t.keys[i].Name] = &grantUses{
			used: map[gateway.Grant]*logTally{}, before: map[gateway.Grant]*logTally{}, refused: map[gateway.Grant]*logTally{}, gone: map[string]*logTally{},
			untold: map[gateway.Grant]*logTally{},
		}
	}
	for u, n := range during {
		g := byKey[u.Key]
		if g == nil || u.Endpoint == "" {
			continue
		}
		switch grant, governed, known := t.grantOf(u); {
		case known && !governed:
		case !known && u.Then != wasRefused:
			sum(g.gone, u.Method+" "+u.Endpoint, n)
		case u.Then == wasRefused && known && u.Lacks == "":
			sum(g.refused, grant, n)
		case known:
			sum(g.used, grant, n)
			t.sumArrays(g, u, n)
		}
	}
	for u, n := range before {
		if grant, governed, known := t.grantOf(u); byKey[u.Key] != nil && known && governed && u.Then != wasRefused {
			sum(byKey[u.Key].before, grant, n)
			for _, need := range t.named(u.Needs) {
				sum(byKey[u.Key].before, need, n)
			}
		}
	}
	return byKey
}

// sumArrays adds what the arrays of requests took beside the operation itself.
func (t *tools) sumArrays(g *grantUses, u use, n *logTally) {
	lacks := t.named(u.Lacks)
	for _, need := range t.named(u.Needs) {
		if u.Then == wasRefused && slices.Contains(lacks, need) {
			sum(g.refused, need, n)
		} else {
			sum(g.used, need, n)
		}
	}
	if u.Untold {
		for _, need := range t.gateway.ArraysWithout(new(auth.Key), t.gateway.Logged(u.Method, u.Endpoint)) {
			sum(g.untold, need.Grant, n)
		}
	}
}

// named are the grants of a list, as far as the configuration has them.
func (t *tools) named(list string) (grants []gateway.Grant) {
	for _, text := range listed(list) {
		method, path, _ := strings.Cut(text, " ")
		if grant := (gateway.Grant{Method: method, Path: path}); slices.Contains(t.grants, grant) {
			grants = append(grants, grant)
		}
	}
	return grants
}

// grantOf finds the grant that a use needs.
func (t *tools) grantOf(u use) (grant gateway.Grant, governed, known bool) {
	op := t.gateway.Logged(u.Method, u.Endpoint)
	if op == nil {
		return grant, false, false
	}
	grant, governed = op.Grant()
	return grant, governed, true
}

func sum[K comparable](m map[K]*logTally, k K, n *logTally) {
	if m[k] == nil {
		m[k] = new(logTally)
	}
	m[k].add(n.Requests, n.Last)
}

// covered are the grants that an entry of an allowlist covers, those that were
// used first.
func (t *tools) covered(rule config.Rule, used map[gateway.Grant]*logTally) (yes, no []gateway.Grant) {
	for _, grant := range t.grants {
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

// total is what was counted for several grants.
func total(grants []gateway.Grant, of map[gateway.Grant]*logTally) (all logTally) {
	for _, grant := range grants {
		if n := of[grant]; n != nil {
			all.add(n.Requests, n.Last)
		}
	}
	return all
}

// methodOrder is that of the interface.
var methodOrder = [...]string{"GET", "POST", "PUT", "DELETE"}

// byEndpoint puts grants in the order that people look for them in.
func byEndpoint(a, b gateway.Grant) int {
	return cmp.Or(cmp.Compare(a.Path, b.Path), slices.Index(methodOrder[:], a.Method)-slices.Index(methodOrder[:], b.Method))
}

// shortPeriod is how much of a log should be looked at before something is called
// unused: what runs once a month must be in it.
const shortPeriod = 31 * 24 * time.Hour

// shortNotice warns of a period that tells too little; "" where it does not.
func shortNotice(s accesslog.Summary) string {
	covered := s.Newest.Sub(s.Oldest)
	if covered >= shortPeriod {
		return ""
	}
	span := "less than an hour"
	switch {
	case covered >= 48*time.Hour:
		span = terminal.Count(int64(covered/(24*time.Hour))) + " days"
	case covered >= time.Hour:
		span = terminal.Count(int64(covered/time.Hour)) + " hours"
	}
	return "the logs cover " + span + " only: what is done once a month or once a year does not show in them"
}
