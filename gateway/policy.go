package gateway

import (
	"net/netip"
	"sync"
	"time"

	"frontdesk/auth"
)

// Policy is the part of the configuration that can change while the gateway serves. It is
// immutable: a reload makes a new one, and a request keeps the one it began with.
type Policy struct {
	Keys      *auth.Keyring
	Hash      string // of the configuration, for the log
	AccessLog bool   // one line per request

	described sync.Map // what was described of it, by describedKey: func() (testpage.Content, error)
}

// caller is what an api_key may demand of a request's origin: address and certificate.
type caller struct {
	address     string
	certificate *Certificate
	at          time.Time
}

func (x *Exchange) caller() caller {
	return caller{address: x.Address, certificate: x.peer.Certificate, at: x.started}
}

// key returns the api_key of a hash, nil if there is none, and the cause that keeps this
// caller from using it; "" if nothing does.
func (p *Policy) key(hash [32]byte, from caller) (key *auth.Key, why auth.Cause) {
	key, why = p.Keys.Look(hash, from.at)
	switch {
	case why != "":
	case !from.within(key.Addresses):
		why = auth.CauseAddress
	case !key.With(from.shown()):
		why = auth.CauseCertificate
	}
	return key, why
}

// within reads the address only if the key restricts addresses.
func (c caller) within(a auth.Addresses) bool {
	if len(a) == 0 {
		return true
	}
	address, err := netip.ParseAddr(c.address)
	return err == nil && a.Hold(address)
}

// shown is the digest of the caller's certificate; nil if it has none, or if it has
// expired since the connection began.
func (c caller) shown() *[32]byte {
	if c.certificate == nil || c.at.After(c.certificate.Until) {
		return nil
	}
	return &c.certificate.SHA256
}

// apiKey returns the api_key of a hash if this request may use it. To the client, a key
// that it may not use does not exist; the log names the key and the cause.
func (x *Exchange) apiKey(hash [32]byte) *auth.Key {
	key, why := x.policy.key(hash, x.caller())
	if key != nil {
		x.keyName = key.Name
	}
	if x.why = why; why != "" {
		return nil
	}
	if key != nil {
		x.keyHash = key.By(hash)
	}
	return key
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
