package main

import (
	"encoding/json"
	"fmt"
	"runtime"
	"runtime/debug"
	"text/tabwriter"
)

type versionCommand struct {
	JSON bool `help:"As JSON, for programs."`
}

// buildFacts are what the Go toolchain recorded of the build. Commit, Time and
// Modified stay empty where it was told not to look (-buildvcs=false), or built
// from something else than a checkout.
type buildFacts struct {
	Version  string            `json:"version"`
	Commit   string            `json:"commit,omitempty"`
	Time     string            `json:"time,omitempty"` // of the commit
	Modified bool              `json:"modified"`       // the checkout held changes that were not committed
	Go       string            `json:"go"`
	Platform string            `json:"platform"`
	Modules  map[string]string `json:"modules"`
}

// toldModules are the modules whose version decides what an installation does:
// what speaks HTTP, and what keeps the records.
var toldModules = []string{
	"github.com/gofiber/fiber/v2", "github.com/valyala/fasthttp", "modernc.org/sqlite", "zombiezen.com/go/sqlite",
	"github.com/jackc/pgx/v5", "github.com/go-sql-driver/mysql", "github.com/microsoft/go-mssqldb",
}

// Run prints the facts.
func (v versionCommand) Run(p program) error {
	facts := readBuildFacts()
	if v.JSON {
		encoder := json.NewEncoder(p.stdout)
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
	fmt.Fprintln(p.stdout, "frontdesk", facts.Version)
	table := tabwriter.NewWriter(p.stdout, 0, 0, 2, ' ', 0)
	fmt.Fprintf(table, "commit\t%s\n", commit)
	if facts.Time != "" {
		fmt.Fprintf(table, "committed\t%s\n", facts.Time)
	}
	fmt.Fprintf(table, "built with\t%s for %s\n", facts.Go, facts.Platform)
	for _, module := range toldModules {
		if version, ok := facts.Modules[module]; ok {
			fmt.Fprintf(table, "%s\t%s\n", module, version)
		}
	}
	return table.Flush()
}

func readBuildFacts() buildFacts {
	facts := buildFacts{Version: "dev", Go: runtime.Version(), Platform: runtime.GOOS + "/" + runtime.GOARCH, Modules: map[string]string{}}
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return facts
	}
	if info.Main.Version != "" && info.Main.Version != "(devel)" {
		facts.Version = info.Main.Version
	}
	for _, setting := range info.Settings {
		switch setting.Key {
		case "vcs.revision":
			facts.Commit = setting.Value
		case "vcs.time":
			facts.Time = setting.Value
		case "vcs.modified":
			facts.Modified = setting.Value == "true"
		}
	}
	for _, dependency := range info.Deps {
		for _, module := range toldModules {
			if dependency.Path == module {
				facts.Modules[module] = dependency.Version
			}
		}
	}
	return facts
}

// version is that of the module, as the Go toolchain recorded it.
func version() string { return readBuildFacts().Version }
