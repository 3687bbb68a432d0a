// Command frontdesk gives an existing administration a documented REST
// interface. It is the table of contents: each subcommand is a file of its own, with its
// flags; what it does is in the packages below. Package desk is what serves.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"reflect"
	"slices"
	"syscall"
	"time"

	"github.com/alecthomas/kong"

	"frontdesk/cmd/frontdesk/accesslog"
	"frontdesk/cmd/frontdesk/adopt"
	"frontdesk/cmd/frontdesk/desk"
	"frontdesk/cmd/frontdesk/mirror"
	"frontdesk/cmd/frontdesk/rollback"
	"frontdesk/config/strictyaml"
)

// commands is the command line, in the order of help: serving, the configuration and
// its keys, users and records, integrating, the rest.
type commands struct {
	Demo        demoCommand        `cmd:"" help:"Start gateway and built-in administration with sample data, on this machine only."`
	Serve       serveCommand       `cmd:"" help:"Serve the interface as the configuration says."`
	Check       checkCommand       `cmd:"" help:"Tell everything that is wrong with a configuration, as serve would find it."`
	Audit       auditCommand       `cmd:"" help:"Tell what a configuration allows and had better not."`
	Config      rollback.Commands  `cmd:"" help:"Compare configurations, list those that there were, and go back to one."`
	Key         keyCommands        `cmd:"" help:"Make, rotate, end and list api_keys."`
	Explain     explainCommand     `cmd:"" help:"Tell what becomes of a request, and why, without sending it."`
	Allow       allowCommands      `cmd:"" help:"Change allowlists, learn them of what is used, and find what is not."`
	Whatif      whatifCommand      `cmd:"" help:"Tell what a new configuration would refuse of what was asked before."`
	Top         topCommand         `cmd:"" help:"Watch a running frontdesk: rate, refusals, failures, times, who is busiest."`
	Why         whyCommand         `cmd:"" help:"Tell why a request was answered as it was, from the log."`
	Log         logCommands        `cmd:"" help:"Tell from the log who asks for most, what takes long, and what was changed."`
	User        userCommands       `cmd:"" help:"Keep the users of the built-in administration."`
	Sessions    sessionsCommands   `cmd:"" help:"List and end sessions of a running frontdesk."`
	Callbacks   callbacksCommands  `cmd:"" help:"Look after callback jobs."`
	Acts        actsCommands       `cmd:"" help:"Tell who added, blocked or backed up what, and when."`
	Migrate     migrateCommand     `cmd:"" help:"Bring the tables to this version, before an upgrade or in place of its first start."`
	Backup      backupCommand      `cmd:"" help:"Write all records of a client into a ZIP file."`
	Restore     restoreCommand     `cmd:"" help:"Read a backup back into a client without records."`
	Healthcheck healthcheckCommand `cmd:"" help:"Ask a frontdesk on this machine how it does."`
	Openapi     openapiCommand     `cmd:"" help:"Print the OpenAPI description of what an api_key may call."`
	Map         adopt.Map          `cmd:"" help:"Write, check and try the mapping sheet of an existing system."`
	Conform     adopt.Conform      `cmd:"" help:"Hold a backend to every documented row and rule."`
	Mirror      mirrorCommand      `cmd:"" help:"Keep a copy of a client's records in an SQLite file, as a client of the interface."`
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

// run runs one command line and returns its exit code: 0 for done, 1 for
// failed, 2 for a command line or configuration that is wrong. A command's help tells of others.
func run(p desk.Program, args []string) int {
	var c commands
	exit := -1
	parser, err := kong.New(&c,
		kong.Name("frontdesk"),
		kong.Description("A documented REST interface in front of a business administration.\n\nExit codes: 0 done, 1 failed, 2 a command line or configuration that is wrong.\n\nFRONTDESK_CONFIG is the --config of commands that are given none, and nothing in its place."),
		kong.Writers(p.Stdout, p.Stderr),
		kong.Exit(func(code int) { exit = code }),
		kong.Vars{"demo_listen": demoListen},
		kong.KindMapper(reflect.String, kong.MapperFunc(decodeText)),
		kong.ConfigureHelp(kong.HelpOptions{Compact: true}),
		kong.Resolvers(kong.ResolverFunc(configOfEnvironment)),
	)
	if err != nil {
		fmt.Fprintln(p.Stderr, "frontdesk:", err)
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
		fmt.Fprintln(p.Stderr, "frontdesk:", err)
		fmt.Fprintln(p.Stderr, "Run frontdesk --help, or frontdesk COMMAND --help.")
		return 2
	}
	err = parsed.Run(p)
	var problems strictyaml.Problems
	var wrong desk.Misuse
	var unreadable accesslog.Unreadable
	switch {
	case err == nil:
		return 0
	case errors.As(err, &problems):
		fmt.Fprintln(p.Stderr, err)
		fmt.Fprintf(p.Stderr, "frontdesk: %d problem(s); nothing was done\n", len(problems))
		return 2
	case errors.As(err, &wrong), errors.As(err, &unreadable):
		fmt.Fprintln(p.Stderr, "frontdesk:", err)
		return 2
	default:
		say(p.Stderr, "frontdesk:", err)
		return codeOf(err)
	}
}

// codeOf is the exit code of a failure.
func codeOf(err error) int {
	if _, ok := errors.AsType[mirror.Differed](err); ok {
		return 3
	}
	return 1
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

// configOfEnvironment names the configuration to commands that were told none, and nothing that
// stands in place of one.
func configOfEnvironment(c *kong.Context, _ *kong.Path, flag *kong.Flag) (any, error) {
	file := os.Getenv("FRONTDESK_CONFIG")
	if flag.Name != "config" || file == "" {
		return nil, nil
	}
	for _, given := range c.Path {
		if given.Flag != nil && slices.ContainsFunc(given.Flag.Xor, func(group string) bool { return slices.Contains(flag.Xor, group) }) {
			return nil, nil
		}
	}
	return file, nil
}
