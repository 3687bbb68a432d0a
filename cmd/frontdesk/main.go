// Command frontdesk gives an existing administration a documented REST
// interface. It is the table of contents: each subcommand is a file of its own, with its
// flags; what it does is in the packages below. Package desk is what serves. What vendors use once,
// before a system serves, is frontdesk-kit.
package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"syscall"

	"github.com/alecthomas/kong"

	"frontdesk/cmd/frontdesk/accesslog"
	"frontdesk/cmd/frontdesk/commandline"
	"frontdesk/cmd/frontdesk/desk"
)

// commands is the command line, in the order of help: serving, the configuration and
// its keys, users and records, the rest.
type commands struct {
	Demo        demoCommand        `cmd:"" help:"Start gateway and built-in administration with sample data, on this machine only."`
	Serve       serveCommand       `cmd:"" help:"Serve the interface as the configuration says."`
	Check       checkCommand       `cmd:"" help:"Tell everything that is wrong with a configuration, as serve would find it."`
	Audit       auditCommand       `cmd:"" help:"Tell what a configuration allows and had better not."`
	Key         keyCommands        `cmd:"" help:"Make, rotate, end and list api_keys."`
	Explain     explainCommand     `cmd:"" help:"Tell what becomes of a request, and why, without sending it."`
	Allow       allowCommands      `cmd:"" help:"Change allowlists, learn them of what is used, and find what is not."`
	Whatif      whatifCommand      `cmd:"" help:"Tell what a new configuration would refuse of what was asked before."`
	Why         whyCommand         `cmd:"" help:"Tell why a request was answered as it was, from the log."`
	User        userCommands       `cmd:"" help:"Keep the users of the built-in administration."`
	Sessions    sessionsCommands   `cmd:"" help:"List and end sessions of a running frontdesk."`
	Callbacks   callbacksCommands  `cmd:"" help:"Look after callback jobs."`
	Migrate     migrateCommand     `cmd:"" help:"Bring the tables to this version, before an upgrade or in place of its first start."`
	Backup      backupCommand      `cmd:"" help:"Write all records of a client into a ZIP file."`
	Restore     restoreCommand     `cmd:"" help:"Read a backup back into a client without records."`
	Healthcheck healthcheckCommand `cmd:"" help:"Ask a frontdesk on this machine how it does."`
	Openapi     openapiCommand     `cmd:"" help:"Print the OpenAPI description of what an api_key may call."`
	Seed        seedCommand        `cmd:"" help:"Make a folder of sample data without serving, for benchmarks."`
	Version     versionCommand     `cmd:"" help:"Print the version, and what the program was built from."`
}

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, stop) // whoever presses Ctrl-C again does not want to wait
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
		Commands: &commands{}, Vars: kong.Vars{"demo_listen": demoListen}, CodeOf: codeOf,
	}.Run(p, args)
}

// codeOf is the exit code of what only some commands fail with.
func codeOf(err error) int {
	if _, ok := errors.AsType[accesslog.Unreadable](err); ok {
		return 2
	}
	return 0
}
