package desk

import (
	"time"

	"frontdesk/auth"
	"frontdesk/config"
	"frontdesk/config/strictyaml"
	"frontdesk/gateway"
)

// snapshot is the part of the configuration that can be replaced while the desk serves. It is made
// completely or not at all, and never changed.
type snapshot struct {
	config  *config.Config // as it was read; what needs a restart may differ from Desk.config
	policy  gateway.Policy
	secrets map[string][]string // that sign callbacks, by the api_key's name
	since   time.Time           // when it was made
}

// newSnapshot makes the snapshot of a configuration for a gateway that was built from these files.
// It fails if an expectation of the configuration is not met.
func newSnapshot(c *config.Config, g *gateway.Gateway, built partFiles) (*snapshot, error) {
	if err := append(judgeSecrets(c), judgeExpectations(c, g, built)...).Err(); err != nil {
		return nil, err
	}
	keyring, err := auth.NewKeyring(NewKeys(c.APIKeys, g.Grants()))
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

// judgeExpectations compares the allowlists, as they are served, with the expectations. An
// expectation of an endpoint that only the model or the sheet on disk has is judged by these,
// since it waits for a restart.
func judgeExpectations(c *config.Config, g *gateway.Gateway, built partFiles) strictyaml.Problems {
	unmet := JudgeExpectations(c, g)
	if len(unmet) == 0 || partsOf(c) == built {
		return unmet
	}
	now, later := *c, *c
	now.Expect, later.Expect = nil, nil
	for i := range c.Expect {
		if hasEndpoint(g, &c.Expect[i]) {
			now.Expect = append(now.Expect, c.Expect[i])
		} else {
			later.Expect = append(later.Expect, c.Expect[i])
		}
	}
	unmet = JudgeExpectations(&now, g)
	if offer, err := OfferOf(c); err == nil { // else lookAtParts says what is wrong
		if next, err := DescribingGateway(c, offer, ProductionEnvironment); err == nil {
			unmet = append(unmet, JudgeExpectations(&later, next)...)
		}
	}
	return unmet
}

// policyOf is the policy that a request is judged by from its beginning to its end.
func policyOf(live *config.Live[snapshot]) *gateway.Policy { return &live.Current().policy }

func (h *Desk) policy() *gateway.Policy { return policyOf(h.live) }
