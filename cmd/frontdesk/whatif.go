package main

import (
	"cmp"
	"fmt"
	"time"

	"frontdesk/cmd/frontdesk/desk"
	"frontdesk/cmd/frontdesk/terminal"
)

type whatifCommand struct {
	configFlag
	At  terminal.When `placeholder:"WHEN" help:"Judge as of then: 2026-12-31, or a time as RFC 3339 has it. Now, where it is left out."`
	Key string        `placeholder:"NAME" help:"Only this api_key's requests."`
	logFlags
}

func (whatifCommand) Help() string {
	return "It judges those of access logs by its endpoints and allowlists; not by limits, addresses and certificates. Exit code: 0 where nothing is newly refused, 1 where something is, 2 where the command, the configuration or a log is wrong."
}

// Run compares what was with what would be.
func (c whatifCommand) Run(p desk.Program) error {
	lists, err := c.lists()
	if err != nil {
		return err
	}
	used, err := c.used(p, c.Key)
	if err != nil {
		return err
	}
	if used.Read.Lines == 0 {
		return desk.Misused("nothing can be said: %s", used.Read)
	}
	now := time.Now()
	w := lists.WhatIf(used, cmp.Or(c.At.From(now), now))
	w.Config = c.Config
	err = w.Write(p.Stdout)
	if refused := w.NewlyRefused(); err == nil && refused != "" {
		err = fmt.Errorf("%s would be newly refused", refused)
	}
	return err
}
