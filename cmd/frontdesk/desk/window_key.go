package desk

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"frontdesk/auth"
	"frontdesk/cmd/frontdesk/instrument"
	"frontdesk/config"
	"frontdesk/gateway"
)

// PastKey is the configuration and the use of an api_key, for its page.
type PastKey struct {
	Name       string        `json:"name"`
	Hashes     []PastKeyHash `json:"hashes"`
	Limits     []PastLimit   `json:"limits"`
	Since      time.Time     `json:"counted_since"`
	Whole      bool          `json:"counted_whole"` // if false, what seems unused may have been used
	Allow      []PastEntry   `json:"allow"`
	Ungranted  []PastSeen    `json:"beyond_allow"` // grants that were used, though no entry has them
	Networks   int           `json:"networks"`     // number of networks that it may be used from; 0 for all
	Configured bool          `json:"configured"`
	Grants     []PastSeen    `json:"grants"`
	Clients    []PastSeen    `json:"clients,omitempty"`
	Users      []PastSeen    `json:"users,omitempty"`
	Addresses  []PastSeen    `json:"addresses,omitempty"`
}

// PastSeen is something that was seen, with how often and when last.
type PastSeen = instrument.Seen

// PastKeyHash is one of the hashes of an api_key.
type PastKeyHash struct {
	SHA256   string     `json:"sha256"`
	LastUsed *time.Time `json:"last_used"`
	Expires  *time.Time `json:"expires"`
}

// PastLimit is a bound of each client with an api_key. Only the answers to a client show how near it is to
// the bound.
type PastLimit struct {
	Bound   string `json:"bound"` // as the configuration calls it
	Words   string `json:"-"`
	Most    int64  `json:"most"`
	Refused int    `json:"refused"` // how many of the kept refusals are by this bound
}

// PastEntry is an entry of an allowlist, and its use.
type PastEntry struct {
	Rule     string     `json:"rule"`
	At       string     `json:"at"`
	Grants   int        `json:"grants"`
	Requests uint64     `json:"requests"`
	Last     *time.Time `json:"last"`
	Unused   []string   `json:"unused"` // grants of the entry that were not used
}

// pastKey returns the configuration in force of a key, and what is known of its use.
func (h *Desk) pastKey(name string, refusals []instrument.Refusal) *PastKey {
	tied := h.past.Tied(name)
	k := &PastKey{Name: name, Since: tied.Since, Whole: tied.Whole, Grants: tied.With[instrument.Grants], Clients: tied.With[instrument.Clients], Users: tied.With[instrument.Users], Addresses: tied.With[instrument.Addresses]}
	if k.Grants == nil {
		k.Grants = []PastSeen{}
	}
	keys := h.keys()
	i := slices.IndexFunc(keys, func(k config.Key) bool { return k.Name == name })
	if i < 0 {
		return k
	}
	key := &keys[i]
	k.Configured, k.Networks = true, len(key.Addresses)
	for _, hash := range key.Hashes {
		k.Hashes = append(k.Hashes, PastKeyHash{hash.Hash.Short(), moment(h.metrics.LastUse(hash.Hash)), moment(key.EndOf(hash).Time)})
	}
	k.Allow, k.Ungranted = entriesOf(key, h.Gateway.Grants(), k.Grants)
	k.Limits = limitsOf(key, refusals)
	return k
}

// entriesOf returns the entries of an allowlist with their use, and the grants that were used without an
// entry.
func entriesOf(key *config.Key, grants []gateway.Grant, used []PastSeen) (entries []PastEntry, ungranted []PastSeen) {
	byGrant := make(map[string]PastSeen, len(used))
	for _, seen := range used {
		byGrant[seen.Name] = seen
	}
	for i, rule := range key.Allow {
		e := PastEntry{Rule: rule.String(), At: placeOf(key, i), Unused: []string{}}
		for _, grant := range grants {
			if !rule.Matches(grant.Method, grant.Path) {
				continue
			}
			e.Grants++
			seen, there := byGrant[grant.String()]
			if !there {
				e.Unused = append(e.Unused, grant.String())
				continue
			}
			e.Requests += uint64(seen.Requests)
			if e.Last == nil || seen.Last.After(*e.Last) {
				e.Last = &seen.Last
			}
		}
		entries = append(entries, e)
	}
	for _, grant := range grants {
		seen, there := byGrant[grant.String()]
		if there && !slices.ContainsFunc(key.Allow, func(rule config.Rule) bool { return rule.Matches(grant.Method, grant.Path) }) {
			ungranted = append(ungranted, seen)
		}
	}
	return entries, ungranted
}

