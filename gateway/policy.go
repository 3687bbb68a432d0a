package gateway

import (
	"net/netip"
	"sync"

	"frontdesk/auth"
)

// Policy is the part of the configuration that can change while the gateway serves. It is
// immutable: a reload makes a new one, and a request keeps the one it began with.
type Policy struct {
	Keys      *auth.Keyring
	Hash      string // of the configuration, for the log
	AccessLog bool   // one line per request

	described sync.Map // its descriptions, by describedKey: func() (testpage.Content, error)
}

// apiKey returns the api_key of a hash if this request may use it, from its address and with its
// certificate. To the client, a key that it may not use does not exist; the log names the key and
// the cause.
func (x *Exchange) apiKey(hash [32]byte) *auth.Key {
	key, why := x.policy.Keys.Look(hash, x.started)
	if key != nil {
		x.keyName = key.Name
	}
	switch {
	case why != "":
	case !x.within(key.Addresses):
		why = auth.CauseAddress
	case !key.With(x.shown()):
		why = auth.CauseCertificate
	}
	if x.why = why; why != "" {
		return nil
	}
	x.keyHash = key.By(hash)
	return key
}

// within reports whether the request comes from one of the addresses, or there are none.
func (x *Exchange) within(a auth.Addresses) bool {
	if len(a) == 0 {
		return true
	}
	address, err := netip.ParseAddr(x.Address)
	return err == nil && a.Hold(address)
}

// shown returns the digest of the caller's certificate; nil if it has none, or if it has
// expired since the connection began.
func (x *Exchange) shown() *[32]byte {
	c := x.peer.Certificate
	if c == nil || x.started.After(c.Until) {
		return nil
	}
	return &c.SHA256
}

// givenKey is apiKey for the text of an api_key; it also returns its hash.
func (x *Exchange) givenKey(text string) (*auth.Key, [32]byte) {
	hash, ok := auth.HashKey(text)
	if !ok {
		x.why = auth.CauseKeyMalformed
		return nil, hash
	}
	return x.apiKey(hash), hash
}
