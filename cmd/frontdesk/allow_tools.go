package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"
	"time"

	"frontdesk/auth"
	"frontdesk/cmd/frontdesk/desk"
	"frontdesk/cmd/frontdesk/terminal"
	"frontdesk/config"
	"frontdesk/gateway"
)

// toolFlags say whose allowlists a tool is about.
type toolFlags struct {
	Config string `placeholder:"FILE" xor:"of" help:"Configuration (YAML); frontdesk.yaml of this folder where none is named."`
	Demo   bool   `xor:"of" help:"The demo's configuration."`
}

// usualConfig is the configuration where none is named.
const usualConfig = "frontdesk.yaml"

// tools are a configuration and a gateway that serves it, with nothing behind it:
// what the tools about allowlists ask.
type tools struct {
	config  *config.Config
	gateway *gateway.Gateway
	grants  []gateway.Grant
	keys    []toolKey
	byName  map[string]*toolKey
}

// toolKey is an api_key as the configuration has it and as requests are judged by.
type toolKey struct {
	*config.Key
	auth *auth.Key
}

// open reads the configuration as serve would.
func (f toolFlags) open() (*tools, error) {
	if f.Config == "" && !f.Demo {
		f.Config = usualConfig
		if _, err := os.Stat(f.Config); errors.Is(err, fs.ErrNotExist) {
			return nil, desk.Misused("there is no %s in this folder; --config FILE names another, --demo takes the demo's", usualConfig)
		}
	}
	c, environment, err := openapiCommand{Config: f.Config, Demo: f.Demo}.config()
	if err != nil {
		return nil, err
	}
	return newTools(c, environment)
}

func newTools(c *config.Config, environment string) (*tools, error) {
	offer, err := desk.OfferOf(c)
	if err != nil {
		return nil, err
	}
	t := &tools{config: c, byName: map[string]*toolKey{}}
	if t.gateway, err = desk.DescribingGateway(c, offer, environment); err != nil {
		return nil, err
	}
	t.grants = t.gateway.Grants()
	keys := desk.NewKeys(c.APIKeys, t.grants)
	t.keys = make([]toolKey, len(keys))
	for i := range keys {
		t.keys[i] = toolKey{Key: &c.APIKeys[i], auth: &keys[i]}
		t.byName[keys[i].Name] = &t.keys[i]
	}
	return t, nil
}

// find returns the api_key of that name.
func (t *tools) find(name string) (*toolKey, error) {
	if key := t.byName[name]; key != nil {
		return key, nil
	}
	return nil, unknownKey(t.config, name)
}

// ruleAt says where an entry of the allowlist stands: a line of a file, or its
// place in the list where there is no file.
func (t *tools) ruleAt(key *toolKey, i int) string {
	if at := key.AllowAt(i); at.Line > 0 {
		return at.String()
	}
	return fmt.Sprintf("allow[%d]", i)
}

// called is the api_key's name, and where it stands.
func (k *toolKey) called() string {
	if at := k.At(); at.Line > 0 {
		return k.Name + " (" + at.String() + ")"
	}
	return k.Name
}

// facts are what beside the allowlist decides about the key's requests.
func (k *toolKey) facts(now time.Time) []string {
	facts := []string{k.modeFact(now)}
	if !k.Expires.IsZero() {
		word := "expires"
		if k.Expires.Passed(now) {
			word = "EXPIRED"
		}
		facts = append(facts, word+" "+terminal.Minute(k.Expires.Time))
	}
	var limits []string
	if k.Rate != nil {
		limits = append(limits, fmt.Sprintf("%v a second, %d at once", k.Rate.PerSecond, k.Rate.Burst))
	}
	if k.ClientRate != nil {
		limits = append(limits, fmt.Sprintf("%v a second of each client, %d at once", k.ClientRate.PerSecond, k.ClientRate.Burst))
	}
	if k.Concurrent > 0 {
		limits = append(limits, fmt.Sprintf("%d under way", k.Concurrent))
	}
	if k.PerDay > 0 {
		limits = append(limits, terminal.Count(k.PerDay)+" a day")
	}
	if len(limits) > 0 {
		facts = append(facts, "requests: at most "+strings.Join(limits, "; "))
	}
	if len(k.Addresses.Allow) > 0 {
		facts = append(facts, fmt.Sprintf("only from %s", networks(k.Addresses.Allow)))
	}
	if len(k.Addresses.Deny) > 0 {
		facts = append(facts, fmt.Sprintf("never from %s", networks(k.Addresses.Deny)))
	}
	if n := len(k.Certificates); n > 0 {
		facts = append(facts, fmt.Sprintf("only with one of %d client certificates", n))
	}
	return facts
}

func (k *toolKey) modeFact(now time.Time) string {
	switch {
	case k.auth.InShadow(now):
		return "shadow mode until " + terminal.Minute(k.auth.Shadow) + ": what the allowlist refuses is served, and noted"
	case k.Mode == config.ModeShadow:
		return "enforced: its shadow mode ended " + terminal.Minute(k.auth.Shadow)
	default:
		return "enforced"
	}
}

func networks(list []config.Network) string {
	text := make([]string, len(list))
	for i, n := range list {
		text[i] = fmt.Sprint(n)
	}
	return strings.Join(text, ", ")
}
