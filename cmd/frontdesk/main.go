// Command frontdesk gives an existing administration a documented REST
// interface. It is the table of contents: commands of one kind are a file, with their
// flags; what they do is in the packages below. Package desk is what serves. What vendors use once,
// before a system serves, is frontdesk-kit.
package main

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"syscall"

	"github.com/alecthomas/kong"

	"frontdesk/cmd/frontdesk/commandline"
	"frontdesk/cmd/frontdesk/desk"
	"frontdesk/cmd/frontdesk/terminal"
)

// commands is the command line, in the order of help.
type commands struct {
	Demo        demoCommand        `cmd:"" group:"Serve:" help:"Start gateway and built-in administration with sample data, on this machine only."`
	Serve       serveCommand       `cmd:"" group:"Serve:" help:"Serve the interface as the configuration says."`
	Healthcheck healthcheckCommand `cmd:"" group:"Serve:" help:"Ask a frontdesk on this machine how it does."`
	Version     versionCommand     `cmd:"" group:"Serve:" help:"Print the version, and what the program was built from."`

	Check   checkCommand   `cmd:"" group:"Is this right?" help:"Would serve take this configuration, and what would it change?"`
	Audit   auditCommand   `cmd:"" group:"Is this right?" help:"What is allowed, and had better not be, or is used by nobody?"`
	Explain explainCommand `cmd:"" group:"Is this right?" help:"What would become of this request, and which line decides?"`
	Whatif  whatifCommand  `cmd:"" group:"Is this right?" help:"Which requests of the past would this configuration refuse?"`
	Why     whyCommand     `cmd:"" group:"Is this right?" help:"Why was a request of the past answered so? Who wrote a record?"`

	Key      keyCommands      `cmd:"" group:"Who may do what:" help:"Make, rotate, end and list api_keys."`
	Allow    allowCommands    `cmd:"" group:"Who may do what:" help:"Learn allowlists of what is used."`
	Openapi  openapiCommand   `cmd:"" group:"Who may do what:" help:"Print the OpenAPI description of what an api_key may call."`
	User     userCommands     `cmd:"" group:"Who may do what:" help:"Keep the users of the built-in administration."`
	Sessions sessionsCommands `cmd:"" group:"Who may do what:" help:"List and end sessions of a running frontdesk."`

	Callbacks callbacksCommands `cmd:"" group:"Records and jobs:" help:"Look after callback jobs."`
	Migrate   migrateCommand    `cmd:"" group:"Records and jobs:" help:"Bring the tables to this version, before an upgrade or in place of its first start."`
	Backup    backupCommand     `cmd:"" group:"Records and jobs:" help:"Write all records of a client into a ZIP file."`
	Restore   restoreCommand    `cmd:"" group:"Records and jobs:" help:"Read a backup back into a client without records."`
	Seed      seedCommand       `cmd:"" group:"Records and jobs:" help:"Make a folder of sample data without serving, for benchmarks."`
}

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, stop) // a second Ctrl-C ends the program at once
	supervisor, err := desk.UnderSystemd()
	if err != nil {
		fmt.Fprintln(os.Stderr, "frontdesk:", err)
		os.Exit(1)
	}
	os.Exit(run(desk.Program{Ctx: ctx, Stdin: os.Stdin, Stdout: os.Stdout, Stderr: os.Stderr, Supervisor: supervisor}, os.Args[1:]))
}

// run runs one command line and returns its exit code.
func run(p desk.Program, args []string) int {
	return commandline.Grammar{
		Name: "frontdesk", About: "A documented REST interface in front of a business administration.",
		Commands: &commands{}, Vars: kong.Vars{"demo_listen": demoListen},
	}.Run(p, args)
}

type serveCommand struct {
	configFlag
	Watch bool `default:"true" negatable:"" help:"Read the configuration again when its files change, not only on SIGHUP."`
}

// Run serves until the program is to stop.
func (s serveCommand) Run(p desk.Program) error { return desk.ServeConfig(p, s.Config, s.Watch) }

type versionCommand struct {
	JSON bool `help:"As JSON, for programs."`
}

// Run prints the version, and what the program was built from.
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
	for _, module := range desk.ShownModules {
		if version, ok := facts.Modules[module]; ok {
			table.Row(module, version)
		}
	}
	return table.Flush()
}
