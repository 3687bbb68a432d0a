package desk

import (
	"cmp"
	"errors"
	"fmt"
	"os/signal"
	"syscall"

	"frontdesk/config"
	"frontdesk/config/strictyaml"
	"frontdesk/gateway"
)

// ServeConfig serves what a configuration says until it is told to stop, reading
// it again on SIGHUP and, with watch, when its files change.
func ServeConfig(p Program, file string, watch bool) error {
	signal.Ignore(syscall.SIGPIPE) // else whoever reads the log ends the gateway when he ends
	loader := newLoader(file)
	c, err := judgedBy(loader, false)
	if err != nil {
		return err
	}
	logs, err := NewLogs(c.Log, p.Stderr, cmp.Or(p.LogDelay, LogDelay))
	if err != nil {
		return err
	}
	defer logs.Stop()
	h, err := Build(p, c, ProductionEnvironment, logs)
	if err != nil {
		return err
	}
	defer h.Close()
	if err := h.keep(p.Ctx, p, loader, logs, watch); err != nil {
		return err
	}
	return h.Serve(p.Ctx, func(baseURL string) { fmt.Fprintf(p.Stdout, "ready: %s/\n", baseURL) })
}

// newLoader reads the configuration in a file, judging it by the endpoints of
// its model.
func newLoader(file string) *config.Loader {
	return config.NewLoader(file, config.Known{Endpoints: knownEndpoints})
}

// LoadConfig reads a configuration once.
func LoadConfig(file string) (*config.Config, error) { return loadBy(newLoader(file)) }

// LoadForKeys reads a configuration for a command that ends api_keys, which a mapping sheet
// or a model that is broken must not keep it from: what keys are granted is not judged then.
func LoadForKeys(file string) (*config.Config, error) {
	loader := newLoader(file)
	loader.Serving()
	return loadBy(loader)
}

// loadBy reads a configuration for a command that was told to.
func loadBy(loader *config.Loader) (*config.Config, error) {
	c, err := loader.Load()
	var problems strictyaml.Problems
	if err != nil && !errors.As(err, &problems) {
		err = Misused("%w", err)
	}
	return c, err
}

func knownEndpoints(c *config.Config) ([]config.Endpoint, error) {
	offer, err := OfferOf(c)
	if err != nil {
		return nil, err
	}
	var endpoints []config.Endpoint
	for _, grant := range gateway.Endpoints(offer) {
		endpoints = append(endpoints, config.Endpoint(grant))
	}
	return endpoints, nil
}
