package main

import (
	"fmt"
	"time"

	"frontdesk/cmd/frontdesk/allowlist"
	"frontdesk/cmd/frontdesk/desk"
	"frontdesk/cmd/frontdesk/keys"
	"frontdesk/cmd/frontdesk/terminal"
	"frontdesk/config"
)

// allowChange says which allowlist is changed, and how.
type allowChange struct {
	Key    string        `arg:"" help:"The key, by its name in the configuration."`
	Config string        `placeholder:"FILE" help:"Configuration (YAML); frontdesk.yaml of this folder where none is named."`
	DryRun bool          `help:"Show the change, and what it would refuse, and change nothing."`
	Logs   []string      `name:"log" placeholder:"LOG" sep:"none" help:"Judge the requests of this access log by the new list first; - for standard input. Once for each log."`
	Since  terminal.When `placeholder:"WHEN" help:"Of the logs only what is newer: 14d, 36h, 2026-11-01 or 2026-11-01T12:00:00Z."`
	Anyway bool          `help:"Change it also where requests of the log would be newly refused."`
}

// Help implements kong.HelpProvider for the two commands.
func (allowChange) Help() string {
	return "Only the lines of these entries change in the file that has the key; all else, comments too, stays as it is written. Nothing is written if check would find a problem in the result, such as an expectation that is not met, or if requests of the logs would be newly refused."
}

func (c allowChange) run(p desk.Program, add, remove []string) error {
	file, err := listsFlags{Config: c.Config}.file()
	if err != nil {
		return err
	}
	change, err := keys.Allow(file, c.Key, add, remove)
	if err != nil {
		return err
	}
	if len(c.Logs) > 0 {
		used, err := logFlags{Logs: c.Logs, Since: c.Since}.readUsed(p, c.Key)
		if err != nil {
			return err
		}
		change.JudgedBy(whatifOf(p, file, used, c.Anyway))
	}
	return change.Apply(p, c.DryRun)
}

// whatifOf tells what another configuration does to requests of the past. Those that it
// newly refuses are an error, unless they may be.
func whatifOf(p desk.Program, file string, used *allowlist.Used, anyway bool) func(*config.Config) error {
	return func(after *config.Config) error {
		lists, err := allowlist.Of(after, desk.ProductionEnvironment)
		if err != nil {
			return err
		}
		w := lists.WhatIf(used, time.Now())
		w.Config = file + " with this change"
		if err := w.Write(p.Stdout); err != nil {
			return err
		}
		if refused := w.NewlyRefused(); refused != "" && !anyway {
			return fmt.Errorf("%s would be newly refused (--anyway changes it nevertheless)", refused)
		}
		return nil
	}
}

type allowAddCommand struct {
	allowChange
	Entries []string `arg:"" name:"entry" help:"A method and an endpoint, such as \"GET /vehicle\"; in quotation marks."`
}

// Run adds entries to an allowlist.
func (c allowAddCommand) Run(p desk.Program) error { return c.run(p, c.Entries, nil) }

type allowRemoveCommand struct {
	allowChange
	Entries []string `arg:"" name:"entry" help:"An entry as the allowlist has it, such as \"GET /vehicle\"; in quotation marks."`
}

// Run removes entries from an allowlist.
func (c allowRemoveCommand) Run(p desk.Program) error { return c.run(p, nil, c.Entries) }

// write makes the drafted list that of the key.
func (c allowLearnCommand) write(p desk.Program, draft allowlist.Draft, used *allowlist.Used) error {
	file, err := c.file()
	if err != nil {
		return err
	}
	change, err := keys.Allow(file, c.Key, draft.Rules(allowlist.EntryAdded), draft.Rules(allowlist.EntryDropped))
	if err != nil {
		return err
	}
	change.JudgedBy(whatifOf(p, file, used, false))
	return change.Apply(p, c.DryRun)
}
