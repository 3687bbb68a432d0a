package desk

import (
	"time"

	"frontdesk/config"
	"frontdesk/config/strictyaml"
	"frontdesk/gateway"
)

// snapshot is all of the configuration that can be replaced while the desk
// serves. It is made whole or not at all, and never changed.
type snapshot struct {
	config  *config.Config // as it was read; what needs a restart may differ from Desk.config
	policy  gateway.Policy
	secrets map[string][]string // that sign callbacks, by the api_key's name
	since   time.Time           // when it was made
}

// newSnapshot makes the snapshot of a configuration for the gateway that is there,
// once its own tests hold.
func (h *Desk) newSnapshot(c *config.Config) (*snapshot, error) {
	if err := append(judgeSecrets(c), h.judgeExpectations(c)...).Err(); err != nil {
		return nil, err
	}
	keyring, err := newKeyring(c.APIKeys, h.Gateway.Grants())
	if err != nil {
		return nil, err
	}
	secrets := make(map[string][]string)
	for _, key := range c.APIKeys {
		for _, secret := range key.WebhookSecret {
			secrets[key.Name] = append(secrets[key.Name], string(secret))
		}
	}
	return &snapshot{
		config: c, secrets: secrets, since: time.Now(),
		policy: gateway.Policy{Keys: keyring, Hash: c.Hash(), AccessLog: c.Log.Access},
	}, nil
}

// judgeExpectations holds the allowlists to what is expected of them, as they are served. What
// is expected of an endpoint that only the model or the sheet on disk has waits for a restart.
func (h *Desk) judgeExpectations(c *config.Config) strictyaml.Problems {
	unmet := JudgeExpectations(c, h.Gateway)
	if len(unmet) == 0 || partsOf(c) == h.parts {
		return unmet
	}
	now, later := *c, *c
	now.Expect, later.Expect = nil, nil
	for i := range c.Expect {
		if hasEndpoint(h.Gateway, &c.Expect[i]) {
			now.Expect = append(now.Expect, c.Expect[i])
		} else {
			later.Expect = append(later.Expect, c.Expect[i])
		}
	}
	unmet = JudgeExpectations(&now, h.Gateway)
	if offer, err := OfferOf(c); err == nil { // else lookAtParts says what is wrong
		if g, err := DescribingGateway(c, offer, ProductionEnvironment); err == nil {
			unmet = append(unmet, JudgeExpectations(&later, g)...)
		}
	}
	return unmet
}

// policy is the one that a request is judged by from its beginning to its end.
func (h *Desk) policy() *gateway.Policy { return &h.live.Current().policy }
