package config

import (
	"fmt"
	"regexp"
	"slices"
)

var keyName = regexp.MustCompile(`^[a-z0-9][a-z0-9_-]*$`)

// IsKeyName tells whether an api_key may have that name.
func IsKeyName(name string) bool { return keyName.MatchString(name) }

// keys checks the api_keys of a file and resolves their dates in the time zone. That
// names and hashes are unique is checked when all files are read.
func (c *checker) keys(keys []Key) {
	for i := range keys {
		key, path := &keys[i], keyPath(i)
		key.Expires.resolve(c.zone)
		c.name(key, path+".name")
		c.hashes(key.Hashes, path+".key_sha256")
		c.allow(key.Allow, path+".allow")
		c.rate(key.Rate, path+".rate")
		if key.Concurrent < 0 {
			c.fail(path+".concurrent", ruleLimit, "found %d, expected 0 (no limit) or more", key.Concurrent)
		}
		if key.PerDay < 0 {
			c.fail(path+".per_day", ruleLimit, "found %d, expected 0 (no limit) or more", key.PerDay)
		}
		c.addresses(key.Addresses, path+".addresses")
		c.certificates(key.Certificates, path+".client_certificates")
		c.secrets(key.WebhookSecret, path+".webhook_secret")
	}
}

func (c *checker) name(key *Key, path string) {
	switch {
	case key.Name == "" && !c.doc.Has(path):
		c.fail(path, ruleName, "missing, expected a name for the key")
	case !keyName.MatchString(key.Name):
		c.fail(path, ruleName, "found %s, expected lower-case letters, digits, - and _, with a letter or digit first", c.found(path, key.Name))
	default:
		key.named = true
	}
}

func (c *checker) hashes(list []KeyHash, path string) {
	if len(list) == 0 {
		c.fail(path, ruleHashMissing, "missing, expected at least one hash: %s", digestForm)
	}
	for i := range list {
		at := fmt.Sprintf("%s[%d]", path, i)
		list[i].Expires.resolve(c.zone)
		if list[i].Hash == (Digest{}) && !c.doc.Has(at+".hash") && !c.doc.Broken(at) {
			c.fail(at+".hash", ruleHashMissing, "missing, expected %s", digestForm)
		}
	}
}

func (c *checker) allow(rules []Rule, path string) {
	first := c.seen
	clear(first)
	for i, rule := range rules {
		if rule == (Rule{}) {
			continue // it could not be read
		}
		if j, twice := first[rule]; twice {
			at := fmt.Sprintf("%s[%d]", path, i)
			c.fail(at, ruleAllowTwice, "found %s again, first at %s[%d]", c.found(at, rule.String()), path, j)
			continue
		}
		first[rule] = i
		if fault := c.fault(rule); fault != "" {
			at := fmt.Sprintf("%s[%d]", path, i)
			c.fail(at, ruleAllowUnknown, "found %s, %s", c.found(at, rule.String()), fault)
		}
	}
}

func (c *checker) rate(r *Rate, path string) {
	if r == nil {
		return
	}
	if at := path + ".per_second"; !c.doc.Has(at) {
		c.fail(at, ruleRate, "missing, expected the requests per second in the long run")
	} else if !(r.PerSecond > 0) {
		c.fail(at, ruleRate, "found %v, expected more than 0", r.PerSecond)
	}
	if at := path + ".burst"; !c.doc.Has(at) {
		c.fail(at, ruleRate, "missing, expected the requests at once")
	} else if r.Burst < 1 {
		c.fail(at, ruleRate, "found %d, expected at least 1", r.Burst)
	}
}

func (c *checker) addresses(list []Network, path string) {
	for i, network := range list {
		if network.IsValid() && slices.Contains(list[:i], network) {
			c.fail(fmt.Sprintf("%s[%d]", path, i), ruleRepeated, "found %s again", network)
		}
	}
}

func (c *checker) certificates(list []Digest, path string) {
	for i, digest := range list {
		if digest != (Digest{}) && slices.Contains(list[:i], digest) {
			c.fail(fmt.Sprintf("%s[%d]", path, i), ruleRepeated, "found the same certificate again")
		}
	}
	if len(list) > 0 && !c.clientCA {
		c.fail(path, ruleCertificate, "the server asks for no certificates, expected server.tls.client_ca_file, the authorities that issue them")
	}
}

func (c *checker) secrets(list []Secret, path string) {
	for i, secret := range list {
		at := fmt.Sprintf("%s[%d]", path, i)
		if secret == "" {
			c.fail(at, RuleWebhookSecret, "found nothing, expected a secret")
		} else if slices.Contains(list[:i], secret) {
			c.fail(at, RuleWebhookSecret, "found the same secret again")
		}
	}
}
