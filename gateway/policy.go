package gateway

import (
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
	address string
	at      time.Time
}

func (x *Exchange) caller() caller { return caller{address: x.Address, at: x.started} }

// key returns the api_key of that hash; nil where there is none, or it may not be
// used by this caller.
func (p *Policy) key(hash [32]byte, from caller) *auth.Key {
	return p.Keys.ByHash(hash, from.at)
}
