package main

import (
	"frontdesk/cmd/frontdesk/desk"
)

type serveCommand struct {
	Config string `required:"" placeholder:"FILE" help:"Configuration (YAML). It is read again on SIGHUP, and when its files change."`
	Watch  bool   `default:"true" negatable:"" help:"Read the configuration again when its files change."`
}

// Run serves until it is told to stop.
func (s serveCommand) Run(p desk.Program) error { return desk.ServeConfig(p, s.Config, s.Watch) }
