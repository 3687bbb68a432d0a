package main

import (
	"fmt"
	"time"

	"frontdesk/backend/sqlrecord"
	"frontdesk/cmd/frontdesk/desk"
	"frontdesk/cmd/frontdesk/desk/ledger"
	"frontdesk/cmd/frontdesk/terminal"
)

type actsCommands struct {
	List actsListCommand `cmd:"" help:"List who did what, newest first: users, sessions ended, callbacks made again, backups and restores, by commands and by requests."`
}

type actsListCommand struct {
	administration
	Since  terminal.When `placeholder:"WHEN" help:"Only what is newer: 14d, 36h, 2026-11-01 or 2026-11-01T12:00:00Z."`
	What   string        `placeholder:"PART" help:"Only acts with this in their name: user, user block, backup."`
	Who    string        `placeholder:"PART" help:"Only acts of those with this in their name: a user of the system, or an api_key."`
	Limit  int           `default:"100" help:"How many at most."`
	Format string        `default:"text" enum:"text,json" help:"text, or json."`
}

// actJSON is an act for programs.
type actJSON struct {
	At      time.Time      `json:"at"`
	Ended   time.Time      `json:"ended,omitzero"`
	What    string         `json:"what"`
	Whom    string         `json:"whom"`
	Who     string         `json:"who"`
	From    string         `json:"from"`
	Outcome ledger.Outcome `json:"outcome"`
}

// Run lists the acts.
func (a actsListCommand) Run(p desk.Program) error {
	return a.own(p, func(own sqlrecord.DB, in desk.Database) error {
		kept, err := ledger.Open(p.Ctx, own)
		if err != nil {
			return err
		}
		now := time.Now()
		found, err := kept.Acts(p.Ctx, ledger.ActFilter{Since: a.Since.From(now), What: a.What, Who: a.Who, Limit: a.Limit}, now)
		switch {
		case err != nil:
			return err
		case a.Format == "json":
			return terminal.WriteJSON(p.Stdout, actsJSON(found))
		case len(found) == 0:
			_, err := fmt.Fprintf(p.Stderr, "There is no such act in %s.\n", in)
			return err
		}
		fmt.Fprintf(p.Stderr, "The acts in %s, newest first:\n", in)
		table := terminal.NewTable(p.Stdout)
		fmt.Fprintln(table, "AT\tWHAT\tON\tWHO\tFROM\tOUTCOME")
		for _, act := range found {
			fmt.Fprintf(table, "%s\t%s\t%s\t%s\t%s\t%s\n", terminal.Second(act.At), terminal.Safe(act.What), terminal.Safe(act.Whom), terminal.Safe(act.Who), terminal.Safe(act.Origin), act.Outcome)
		}
		return table.Flush()
	})
}

func actsJSON(found []ledger.Act) []actJSON {
	all := make([]actJSON, len(found))
	for i, a := range found {
		all[i] = actJSON{At: a.At, Ended: a.Ended, What: a.What, Whom: a.Whom, Who: a.Who, From: a.Origin, Outcome: a.Outcome}
	}
	return all
}
