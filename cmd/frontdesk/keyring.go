package main

import (
	"frontdesk/auth"
	"frontdesk/config"
	"frontdesk/gateway"
)

// shadowMode is that of a key whose allowlist is on trial.
const shadowMode = "shadow"

// newKeyring lays each key's allowlist over what can be granted.
func newKeyring(keys []config.Key, grants []gateway.Grant) (*auth.Keyring, error) {
	return auth.NewKeyring(newKeys(keys, grants))
}

func newKeys(keys []config.Key, grants []gateway.Grant) []auth.Key {
	all := make([]auth.Key, len(keys))
	for i, k := range keys {
		key := auth.Key{Name: k.Name, Expires: k.Expires.Time, Allowed: make([]bool, len(grants))}
		for _, hash := range k.Hashes {
			key.Hashes = append(key.Hashes, auth.KeyHash{Hash: hash.Hash, Expires: hash.Expires.Time})
		}
		for _, rule := range k.Allow {
			for n, grant := range grants {
				key.Allowed[n] = key.Allowed[n] || rule.Matches(grant.Method, grant.Path)
			}
		}
		if k.Mode == shadowMode {
			key.Shadow = k.Until.Time
		}
		if k.Rate != nil {
			key.Limit = auth.Limit{PerSecond: k.Rate.PerSecond, Burst: k.Rate.Burst}
		}
		for _, secret := range k.WebhookSecret {
			key.Secrets = append(key.Secrets, string(secret))
		}
		all[i] = key
	}
	return all
}
