package gateway

import (
	"net/netip"
	"time"

	"frontdesk/auth"
)

// Policy is what of the configuration can change while the gateway serves. It
// does not change itself: a new configuration makes a new one, and a request
// keeps to the one it began with.
type Policy struct {
	Keys      *auth.Keyring
	Hash      string // of the configuration, for the log
	AccessLog bool   // one line per request
}

// caller is where a request comes from, for what an api_key demands of it.
type caller struct {
	address     string
	certificate *Certificate
	at          time.Time
}

func (x *Exchange) caller() caller {
	return caller{address: x.Address, certificate: x.peer.Certificate, at: x.started}
}

// key returns the api_key of that hash, nil where there is none, and what keeps
// this caller from using it; "" where nothing does.
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

// within reads the address where anybody wants to know it.
func (c caller) within(a auth.Addresses) bool {
	if a.Any() {
		return true
	}
	address, err := netip.ParseAddr(c.address)
	return err == nil && a.Hold(address)
}

// shown is the digest of the caller's certificate; nil where it has none, or it
// has expired since the connection began.
func (c caller) shown() *[32]byte {
	if c.certificate == nil || c.at.After(c.certificate.Until) {
		return nil
	}
	return &c.certificate.SHA256
}

// apiKey returns the api_key of that hash where this request may use it. To the
// client one that it may not use is one that does not exist; the log names it, and
// says why.
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

// givenKey is apiKey for the text of one, with its hash.
func (x *Exchange) givenKey(text string) (*auth.Key, [32]byte) {
	hash, ok := auth.HashKey(text)
	if !ok {
		x.why = auth.CauseKeyMalformed
		return nil, hash
	}
	return x.apiKey(hash), hash
}
