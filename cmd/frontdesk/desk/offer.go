package desk

import (
	"time"

	"go.uber.org/zap"

	"frontdesk/auth"
	"frontdesk/backend"
	"frontdesk/backend/follow"
	"frontdesk/backend/reference"
	"frontdesk/backend/remote"
	"frontdesk/config"
	"frontdesk/gateway"
	"frontdesk/gateway/webhook"
	"frontdesk/mapping"
)

// DescribingGateway returns a gateway that has the endpoints that this configuration would serve, but
// no backend.
func DescribingGateway(c *config.Config, offer backend.Offer, environment string) (*gateway.Gateway, error) {
	return newGateway(describing(c, offer, environment))
}

func describing(c *config.Config, offer backend.Offer, environment string) gateway.Options {
	return gateway.Options{
		BasePath: c.Server.BasePath, PublicURL: c.Server.BaseURL(), Vendor: c.Server.Vendor, Version: Version(), SessionTTL: c.Sessions.TTL,
		Offer: offer, Environment: environment, Resets: new(auth.Resets), Location: c.Server.TimeZone.Location, Clock: time.Now, Log: zap.NewNop(),
		Callbacks: &gateway.Callbacks{Rules: webhook.Rules{AllowHosts: c.Webhooks.AllowHosts, Ports: c.Webhooks.Ports}, Long: longRunning(c.Callbacks)},
	}
}

// OfferOf returns what the backend of a configuration offers of the interface, as far as that is
// known without asking the backend. Its error is a *config.Unreadable, also if the model or the sheet
// can be read but not served.
func OfferOf(c *config.Config) (backend.Offer, error) {
	b := c.Backend
	model, err := mapping.LoadModel(c.Model.Dir)
	if err != nil {
		return backend.Offer{}, &config.Unreadable{Setting: "model.dir", Err: err}
	}
	driver := drivers()[b.Driver]
	offer := backend.Offer{Model: model, Exports: driver.exports, Until: driver.until, Distant: driver.distant, Feeds: driver.feeds}
	if b.BySheet() && b.Sheet != "" {
		sh, err := LoadSheet(b.Sheet, model, c.Server.TimeZone.Location)
		if err != nil {
			return offer, &config.Unreadable{Setting: "backend.sheet", Err: located(err)}
		}
		offer.Model, offer.Supports, offer.Writes, offer.Feeds, offer.OwnRules = sh.Model, sh.Supports, sh.Writes, follow.Feeds(sh), sh.OwnRules
		if sh.Source.Service != nil {
			offer.Copied, offer.Feeds = true, remote.Feeds(sh)
		}
	}
	if err = backend.JudgeModel(offer.Model); err == nil && b.Driver == ReferenceDriver {
		err = reference.JudgeModel(offer.Model)
	}
	if err != nil {
		return offer, &config.Unreadable{Setting: "model.dir", Err: err}
	}
	return offer, nil
}
