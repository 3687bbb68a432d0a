package auth

import (
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
	"time"
)

// Keyring finds the api_keys of one configuration. It does not change: a new
// configuration makes a new one.
type Keyring struct {
	byHash map[[32]byte]keyEntry
	ends   *KeyEnds
}

type keyEntry struct {
	key     *Key
	expires time.Time // the earlier of the hash's and the key's; zero = never
}

// NewKeyring returns the keyring of these keys, or every fault found in them.
// It keeps copies of the keys. It consults ends, which may be nil, at each look-up.
func NewKeyring(keys []Key, ends *KeyEnds) (*Keyring, error) {
	ring := &Keyring{byHash: make(map[[32]byte]keyEntry, len(keys)), ends: ends}
	names := make(map[string]bool, len(keys))
	var faults []error
	for i := range keys {
		key := copyKey(keys[i])
		if names[key.Name] {
			faults = append(faults, fmt.Errorf("auth: api_key %q: name used twice", key.Name))
		}
		names[key.Name] = true
		faults = append(faults, judgeKey(key)...)
		for _, h := range key.Hashes {
			if other, ok := ring.byHash[h.Hash]; ok {
				faults = append(faults, fmt.Errorf("auth: api_key %q: hash already used by %q", key.Name, other.key.Name))
				continue
			}
			ring.byHash[h.Hash] = keyEntry{key: key, expires: earlier(h.Expires, key.Expires)}
		}
	}
	if len(faults) > 0 {
		return nil, errors.Join(faults...)
	}
	return ring, nil
}

// ByHash returns the key of a live session's hash at now. It is nil if that key was
// removed, rotated out or has expired, which ends its sessions at once. It allocates
// nothing.
func (r *Keyring) ByHash(hash [32]byte, now time.Time) *Key {
	key, why := r.Look(hash, now)
	if why != "" {
		return nil
	}
	return key
}

// Look returns the key that has this hash, nil if there is none, and why it cannot be
// used at now: CauseKeyUnknown, CauseKeyExpired, or CauseKeyRevoked where another gateway ended it;
// "" if it can be used. It allocates nothing.
func (r *Keyring) Look(hash [32]byte, now time.Time) (*Key, Cause) {
	entry, ok := r.byHash[hash]
	switch {
	case !ok:
		return nil, CauseKeyUnknown
	case !entry.expires.IsZero() && !now.Before(entry.expires):
		return entry.key, CauseKeyExpired
	case r.ends.passed(hash, now):
		return entry.key, CauseKeyRevoked
	default:
		return entry.key, ""
	}
}

// Named returns the key of that name, if one of its hashes can be used at now; else nil.
func (r *Keyring) Named(name string, now time.Time) *Key {
	for hash, entry := range r.byHash {
		if entry.key.Name == name && r.ByHash(hash, now) != nil {
			return entry.key
		}
	}
	return nil
}

func copyKey(k Key) *Key {
	k.Hashes = slices.Clone(k.Hashes)
	for i := range k.Hashes {
		k.Hashes[i].short = hex.EncodeToString(k.Hashes[i].Hash[:4])
	}
	k.Allowed = slices.Clone(k.Allowed)
	k.Addresses = unmapped(k.Addresses)
	k.Certificates = slices.Clone(k.Certificates)
	return &k
}

func judgeKey(k *Key) []error {
	var faults []error
	fault := func(text string) { faults = append(faults, fmt.Errorf("auth: api_key %q: %s", k.Name, text)) }
	if k.Name == "" {
		fault("has no name")
	}
	if len(k.Hashes) == 0 {
		fault("has no hash")
	}
	if slices.ContainsFunc(k.Hashes, func(h KeyHash) bool { return h.Hash == [32]byte{} }) {
		fault("has an empty hash")
	}
	for _, err := range k.Bounds.faults() {
		fault(err.Error())
	}
	return faults
}

func earlier(a, b time.Time) time.Time {
	if a.IsZero() || (!b.IsZero() && b.Before(a)) {
		return b
	}
	return a
}
