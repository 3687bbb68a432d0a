package desk

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"frontdesk/config"
)

// PastKey is what is configured of an api_key, for its page.
type PastKey struct {
	Name       string        `json:"name"`
	Mode       string        `json:"mode"`
	Hashes     []PastKeyHash `json:"hashes"`
	Limits     []string      `json:"limits"`
	Allow      []string      `json:"allow"`
	Addresses  int           `json:"addresses"`
	Configured bool          `json:"configured"`
}

// PastKeyHash is one of the hashes of an api_key.
type PastKeyHash struct {
	SHA256   string     `json:"sha256"`
	LastUsed *time.Time `json:"last_used"`
	Expires  *time.Time `json:"expires"`
}

// pastKey is what the configuration in force says of a key.
func (h *Desk) pastKey(name string) *PastKey {
	keys := h.keys()
	i := slices.IndexFunc(keys, func(k config.Key) bool { return k.Name == name })
	if i < 0 {
		return &PastKey{Name: name}
	}
	key := &keys[i]
	k := &PastKey{Name: name, Mode: cmp.Or(key.Mode, config.ModeEnforce), Configured: true, Addresses: len(key.Addresses.Allow) + len(key.Addresses.Deny)}
	for _, hash := range key.Hashes {
		one := PastKeyHash{SHA256: hash.Hash.Short()}
		if last := h.metrics.lastUse(hash.Hash); !last.IsZero() {
			one.LastUsed = &last
		}
		if end := key.EndOf(hash); !end.IsZero() {
			one.Expires = &end.Time
		}
		k.Hashes = append(k.Hashes, one)
	}
	for _, rule := range key.Allow {
		k.Allow = append(k.Allow, rule.String())
	}
	if key.Rate != nil {
		k.Limits = append(k.Limits, "of the key "+rateWords(key.Rate))
	}
	if key.ClientRate != nil {
		k.Limits = append(k.Limits, "of each client "+rateWords(key.ClientRate))
	}
	if key.Concurrent > 0 {
		k.Limits = append(k.Limits, fmt.Sprintf("%d at once", key.Concurrent))
	}
	if key.PerDay > 0 {
		k.Limits = append(k.Limits, fmt.Sprintf("%d a day", key.PerDay))
	}
	return k
}

func rateWords(r *config.Rate) string {
	return fmt.Sprintf("%v requests a second, %d at once", r.PerSecond, r.Burst)
}
