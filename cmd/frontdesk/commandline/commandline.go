// Package commandline runs one command line of a program: it parses it, runs the command, and
// reports errors, in the same way for all programs. The commands themselves are not here.
package commandline

import (
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/alecthomas/kong"

	"frontdesk/cmd/frontdesk/desk"
	"frontdesk/config/strictyaml"
)

// Grammar describes the command lines of a program.
type Grammar struct {
	Name, About string
	Commands    any // a pointer to a struct with kong's tags; its commands have a Run(desk.Program) error
	Vars        kong.Vars
}

// Run runs one command line and returns its exit code: 0 for done, 1 for
// failed, 2 for a command line or configuration that is wrong. The help of a command names any others.
func (g Grammar) Run(p desk.Program, args []string) int {
	exit := -1
	parser, err := kong.New(g.Commands,
		kong.Name(g.Name),
		kong.Description(g.About+"\n\nExit codes: 0 done, 1 failed, 2 a command line or configuration that is wrong."),
		kong.Writers(p.Stdout, p.Stderr),
		kong.Exit(func(code int) { exit = code }),
		g.Vars,
		kong.ConfigureHelp(kong.HelpOptions{Compact: true}),
	)
	if err != nil {
		fmt.Fprintln(p.Stderr, g.Name+":", err)
		return 1
	}
	if len(args) == 0 {
		args = []string{"--help"}
	}
	parsed, err := parser.Parse(args)
	if exit >= 0 { // help was asked for
		return exit
	}
	if err != nil {
		fmt.Fprintln(p.Stderr, g.Name+":", err)
		fmt.Fprintf(p.Stderr, "Run %[1]s --help, or %[1]s COMMAND --help.\n", g.Name)
		return 2
	}
	err = parsed.Run(p)
	var problems strictyaml.Problems
	switch {
	case err == nil:
		return 0
	case errors.As(err, &problems):
		fmt.Fprintln(p.Stderr, err)
		fmt.Fprintf(p.Stderr, "%s: %d problem(s); nothing was done\n", g.Name, len(problems))
		return 2
	default:
		say(p.Stderr, g.Name+":", err)
		if _, misused := errors.AsType[desk.Misuse](err); misused {
			return 2
		}
		return 1
	}
}

// say writes why a command failed, but does not wait for longer than desk.LogPatience: the program
// must stop even if the reader of its log, which is on the same stream, hangs.
func say(out io.Writer, words ...any) {
	written := make(chan struct{})
	go func() {
		defer close(written)
		fmt.Fprintln(out, words...)
	}()
	select {
	case <-written:
	case <-time.After(desk.LogPatience):
	}
}
