package config

import (
	"fmt"
	"regexp"
	"slices"
)

var keyName = regexp.MustCompile(`^[a-z0-9][a-z0-9_-]*$`)

// IsKeyName tells whether an api_key may have that name.
func IsKeyName(name string) bool { return keyName.MatchString(name) }

// keys checks the api_keys and gives their dates the time zone they lacked.
func (v *validator) keys() {
	names, hashes := map[string]string{}, map[Digest]string{}
	for i := range v.APIKeys {
		key, path := &v.APIKeys[i], fmt.Sprintf("api_keys[%d]", i)
		key.Expires.resolve(v.Server.TimeZone.Location)
		v.name(key.Name, path+".name", names)
		v.hashes(key.Hashes, path+".key_sha256", hashes)
		v.allow(key.Allow, path+".allow")
		if r := key.Rate; r != nil {
			v.rate(*r, path+".rate")
		}
		for j, secret := range key.WebhookSecret {
			at := fmt.Sprintf("%s.webhook_secret[%d]", path, j)
			if secret == "" {
				v.fail(at, "found nothing, expected a secret")
			} else if slices.Contains(key.WebhookSecret[:j], secret) {
				v.fail(at, "found the same secret again")
			}
		}
	}
}

func (v *validator) name(name, path string, seen map[string]string) {
	switch first, twice := seen[name]; {
	case name == "" && !v.doc.Has(path):
		v.fail(path, "missing, expected a name for the key")
	case !keyName.MatchString(name):
		v.fail(path, "found %s, expected lower-case letters, digits, - and _, with a letter or digit first", v.found(path, name))
	case twice:
		v.fail(path, "found %s, which is already %s, expected a name of its own", v.found(path, name), first)
	default:
		seen[name] = path
	}
}

func (v *validator) hashes(list []KeyHash, path string, seen map[Digest]string) {
	if len(list) == 0 {
		v.fail(path, "missing, expected at least one hash: %s", digestForm)
	}
	for i := range list {
		at := fmt.Sprintf("%s[%d]", path, i)
		list[i].Expires.resolve(v.Server.TimeZone.Location)
		hash := list[i].Hash
		if hash == (Digest{}) {
			if !v.doc.Has(at+".hash") && !v.doc.Broken(at) {
				v.fail(at+".hash", "missing, expected %s", digestForm)
			}
			continue
		}
		if first, twice := seen[hash]; twice {
			v.fail(at, "the same hash as %s, expected one of its own", first)
			continue
		}
		seen[hash] = at
	}
}

func (v *validator) allow(rules []Rule, path string) {
	for i, rule := range rules {
		at := fmt.Sprintf("%s[%d]", path, i)
		if v.doc.Broken(at) {
			continue
		}
		if first := slices.Index(rules, rule); first < i {
			v.fail(at, "found %s again, first at %s[%d]", v.found(at, rule.String()), path, first)
		} else if fault := rule.unmatched(v.endpoints, v.Server.BasePath); fault != "" {
			v.fail(at, "found %s, %s", v.found(at, rule.String()), fault)
		}
	}
}

func (v *validator) rate(r Rate, path string) {
	if at := path + ".per_second"; !v.doc.Has(at) {
		v.fail(at, "missing, expected the requests per second in the long run")
	} else if r.PerSecond <= 0 {
		v.fail(at, "found %v, expected more than 0", r.PerSecond)
	}
	if at := path + ".burst"; !v.doc.Has(at) {
		v.fail(at, "missing, expected the requests at once")
	} else if r.Burst < 1 {
		v.fail(at, "found %d, expected at least 1", r.Burst)
	}
}
