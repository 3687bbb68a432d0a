package main

import (
	"fmt"
	"time"

	"frontdesk/cmd/frontdesk/desk"
	"frontdesk/cmd/frontdesk/keys"
	"frontdesk/cmd/frontdesk/terminal"
	"frontdesk/config"
)

type keyCommands struct {
	New    keyNewCommand    `cmd:"" help:"Make an api_key: print it once, and keep its SHA-256 in a file of the configuration."`
	Rotate keyRotateCommand `cmd:"" help:"Make a second api_key beside the one in use, which then ends after a while."`
	Revoke keyRevokeCommand `cmd:"" help:"End an api_key, at once or on a date."`
	List   keyListCommand   `cmd:"" help:"List the api_keys: when they end, how they are recognised, how much they may do."`
}

// apply returns a function that applies a change, unless making it failed.
func apply(p desk.Program) func(*keys.Change, error) error {
	return func(change *keys.Change, err error) error {
		if err != nil {
			return err
		}
		return change.Apply(p)
	}
}

type keyNewCommand struct {
	Name    string   `arg:"" help:"What the key is called in the configuration and in logs."`
	Config  string   `placeholder:"FILE" env:"FRONTDESK_CONFIG" help:"Configuration (YAML) that includes a folder, such as keys.d/*.yaml: the key gets a file of its own there. Without it nothing is written, and what belongs there is printed."`
	Allow   []string `placeholder:"ENTRY" sep:"none" help:"What the key may do, such as \"GET /order\"; once for each entry. Nothing is allowed without."`
	Expires string   `placeholder:"DATE" help:"The last day of the key, such as 2027-12-31. Without it the key does not end by itself."`
}

// Run prints a new key, which the program does not store.
func (k keyNewCommand) Run(p desk.Program) error {
	if k.Config != "" {
		return apply(p)(keys.Add(k.Config, k.Name, k.Expires, k.Allow))
	}
	key, notice, err := keys.New(k.Name, k.Expires, k.Allow, time.UTC)
	if err == nil {
		_, err = fmt.Fprintf(p.Stdout, "%s\nInto the configuration:\n\n%s", notice, &config.KeyFile{Key: key})
	}
	return err
}

type keyRotateCommand struct {
	Name string `arg:"" help:"The key, by its name in the configuration."`
	configFlag
	Overlap string `default:"14d" placeholder:"TIME" help:"How long the api_key that is in use goes on working, in whole days (default: 14d); 0d ends it today, at the end of the day."`
}

// longestOverlap bounds the days that two api_keys work side by side.
const longestOverlap = 366

// Run makes the second api_key and gives the first its last day.
func (k keyRotateCommand) Run(p desk.Program) error {
	days, ok := terminal.WholeDays(k.Overlap)
	if !ok || days > longestOverlap {
		return desk.Misused("--overlap %s: expected whole days from 0d to %dd, such as 14d", k.Overlap, longestOverlap)
	}
	return apply(p)(keys.Rotate(k.Config, k.Name, days))
}

type keyRevokeCommand struct {
	Name string `arg:"" help:"The key, by its name in the configuration."`
	configFlag
	At string `default:"now" placeholder:"WHEN" help:"now (the default), or its last day such as 2027-01-31, or a time such as 2027-01-31T12:00:00Z."`
}

// Run gives the key its end.
func (k keyRevokeCommand) Run(p desk.Program) error {
	return apply(p)(keys.Revoke(k.Config, k.Name, k.At))
}

type keyListCommand struct{ configFlag }

// Run lists the keys.
func (k keyListCommand) Run(p desk.Program) error {
	c, err := desk.LoadConfig(k.Config)
	if err != nil {
		return err
	}
	return keys.List(p, c)
}
