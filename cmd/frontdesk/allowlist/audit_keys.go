package allowlist

import (
	"crypto/sha256"
	"fmt"
	"slices"
	"strings"

	"frontdesk/cmd/frontdesk/desk"
	"frontdesk/config"
	"frontdesk/gateway/webhook"
)

// key looks at one api_key. Of one that has ended nothing else is of interest.
func (a *Audit) key(key *Key) {
	if a.ends(key) {
		return
	}
	a.hashesOf(key)
	a.allowlist(key)
	a.arrays(key)
	a.limits(key)
	a.secrets(key)
}

// shortestSecret is what Standard Webhooks asks for at least, in bytes.
const shortestSecret = 24

func (a *Audit) secrets(key *Key) {
	for i, secret := range key.WebhookSecret {
		if parsed, err := webhook.ParseSecret(string(secret)); err == nil && len(parsed) < shortestSecret {
			a.add(Warning, "webhook-secret-short", key, key.At(), fmt.Sprintf("webhook_secret[%d] has %d bytes, and can be guessed from a signature", i, len(parsed)),
				fmt.Sprintf("take %d random bytes or more", shortestSecret))
		}
	}
}

// ends tells whether the key has ended.
func (a *Audit) ends(key *Key) bool {
	end := key.Expires
	switch {
	case end.IsZero() && !slices.ContainsFunc(key.Hashes, func(h config.KeyHash) bool { return h.Expires.IsZero() }):
		// every hash ends by itself
	case end.IsZero():
		a.add(Warning, "key-without-expiry", key, key.At(), "it never expires", "give it an end (expires: 2027-12-31), and rotate it before that")
	case end.Passed(a.now):
		a.add(Warning, "key-expired", key, key.At(), "it expired on "+end.String(), "take it out once no log names it any more, or give it a later end")
		return true
	case desk.EndsSoon(end.Time, a.now):
		a.add(Warning, "key-expires-soon", key, key.At(), "it expires on "+end.String(), "rotate it (frontdesk key rotate "+key.Name+"), or give it a later end")
	}
	return false
}

// demoHashes are those of keys that everybody knows.
var demoHashes = [...]config.Digest{sha256.Sum256([]byte(desk.DemoFullKey)), sha256.Sum256([]byte(desk.DemoOrdersKey))}

func (a *Audit) hashesOf(key *Key) {
	endless := 0
	for i, hash := range key.Hashes {
		if slices.Contains(demoHashes[:], hash.Hash) {
			a.add(Failure, "demo-key", key, key.At(), "it has the hash of a key of the demo, which everybody knows", "make one of its own: frontdesk key rotate "+key.Name)
		}
		switch {
		case hash.Expires.IsZero():
			endless++
		case !hash.Expires.Passed(a.now) && desk.EndsSoon(hash.Expires.Time, a.now):
			a.add(Warning, "key-expires-soon", key, key.At(), fmt.Sprintf("key_sha256[%d] expires on %s: whoever still uses it is refused from then on", i, hash.Expires),
				"frontdesk key list tells when it was used last, frontdesk key rotate gives another")
		}
	}
	if endless > 1 {
		a.add(Warning, "hashes-overlap", key, key.At(), fmt.Sprintf("%d hashes are valid side by side without an end", endless),
			"give those that are to go an end: {hash: …, expires: 2026-12-31}")
	}
}

func (a *Audit) allowlist(key *Key) {
	for i, rule := range key.Allow {
		if rule.Method != "GET" && (rule.Method == "*" || strings.HasSuffix(rule.Path, "/*")) {
			if writes := a.writes(rule); len(writes) > 0 {
				a.add(Warning, "wildcard-write", key, key.AllowAt(i), fmt.Sprintf("%s lets it change data: %s", rule, shortList(writes, 4)),
					"name what it needs; frontdesk allow learn finds that in the access log")
			}
		}
	}
}

// arrays looks for array fields that the key cannot use, although it may use the
// records that have them.
func (a *Audit) arrays(key *Key) {
	for _, need := range a.lists.gateway.ArraysWithheld(key.auth) {
		at := slices.IndexFunc(key.Allow, func(rule config.Rule) bool { return rule.Matches(need.Operation.Method, need.Operation.Path) })
		what := "it does not see the " + need.Field
		if need.Operation.Method == "POST" {
			what = "it cannot send " + need.Field
		}
		a.add(Note, "array-withheld", key, key.AllowAt(at), fmt.Sprintf("%s without %s: %s", need.Operation, need.Grant, what),
			fmt.Sprintf("allow %s where it needs them, which is that endpoint too", need.Grant))
	}
}

// writes are the operations a rule grants that are not only read.
func (a *Audit) writes(rule config.Rule) (found []string) {
	for _, grant := range a.lists.grants {
		if grant.Method != "GET" && rule.Matches(grant.Method, grant.Path) {
			found = append(found, grant.String())
		}
	}
	return found
}

// shortList joins the first of a list, and says how many more there are.
func shortList(list []string, n int) string {
	if len(list) <= n+1 {
		return strings.Join(list, ", ")
	}
	return fmt.Sprintf("%s and %d more", strings.Join(list[:n], ", "), len(list)-n)
}

func (a *Audit) limits(key *Key) {
	if key.Rate == nil && key.PerDay == 0 {
		a.add(Warning, "no-limit", key, key.At(), "nothing limits how many requests its clients make", "give it a rate, such as rate: {per_second: 20, burst: 40}, or per_day")
	}
}

// Unused looks for grants that the access log never saw used, too.
func (a *Audit) Unused(used *Used) {
	a.used, a.Logs = used, &used.Read
	found := a.lists.grantUsesOf(used)
	for i := range a.lists.keys {
		key := &a.lists.keys[i]
		uses := found[key.Name]
		switch {
		case key.Expires.Passed(a.now):
			continue
		case len(uses.used) == 0:
			a.add(Warning, "key-unused", key, key.At(), "it was not used in "+used.Read.String(), "take it out if nobody needs it")
			continue
		}
		for j, rule := range key.Allow {
			switch yes, no := a.lists.covered(rule, uses.used); {
			case len(yes) == 0:
				a.add(Warning, "grant-unused", key, key.AllowAt(j), fmt.Sprintf("%s was not used in %s", rule, used.Read), "take it out if nobody needs it")
			case len(no) > 0:
				var names []string
				for _, grant := range no {
					names = append(names, grant.String())
				}
				a.add(Note, "grant-used-in-part", key, key.AllowAt(j), fmt.Sprintf("%s was used but for %s", rule, shortList(names, 4)), "name what is used: frontdesk allow learn --key "+key.Name)
			}
		}
	}
	a.sort()
}
