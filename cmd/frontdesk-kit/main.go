// Command frontdesk-kit has the tools for putting frontdesk in front of an existing system: map drafts
// and checks a mapping sheet, and conform tests a gateway against the interface. The tools themselves
// are in backend/adopt and backend/backendtest; here are their flags and their output. Serving needs
// none of them: that is frontdesk.
package main

import (
	"context"
	"os"
	"os/signal"
	"strings"
	"syscall"

	"github.com/alecthomas/kong"

	"frontdesk/backend/sqlrecord"
	"frontdesk/cmd/frontdesk/commandline"
	"frontdesk/cmd/frontdesk/desk"
)

// commands is the command line, in the order of help.
type commands struct {
	Map     mapCommands      `cmd:"" help:"Draft and check the mapping sheet of an existing system."`
	Conform conformCommand   `cmd:"" help:"Hold a gateway to every documented row and rule."`
	Version kong.VersionFlag `help:"Print the version."`
}

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, stop) // a second Ctrl-C ends the program at once
	os.Exit(run(desk.Program{Ctx: ctx, Stdin: os.Stdin, Stdout: os.Stdout, Stderr: os.Stderr}, os.Args[1:]))
}

// run runs one command line and returns its exit code.
func run(p desk.Program, args []string) int {
	var engines []string
	for _, d := range sqlrecord.Engines() {
		engines = append(engines, d.Name)
	}
	return commandline.Grammar{
		Name: "frontdesk-kit", About: "Tools for whoever puts frontdesk in front of an existing system.",
		Commands: &commands{}, Vars: kong.Vars{"version": desk.Version(), "engines": strings.Join(engines, ",")},
	}.Run(p, args)
}