// placeOf returns where an entry of an allowlist stands; "" if that is in no file.
func placeOf(key *config.Key, i int) string {
	if at := key.AllowAt(i); at.Line > 0 {
		return at.String()
	}
	return ""
}

// limitsOf returns the bounds of each client with a key, and how often they refused.
func limitsOf(key *config.Key, refusals []instrument.Refusal) (all []PastLimit) {
	refused := map[string]int{}
	for _, r := range refusals {
		if r.Key == key.Name {
			refused[r.Cause]++
		}
	}
	bound := func(b auth.Bound, most int64, words string) {
		all = append(all, PastLimit{b.String(), words, most, refused[b.String()]})
	}
	if r := key.Rate; r != nil {
		bound(auth.RateBound, int64(r.Burst), fmt.Sprintf("%v requests a second, %d at once", r.PerSecond, r.Burst))
	}
	if key.Concurrent > 0 {
		bound(auth.ConcurrentBound, int64(key.Concurrent), fmt.Sprintf("%d under way", key.Concurrent))
	}
	if key.PerDay > 0 {
		bound(auth.DayBound, key.PerDay, fmt.Sprintf("%d a day", key.PerDay))
	}
	return all
}

// PastClient lists the keys that a client uses, for its page.
type PastClient struct {
	Since time.Time  `json:"counted_since"`
	Keys  []PastSeen `json:"keys"`
}

func (h *Desk) pastClient(name string) *PastClient {
	c := &PastClient{Since: h.past.Tied("").Since, Keys: []PastSeen{}}
	users := h.past.KeysWith(instrument.Clients, name)
	for _, key := range slices.Sorted(maps.Keys(users)) {
		c.Keys = append(c.Keys, users[key])
	}
	return c
}

// PastEndpoint lists the keys that may use an endpoint, or did, for its page.
type PastEndpoint struct {
	Grant string      `json:"grant"` // "" if every api_key may use it
	Since time.Time   `json:"counted_since"`
	Whole bool        `json:"counted_whole"`
	Keys  []PastGrant `json:"keys"`
	More  int         `json:"more"` // keys that may use it, and are not listed
}

// PastGrant is an api_key that may use an endpoint, or did.
type PastGrant struct {
	Key      string     `json:"key"`
	Rule     string     `json:"rule"` // the entry that grants it; "" if none does
	At       string     `json:"at"`
	Requests uint32     `json:"requests"`
	Last     *time.Time `json:"last"`
}

// mostGrants is how many keys the page of an endpoint lists.
const mostGrants = 100

// pastEndpoint returns which keys may use an endpoint, or did; nil if there is no such endpoint.
func (h *Desk) pastEndpoint(name string) *PastEndpoint {
	method, template, _ := strings.Cut(name, " ")
	op := h.Gateway.Logged(method, template)
	if op == nil {
		return nil
	}
	grant, governed := op.Grant()
	e := &PastEndpoint{Keys: []PastGrant{}}
	if !governed {
		return e
	}
	counted := h.past.Tied("")
	e.Grant, e.Since, e.Whole = grant.String(), counted.Since, counted.Whole
	users, keys := h.past.KeysWith(instrument.Grants, e.Grant), h.keys()
	for i := range keys {
		key := &keys[i]
		one := PastGrant{Key: key.Name}
		if at := slices.IndexFunc(key.Allow, func(rule config.Rule) bool { return rule.Matches(grant.Method, grant.Path) }); at >= 0 {
			one.Rule, one.At = key.Allow[at].String(), placeOf(key, at)
		}
		if seen, there := users[key.Name]; there {
			one.Requests, one.Last = seen.Requests, &seen.Last
		}
		if one.Rule != "" || one.Last != nil {
			e.Keys = append(e.Keys, one)
		}
	}
	slices.SortStableFunc(e.Keys, func(a, b PastGrant) int { return cmp.Compare(b.Requests, a.Requests) })
	if e.More = len(e.Keys) - mostGrants; e.More > 0 {
		e.Keys = e.Keys[:mostGrants]
	} else {
		e.More = 0
	}
	return e
}
