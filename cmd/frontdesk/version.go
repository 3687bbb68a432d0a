package main

import (
	"fmt"

	"frontdesk/cmd/frontdesk/desk"
	"frontdesk/cmd/frontdesk/terminal"
)

type versionCommand struct {
	JSON bool `help:"As JSON, for programs."`
}

// Run prints the facts.
func (v versionCommand) Run(p desk.Program) error {
	facts := desk.ReadBuildFacts()
	if v.JSON {
		return terminal.WriteJSON(p.Stdout, facts)
	}
	commit := facts.Commit
	switch {
	case commit == "":
		commit = "not recorded by this build"
	case facts.Modified:
		commit += ", with changes that were not committed"
	}
	fmt.Fprintln(p.Stdout, "frontdesk", facts.Version)
	table := terminal.NewTable(p.Stdout)
	table.Row("commit", commit)
	if facts.Time != "" {
		table.Row("committed", facts.Time)
	}
	table.Row("built with", facts.Go+" for "+facts.Platform)
	for _, module := range desk.ToldModules {
		if version, ok := facts.Modules[module]; ok {
			table.Row(module, version)
		}
	}
	return table.Flush()
}
