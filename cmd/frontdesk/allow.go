package main

import (
	"errors"
	"fmt"
	"time"

	"frontdesk/cmd/frontdesk/accesslog"
	"frontdesk/cmd/frontdesk/allowlist"
	"frontdesk/cmd/frontdesk/desk"
	"frontdesk/cmd/frontdesk/terminal"
	"frontdesk/gateway/openapi"
)

// configFlag names the configuration that a command is about.
type configFlag struct {
	Config string `required:"" placeholder:"FILE" env:"FRONTDESK_CONFIG" help:"Configuration (YAML)."`
}

// lists reads the configuration as serve would.
func (f configFlag) lists() (*allowlist.Lists, error) {
	c, err := desk.LoadConfig(f.Config)
	if err != nil {
		return nil, err
	}
	return allowlist.Of(c, desk.ProductionEnvironment)
}

// key finds an api_key in the configuration.
func (f configFlag) key(name string) (*allowlist.Lists, *allowlist.Key, error) {
	lists, err := f.lists()
	if err != nil {
		return nil, nil, err
	}
	key, err := lists.Find(name)
	return lists, key, err
}

// logFlags say which lines of which logs are read.
type logFlags struct {
	Since terminal.When `placeholder:"WHEN" help:"Read only what is newer: 14d, 36h, 02:13, 2026-11-01 or 2026-11-01T12:00:00Z."`
	Logs  []string      `arg:"" optional:"" name:"log" help:"Access logs (JSON lines), rotated ones too, plain or gzip; - for standard input."`
}

// used reads what was used; if key is not "", only by that api_key.
func (f logFlags) used(p desk.Program, key string) (*allowlist.Used, error) {
	if len(f.Logs) == 0 {
		return nil, desk.Misused("expected access logs, or - for standard input")
	}
	used, err := allowlist.ReadUsed(p.Ctx, accesslog.Logs{Names: f.Logs, Stdin: p.Stdin}, f.Since.From(time.Now()), key)
	return used, unreadable(p, err)
}

// unreadable makes a Misuse of the error of a log that could not be read, unless the command was stopped.
func unreadable(p desk.Program, err error) error {
	if err == nil || errors.Is(err, p.Ctx.Err()) {
		return err
	}
	return desk.Misused("%w", err)
}

type allowCommands struct {
	Learn allowLearnCommand `cmd:"" help:"Draft the least allowlist that lets an api_key do what it did."`
}

type allowLearnCommand struct {
	configFlag
	Key string `required:"" placeholder:"NAME" help:"Name of the api_key."`
	logFlags
}

// Help has what does not fit into the short help.
func (allowLearnCommand) Help() string {
	return "What was served counts as used; what was refused is listed, and not granted. Entries that were used in full stay as they are; one that grants more than was used gives way to what was used of it. frontdesk whatif tells what the new list would refuse; frontdesk audit LOG names what no api_key uses."
}

// Run drafts the list.
func (c allowLearnCommand) Run(p desk.Program) error {
	lists, key, err := c.key(c.Key)
	if err != nil {
		return err
	}
	used, err := c.used(p, key.Name)
	if err != nil {
		return err
	}
	draft, err := lists.Learn(key, used)
	if err != nil {
		return err
	}
	if notice := used.Notice(); notice != "" {
		fmt.Fprintln(p.Stderr, "frontdesk: "+notice)
	}
	draft.Write(p.Stdout)
	return nil
}

type openapiCommand struct {
	Config  string `placeholder:"FILE" env:"FRONTDESK_CONFIG" help:"Configuration (YAML)."`
	Demo    bool   `help:"Describe the demo."`
	Key     string `required:"" placeholder:"NAME" help:"Name of the api_key whose interface is described."`
	Version string `default:"3.1" enum:"3.1,3.0" help:"Of OpenAPI: 3.1, or 3.0 for what does not read that yet."`
}

// Run prints the description of what a key may call. It starts nothing and asks no backend: the
// mapping sheet says what the backend lacks.
func (o openapiCommand) Run(p desk.Program) error {
	lists, err := o.lists()
	if err != nil {
		return err
	}
	key, err := lists.Find(o.Key)
	if err != nil {
		return err
	}
	version := openapi.Version31
	if o.Version == "3.0" {
		version = openapi.Version30
	}
	text, err := lists.Describe(key, version)
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(p.Stdout, "%s\n", text)
	return err
}

func (o openapiCommand) lists() (*allowlist.Lists, error) {
	switch {
	case o.Demo:
	case o.Config == "":
		return nil, desk.Misused("expected --config FILE, or --demo")
	default:
		return configFlag{o.Config}.lists()
	}
	c, err := desk.DemoConfig(demoListen, "", "")
	if err != nil {
		return nil, err
	}
	return allowlist.Of(c, desk.DemoEnvironment)
}
