package main

import (
	"fmt"
	"time"

	"go.uber.org/zap"

	"frontdesk/auth"
	"frontdesk/backend"
	"frontdesk/config"
	"frontdesk/gateway"
	"frontdesk/gateway/openapi"
	"frontdesk/gateway/webhook"
	"frontdesk/mapping"
)

type openapiCommand struct {
	Config  string `placeholder:"FILE" xor:"of" required:"" help:"Configuration (YAML)."`
	Demo    bool   `xor:"of" required:"" help:"Describe the demo."`
	Key     string `required:"" placeholder:"NAME" help:"Name of the api_key whose interface is described."`
	Version string `default:"3.1" enum:"3.1,3.0" help:"Of OpenAPI: 3.1, or 3.0 for what does not read that yet."`
}

// Run prints the description of what a key may call. Nothing is started, and no
// backend is asked: what it lacks is known of its mapping sheet.
func (o openapiCommand) Run(p program) error {
	c, environment, err := o.config()
	if err != nil {
		return err
	}
	key := findKey(c, o.Key)
	if key == nil {
		return unknownKey(c, o.Key)
	}
	offer, err := offerOf(c.Model, c.Backend)
	if err != nil {
		return err
	}
	g, err := describingGateway(c, offer, environment)
	if err != nil {
		return err
	}
	version := openapi.Version31
	if o.Version == "3.0" {
		version = openapi.Version30
	}
	text, err := g.Describe(&newKeys([]config.Key{*key}, g.Grants())[0], version)
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(p.stdout, "%s\n", text)
	return err
}

func (o openapiCommand) config() (c *config.Config, environment string, err error) {
	if o.Demo {
		c, err = demoCommand{Listen: demoListen}.config()
		return c, demoEnvironment, err
	}
	c, err = loadConfig(o.Config)
	return c, productionEnvironment, err
}

// describingGateway is a gateway with the endpoints that one of this
// configuration would serve, and nothing behind them.
func describingGateway(c *config.Config, offer backend.Offer, environment string) (*gateway.Gateway, error) {
	return newGateway(gateway.Options{
		BasePath: c.Server.BasePath, PublicURL: c.Server.BaseURL(), Vendor: c.Server.Vendor, Version: version(), SessionTTL: c.Sessions.TTL,
		Offer: offer, Environment: environment, Resets: new(auth.Resets), Location: c.Server.TimeZone.Location, Clock: time.Now, Log: zap.NewNop(),
		Callbacks: &gateway.Callbacks{Rules: webhook.Rules{AllowHosts: c.Webhooks.AllowHosts, Ports: c.Webhooks.Ports}, Long: longRunning(c.Callbacks)},
	})
}

// offerOf is what the backend of a configuration has of the interface, as far as
// can be known without asking it.
func offerOf(m config.Model, b config.Backend) (backend.Offer, error) {
	model, err := mapping.LoadModel(m.Dir)
	if err != nil {
		return backend.Offer{}, err
	}
	offer := backend.Offer{Model: model, Exports: b.Driver != remoteDriver}
	if b.Driver != referenceDriver && b.Sheet != "" {
		sh, err := loadSheet(b.Sheet, model)
		if err != nil {
			return offer, err
		}
		offer.Model, offer.Supports, offer.Writes = sh.Model, sh.Supports, sh.Writes
	}
	return offer, nil
}
