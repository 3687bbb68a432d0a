package main

import (
	"frontdesk/cmd/frontdesk/desk"
)

type serveCommand struct {
	configFlag
	Watch bool `default:"true" negatable:"" help:"Read the configuration again when its files change, not only on SIGHUP."`
}

// Run serves until it is told to stop.
func (s serveCommand) Run(p desk.Program) error { return desk.ServeConfig(p, s.Config, s.Watch) }
