// Package commandline runs one command line of a program: it parses it, runs the command, and
// words what went wrong in the same way for all programs. What a command does is not here.
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

// Grammar is what command lines of a program may say.
type Grammar struct {
	Name, About string
	Commands    any // a pointer to a struct, in kong's words; its commands have a Run(desk.Program) error
	Vars        kong.Vars
}

// Run runs one command line and returns its exit code: 0 for done, 1 for
// failed, 2 for a command line or configuration that is wrong. A command's help tells of others.
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

// say tells why a command failed, unless nobody takes it: to stop must not wait for
// whoever reads the log of serve, which goes the same way.
func say(out io.Writer, words ...any) {
	said := make(chan struct{})
	go func() {
		defer close(said)
		fmt.Fprintln(out, words...)
	}()
	select {
	case <-said:
	case <-time.After(desk.LogPatience):
	}
}
