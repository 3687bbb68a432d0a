package main

import (
	"errors"
	"fmt"
	"os"
	"time"

	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"

	"frontdesk/config"
	"frontdesk/config/strictyaml"
	"frontdesk/gateway"
)

type serveCommand struct {
	Config string `required:"" placeholder:"FILE" help:"Configuration (YAML). It is read again on SIGHUP, and when its files change."`
	Watch  bool   `default:"true" negatable:"" help:"Read the configuration again when its files change."`
}

// Run serves until it is told to stop.
func (s serveCommand) Run(p program) error { return serveConfig(p, s.Config, s.Watch) }

// serveConfig serves what a configuration says until it is told to stop, reading
// it again on SIGHUP and, with watch, when its files change.
func serveConfig(p program, file string, watch bool) error {
	loader := newLoader(file)
	c, err := loadBy(loader)
	if err != nil {
		return err
	}
	logs, err := newLogs(c.Log, zapcore.Lock(zapcore.AddSync(p.stderr)))
	if err != nil {
		return err
	}
	defer logs.stop()
	h, err := build(p, c, productionEnvironment, logs.log)
	if err != nil {
		return err
	}
	defer h.close()
	if err := h.keep(p.ctx, p, loader, logs, watch); err != nil {
		return err
	}
	return h.serve(p.ctx, func(baseURL string) { fmt.Fprintf(p.stdout, "ready: %s/\n", baseURL) })
}

// newLoader reads the configuration in a file, judging it by the endpoints of
// its model.
func newLoader(file string) *config.Loader {
	return config.NewLoader(file, config.Known{Drivers: drivers(), Endpoints: knownEndpoints})
}

// loadConfig reads a configuration once.
func loadConfig(file string) (*config.Config, error) { return loadBy(newLoader(file)) }

// loadBy reads a configuration for a command that was told to.
func loadBy(loader *config.Loader) (*config.Config, error) {
	c, err := loader.Load()
	var problems strictyaml.Problems
	if err != nil && !errors.As(err, &problems) {
		err = misused("%w", err)
	}
	return c, err
}

func knownEndpoints(m config.Model, b config.Backend) ([]config.Endpoint, error) {
	offer, err := offerOf(m, b)
	if err != nil {
		return nil, err
	}
	var endpoints []config.Endpoint
	for _, grant := range gateway.Endpoints(offer) {
		endpoints = append(endpoints, config.Endpoint(grant))
	}
	return endpoints, nil
}

// logs are where the program writes what happens.
type logs struct {
	log   *zap.Logger
	audit *zap.Logger // of changes that somebody made; whatever the level
	level zap.AtomicLevel
	stop  func() error // writes what is left
}

// newLogs writes structured lines. They are buffered: one write for many lines,
// at most a second late.
func newLogs(c config.Log, out zapcore.WriteSyncer) (*logs, error) {
	level, err := zap.ParseAtomicLevel(c.Level)
	if err != nil {
		return nil, err
	}
	encoding := zap.NewProductionEncoderConfig()
	encoding.EncodeTime = zapcore.ISO8601TimeEncoder
	encoder := zapcore.NewJSONEncoder(encoding)
	if c.Format == "console" {
		encoder = zapcore.NewConsoleEncoder(encoding)
	}
	buffered := &zapcore.BufferedWriteSyncer{WS: out, FlushInterval: time.Second}
	return &logs{
		log:   zap.New(zapcore.NewCore(encoder, buffered, level)),
		audit: zap.New(zapcore.NewCore(encoder, buffered, zapcore.DebugLevel)).Named("audit"),
		level: level, stop: buffered.Stop,
	}, nil
}

// set has lines of that level and above written.
func (l *logs) set(level string) {
	if to, err := zapcore.ParseLevel(level); err == nil { // which was judged with the configuration
		l.level.SetLevel(to)
	}
}

// openLog opens a log file, which only its owner can read.
func openLog(path string) (*os.File, error) {
	return os.OpenFile(path, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
}
