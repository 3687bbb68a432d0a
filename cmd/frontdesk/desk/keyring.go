package desk

import (
	"net/netip"

	"frontdesk/auth"
	"frontdesk/config"
	"frontdesk/gateway"
)

// NewKeys returns the api_keys of a configuration. For each it finds the gateway's grants that the key's
// allowlist covers, and the fields that it withholds.
func NewKeys(keys []config.Key, g *gateway.Gateway) []auth.Key {
	all, grants := make([]auth.Key, len(keys)), g.Grants()
	endpoints := EndpointsOf(g)
	covered := make(map[config.Rule][]int) // by rule: keys have most of them in common
	for i, k := range keys {
		key := auth.Key{Name: k.Name, Expires: k.Expires.Time, Stale: k.Stale, Allowed: make([]bool, len(grants)), Rights: rightsOf(k.Allow, endpoints)}
		for _, hash := range k.Hashes {
			key.Hashes = append(key.Hashes, auth.KeyHash{Hash: hash.Hash, Expires: hash.Expires.Time})
		}
		for _, rule := range k.Allow {
			numbers, known := covered[rule]
			if !known {
				numbers = coveredBy(rule, grants)
				covered[rule] = numbers
			}
			for _, n := range numbers {
				key.Allowed[n] = true
			}
		}
		key.Bounds = auth.Bounds{Rate: rateOf(k.Rate), Concurrent: k.Concurrent, PerDay: k.PerDay}
		key.Addresses = prefixes(k.Addresses)
		for _, digest := range k.Certificates {
			key.Certificates = append(key.Certificates, digest)
		}
		all[i] = key
	}
	return all
}

// coveredBy returns the numbers of the grants that a rule covers.
func coveredBy(rule config.Rule, grants []gateway.Grant) (numbers []int) {
	for n, grant := range grants {
		if rule.Matches(grant.Method, grant.Path) {
			numbers = append(numbers, n)
		}
	}
	return numbers
}

func rateOf(r *config.Rate) auth.Rate {
	if r == nil {
		return auth.Rate{}
	}
	return auth.Rate{PerSecond: r.PerSecond, Burst: r.Burst}
}

func prefixes(networks []config.Network) []netip.Prefix {
	var all []netip.Prefix
	for _, n := range networks {
		all = append(all, n.Prefix)
	}
	return all
}
