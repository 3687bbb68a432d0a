package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"time"

	"frontdesk/cmd/frontdesk/allowlist"
	"frontdesk/cmd/frontdesk/desk"
	"frontdesk/cmd/frontdesk/terminal"
)

type allowCommands struct {
	Learn  allowLearnCommand  `cmd:"" help:"Draft the least allowlist that lets an api_key do what it did."`
	Unused allowUnusedCommand `cmd:"" help:"Show what allowlists grant and nobody used."`
}

// listsFlags say whose allowlists a command is about.
type listsFlags struct {
	Config string `placeholder:"FILE" xor:"of" help:"Configuration (YAML); frontdesk.yaml of this folder where none is named."`
	Demo   bool   `xor:"of" help:"The demo's configuration."`
}

// open reads the configuration as serve would.
func (f listsFlags) open() (*allowlist.Lists, error) {
	if f.Demo {
		return listsOfDemo()
	}
	file, err := f.file()
	if err != nil {
		return nil, err
	}
	return listsOf(file)
}

// file is the configuration that is named, or the usual one.
func (f listsFlags) file() (string, error) {
	if f.Config != "" {
		return f.Config, nil
	}
	if _, err := os.Stat(desk.UsualConfig); errors.Is(err, fs.ErrNotExist) {
		return "", desk.Misused("there is no %s in this folder; --config FILE names another, --demo takes the demo's", desk.UsualConfig)
	}
	return desk.UsualConfig, nil
}

// find opens the lists, and finds an api_key in them.
func (f listsFlags) find(key string) (*allowlist.Lists, *allowlist.Key, error) {
	lists, err := f.open()
	if err != nil {
		return nil, nil, err
	}
	found, err := lists.Find(key)
	return lists, found, err
}

func listsOf(file string) (*allowlist.Lists, error) {
	c, err := desk.LoadConfig(file)
	if err != nil {
		return nil, err
	}
	return allowlist.Of(c, desk.ProductionEnvironment)
}

func listsOfDemo() (*allowlist.Lists, error) {
	c, err := desk.DemoConfig(demoListen, "", "")
	if err != nil {
		return nil, err
	}
	return allowlist.Of(c, desk.DemoEnvironment)
}

// readUsed reads what was used; by one api_key only, where key names one.
func (f logFlags) readUsed(p desk.Program, key string) (*allowlist.Used, error) {
	return allowlist.ReadUsed(p.Ctx, logsOf(p, f.Logs), f.Since.From(time.Now()), key)
}

type allowLearnCommand struct {
	listsFlags
	Key    string `required:"" placeholder:"NAME" help:"Name of the api_key."`
	Format string `default:"diff" enum:"diff,yaml,json" help:"diff: what to change; yaml: the whole list, to paste; json."`
	logFlags
}

// Help tells what the short help has no room for.
func (allowLearnCommand) Help() string {
	return "What was served counts as used; what was refused is listed, and not granted. Entries that were used in full stay as they are; one that grants more than was used gives way to what was used of it."
}

// Run drafts the list.
func (c allowLearnCommand) Run(p desk.Program) error {
	lists, key, err := c.find(c.Key)
	if err != nil {
		return err
	}
	used, err := c.readUsed(p, key.Name)
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
	switch c.Format {
	case "json":
		return terminal.WriteJSON(p.Stdout, draft)
	case "yaml":
		draft.WriteList(p.Stdout)
	default:
		draft.WriteDiff(p.Stdout)
	}
	return nil
}

type allowUnusedCommand struct {
	listsFlags
	Key  string `default:"all" placeholder:"NAME" help:"Name of the api_key, or all."`
	JSON bool   `name:"json" help:"Print JSON, for programs."`
	logFlags
}

// Run shows the grants.
func (c allowUnusedCommand) Run(p desk.Program) error {
	lists, err := c.open()
	if err != nil {
		return err
	}
	keys := lists.All()
	if c.Key != "all" {
		key, err := lists.Find(c.Key)
		if err != nil {
			return err
		}
		keys = []*allowlist.Key{key}
	}
	used, err := c.readUsed(p, "")
	if err != nil {
		return err
	}
	if used.Read.Lines == 0 {
		return fmt.Errorf("nothing can be said: %s", used.Read)
	}
	unused := lists.Unused(keys, used)
	if c.JSON {
		return terminal.WriteJSON(p.Stdout, unused)
	}
	unused.Write(p.Stdout)
	return nil
}
