package desk

import (
	"time"

	"github.com/valyala/fasthttp"

	"frontdesk/auth"
	"frontdesk/config"
	"frontdesk/gateway"
)

// snapshot is the part of the configuration that can be replaced while the desk serves. It is made
// completely or not at all, and never changed.
type snapshot struct {
	config  *config.Config // settings that need a restart may differ from Desk.config
	policy  gateway.Policy
	serve   fasthttp.RequestHandler // serves requests by the policy
	secrets map[string][]string     // secrets that sign callbacks, by the api_key's name
	since   time.Time               // when the snapshot was made
}

// newSnapshot makes the snapshot of a configuration for a gateway.
func newSnapshot(c *config.Config, g *gateway.Gateway, ends *auth.KeyEnds) (*snapshot, error) {
	if err := append(judgeSecrets(c), judgeRights(c, g)...).Err(); err != nil {
		return nil, err
	}
	keyring, err := auth.NewKeyring(NewKeys(c.APIKeys, g), ends)
	if err != nil {
		return nil, err
	}
	secrets := make(map[string][]string)
	for _, key := range c.APIKeys {
		for _, secret := range key.WebhookSecret {
			secrets[key.Name] = append(secrets[key.Name], string(secret))
		}
	}
	s := &snapshot{
		config: c, secrets: secrets, since: time.Now(),
		policy: gateway.Policy{Keys: keyring, Hash: c.Hash(), AccessLog: c.Log.Access},
	}
	s.serve = g.Handler(&s.policy)
	return s, nil
}
