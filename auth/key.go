package auth

import (
	"net/netip"
	"slices"
	"time"

	"frontdesk/mapping"
)

// Key is an api_key: what one integration may call, from where, and how often. A Key that a
// Keyring returned is shared and must not be changed.
type Key struct {
	Name    string
	Hashes  []KeyHash      // several while the key is rotated
	Expires time.Time      // zero = never
	Allowed []bool         // by the gateway's operation number; a number out of range is denied
	Rights  mapping.Rights // to fields; nil for all of them
	Bounds  Bounds
	Stale   bool // requests may accept stale records of a copy while the administration is down

	Addresses    Addresses
	Certificates [][32]byte // SHA-256 of those whose holders may use the key; empty: it needs none
}

// KeyHash is the SHA-256 of one api_key text, valid until Expires (zero = as
// long as the key).
type KeyHash struct {
	Hash    [32]byte
	Expires time.Time
	short   string // see Short; made by the keyring
}

// Short names the hash by its first 8 digits, which reveal nothing of the api_key; "" for nil.
func (h *KeyHash) Short() string {
	if h == nil {
		return ""
	}
	return h.short
}

// By returns the entry of Hashes with this hash; nil where there is none. It allocates nothing.
func (k *Key) By(hash [32]byte) *KeyHash {
	for i := range k.Hashes {
		if k.Hashes[i].Hash == hash {
			return &k.Hashes[i]
		}
	}
	return nil
}

// May reports whether the key may call an operation. It denies by default.
func (k *Key) May(operation int) bool {
	return operation >= 0 && operation < len(k.Allowed) && k.Allowed[operation]
}

// Addresses are those from which a key may be used: everywhere if there are none.
type Addresses []netip.Prefix

// Hold reports whether the key may be used from that address. An invalid address is in no list.
func (a Addresses) Hold(address netip.Addr) bool {
	address = address.Unmap().WithZone("")
	return len(a) == 0 || slices.ContainsFunc(a, func(p netip.Prefix) bool { return p.Contains(address) })
}

// unmapped copies networks, and turns IPv4 written as IPv6 into IPv4, which would never
// match otherwise.
func unmapped(networks []netip.Prefix) []netip.Prefix {
	all := make([]netip.Prefix, len(networks))
	for i, p := range networks {
		if all[i] = p; p.Addr().Is4In6() && p.Bits() >= 96 {
			all[i] = netip.PrefixFrom(p.Addr().Unmap(), p.Bits()-96)
		}
	}
	return all
}

// With reports whether the key may be used by a client that showed that certificate; nil
// for none.
func (k *Key) With(certificate *[32]byte) bool {
	return len(k.Certificates) == 0 || certificate != nil && slices.Contains(k.Certificates, *certificate)
}
