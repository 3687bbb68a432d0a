package main

import (
	"context"
	"crypto/sha256"
	"errors"

	"github.com/google/uuid"

	"frontdesk/cmd/frontdesk/desk"
	"frontdesk/config"
	"frontdesk/mapping"
)

// sharedResources returns the resources whose records all clients see, according to the mapping
// sheet of a configuration; none if it has no sheet.
func sharedResources(c *config.Config) ([]string, error) {
	if !c.Backend.BySheet() {
		return nil, nil
	}
	model, err := mapping.LoadModel(c.Model.Dir)
	if err != nil {
		return nil, err
	}
	sh, err := desk.LoadSheet(c.Backend.Sheet, model, c.Server.TimeZone.Location)
	if err != nil {
		return nil, err
	}
	return sh.Shared(), nil
}

// withGateway serves a configuration while f runs, as serve would, but on a free port of this
// machine, and with one more api_key for f.
func withGateway(p desk.Program, conf *config.Config, f func(baseURL, key string) error) error {
	key, err := uuid.NewRandom()
	if err != nil {
		return err
	}
	everything, err := config.ParseRule("* /*")
	if err != nil {
		return err
	}
	conf.Server.Listen, conf.Server.PublicURL, conf.Server.TLS, conf.Ops.Listen = "127.0.0.1:0", "", config.TLS{}, ""
	conf.APIKeys = append(conf.APIKeys, config.Key{
		Name: "conform-" + key.String()[:8], Hashes: []config.KeyHash{{Hash: sha256.Sum256([]byte(key.String()))}}, Allow: []config.Rule{everything},
	})
	h, err := desk.Build(p, conf, "conform", desk.NoLogs())
	if err != nil {
		return err
	}
	defer h.Close()
	ctx, stop := context.WithCancel(context.WithoutCancel(p.Ctx)) // the gateway serves until f has cleaned up
	defer stop()
	ready, served := make(chan string, 1), make(chan error, 1)
	go func() { served <- h.Serve(ctx, func(baseURL string) { ready <- baseURL }) }()
	var baseURL string
	select {
	case baseURL = <-ready:
	case err := <-served:
		return err
	}
	err = f(baseURL, key.String())
	stop()
	return errors.Join(err, <-served)
}
