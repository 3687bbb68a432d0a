package allowlist

import (
	"frontdesk/auth"
	"frontdesk/cmd/frontdesk/desk"
	"frontdesk/cmd/frontdesk/terminal"
	"frontdesk/config"
	"frontdesk/gateway"
)

// Lists are the allowlists of a configuration, and a gateway without a backend that decides by
// them.
type Lists struct {
	config  *config.Config
	gateway *gateway.Gateway
	grants  []gateway.Grant
	keys    []Key
	offered []config.Endpoint // the grants, with the fields that entries may withhold
	byName  map[string]*Key
}

// Key is an api_key as the configuration has it, and as requests are judged by it.
type Key struct {
	*config.Key
	auth *auth.Key
}

// Of makes the Lists of a configuration, whose mapping sheet it reads. It starts nothing and asks
// no backend.
func Of(c *config.Config, environment string) (*Lists, error) {
	offer, err := desk.OfferOf(c)
	if err != nil {
		return nil, err
	}
	l := &Lists{config: c, byName: map[string]*Key{}}
	if l.gateway, err = desk.DescribingGateway(c, offer, environment); err != nil {
		return nil, err
	}
	l.grants, l.offered = l.gateway.Grants(), desk.EndpointsOf(l.gateway)
	keys := desk.NewKeys(c.APIKeys, l.gateway)
	l.keys = make([]Key, len(keys))
	for i := range keys {
		l.keys[i] = Key{Key: &c.APIKeys[i], auth: &keys[i]}
		l.byName[keys[i].Name] = &l.keys[i]
	}
	return l, nil
}

// Find returns the api_key of that name.
func (l *Lists) Find(name string) (*Key, error) {
	if key := l.byName[name]; key != nil {
		return key, nil
	}
	_, meant := l.config.Key(name)
	return nil, desk.Misused("--key %s: there is no api_key of that name%s; frontdesk key list shows which there are", terminal.Safe(name), meant)
}

// Describe returns the description of the calls that an api_key may make.
func (l *Lists) Describe(key *Key, version string) ([]byte, error) {
	return l.gateway.Describe(key.auth, version)
}

// BodyLimit returns how many bytes the gateway reads of a request's body.
func (l *Lists) BodyLimit() int64 { return int64(l.config.Server.BodyLimit) }
