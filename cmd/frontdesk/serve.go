package main

import (
	"errors"
	"fmt"
	"os"
	"time"

	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"

	"frontdesk/backend"
	"frontdesk/config"
	"frontdesk/config/strictyaml"
	"frontdesk/gateway"
	"frontdesk/mapping"
)

type serveCommand struct {
	Config string `required:"" placeholder:"FILE" help:"Configuration (YAML)."`
}

// Run serves until it is told to stop.
func (s serveCommand) Run(p program) error {
	c, err := loadConfig(s.Config)
	if err != nil {
		return err
	}
	log, stop, err := newLogger(c.Log, zapcore.Lock(zapcore.AddSync(p.stderr)))
	if err != nil {
		return err
	}
	defer stop()
	h, err := build(p, c, "production", log)
	if err != nil {
		return err
	}
	defer h.close()
	return h.serve(p.ctx, func(baseURL string) { fmt.Fprintf(p.stdout, "ready: %s/\n", baseURL) })
}

// loadConfig reads the configuration, judging it by the endpoints of its model.
func loadConfig(file string) (*config.Config, error) {
	c, err := config.Load(file, config.Known{Drivers: drivers(), Endpoints: knownEndpoints})
	var problems strictyaml.Problems
	if err != nil && !errors.As(err, &problems) {
		err = misuse{err}
	}
	return c, err
}

func knownEndpoints(m config.Model, b config.Backend) ([]config.Endpoint, error) {
	model, err := mapping.LoadModel(m.Dir)
	if err != nil {
		return nil, err
	}
	offer := backend.Offer{Model: model, Exports: b.Driver != remoteDriver}
	if b.Driver != referenceDriver && b.Sheet != "" {
		sh, err := loadSheet(b.Sheet, model)
		if err != nil {
			return nil, err
		}
		offer.Model, offer.Supports, offer.Writes = sh.Model, sh.Supports, sh.Writes
	}
	var endpoints []config.Endpoint
	for _, grant := range gateway.Endpoints(offer) {
		endpoints = append(endpoints, config.Endpoint(grant))
	}
	return endpoints, nil
}

// newLogger writes structured lines. They are buffered: one write for many
// lines, at most a second late; stop writes what is left.
func newLogger(c config.Log, out zapcore.WriteSyncer) (log *zap.Logger, stop func() error, err error) {
	level, err := zapcore.ParseLevel(c.Level)
	if err != nil {
		return nil, nil, err
	}
	encoding := zap.NewProductionEncoderConfig()
	encoding.EncodeTime = zapcore.ISO8601TimeEncoder
	encoder := zapcore.NewJSONEncoder(encoding)
	if c.Format == "console" {
		encoder = zapcore.NewConsoleEncoder(encoding)
	}
	buffered := &zapcore.BufferedWriteSyncer{WS: out, FlushInterval: time.Second}
	return zap.New(zapcore.NewCore(encoder, buffered, level)), buffered.Stop, nil
}

// openLog opens a log file, which only its owner can read.
func openLog(path string) (*os.File, error) {
	return os.OpenFile(path, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
}
