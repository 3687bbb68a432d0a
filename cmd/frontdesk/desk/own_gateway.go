package desk

import (
	"context"
	"crypto/sha256"
	"errors"

	"github.com/google/uuid"

	"frontdesk/config"
)

// SharedResources returns the resources whose records all clients see, according to the mapping
// sheet of a configuration; none if it has no sheet.
func SharedResources(c *config.Config) ([]string, error) {
	if !c.Backend.BySheet() {
		return nil, nil
	}
	sh, err := sheetOf(c)
	if err != nil {
		return nil, err
	}
	return sh.Shared(), nil
}

// WithGateway serves a configuration while f runs, as serve would, but on a free port of this
// machine, and with one more api_key for f.
func WithGateway(p Program, conf *config.Config, name string, f func(baseURL, key string) error) error {
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
		Name: name + "-" + key.String()[:8], Hashes: []config.KeyHash{{Hash: sha256.Sum256([]byte(key.String()))}}, Allow: []config.Rule{everything},
	})
	h, err := Build(p, conf, name, NoLogs())
	if err != nil {
		return err
	}
	defer h.Close()
	ctx, stop := context.WithCancel(context.WithoutCancel(p.Ctx)) // it serves until f has cleaned up after itself
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
