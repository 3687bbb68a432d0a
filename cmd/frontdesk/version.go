package main

import (
	"encoding/json"
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
		encoder := json.NewEncoder(p.Stdout)
		encoder.SetIndent("", "  ")
		return encoder.Encode(facts)
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
	fmt.Fprintf(table, "commit\t%s\n", commit)
	if facts.Time != "" {
		fmt.Fprintf(table, "committed\t%s\n", facts.Time)
	}
	fmt.Fprintf(table, "built with\t%s for %s\n", facts.Go, facts.Platform)
	for _, module := range desk.ToldModules {
		if version, ok := facts.Modules[module]; ok {
			fmt.Fprintf(table, "%s\t%s\n", module, version)
		}
	}
	return table.Flush()
}
