package main

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"strings"

	"frontdesk/backend/mapdraft"
	"frontdesk/cmd/frontdesk/desk"
	"frontdesk/cmd/frontdesk/terminal"
	"frontdesk/config"
	"frontdesk/mapping"
	"frontdesk/mapping/sheet"
)

type mapInitCommand struct {
	Engine      string `required:"" enum:"postgres,mariadb,mysql,sqlserver,sqlite" help:"Kind of database: postgres, mariadb, mysql, sqlserver or sqlite."`
	DSN         string `name:"dsn" required:"" env:"DATABASE_DSN" placeholder:"DSN" help:"Where the database is, as the engine's Go driver is told; better in the environment, where nobody sees it."`
	Schema      string `placeholder:"NAME" help:"Schema of the tables, where it is not the user's own."`
	ModelDir    string `name:"model-dir" placeholder:"DIR" help:"Folder of resource files over the built-in ones."`
	Out         string `placeholder:"FILE" help:"Where to write the draft; standard output where it is left out. A file that is there stays."`
	DSNVariable string `name:"dsn-variable" default:"DATABASE_DSN" placeholder:"NAME" help:"Variable of the environment that the draft takes the DSN from (default: DATABASE_DSN)."`
}

// Run drafts a sheet. The database is only read.
func (c mapInitCommand) Run(p desk.Program) error {
	if c.Out != "" {
		if _, err := os.Stat(c.Out); !errors.Is(err, os.ErrNotExist) {
			return desk.Misused("--out %s: expected a file that is not there yet", c.Out)
		}
	}
	model, err := mapping.LoadModel(c.ModelDir)
	if err != nil {
		return err
	}
	var text bytes.Buffer
	s, err := mapdraft.Write(p.Ctx, &text, mapdraft.Options{
		Source: sheet.SQL{Engine: c.Engine, DSN: config.Secret(c.DSN), Schema: c.Schema}, Model: model, DSNVariable: c.DSNVariable,
	})
	if err != nil {
		return err
	}
	if c.Out == "" {
		if _, err := p.Stdout.Write(text.Bytes()); err != nil {
			return err
		}
	} else if err := os.WriteFile(c.Out, text.Bytes(), 0o600); err != nil {
		return err
	}
	fmt.Fprintf(p.Stderr, "Of %d tables: %d resources with %d fields; %d guesses, %d of them marked TODO.\n", s.Tables, s.Resources, s.Fields, s.Guesses, s.Doubts)
	if len(s.Missing) > 0 {
		for i, line := range terminal.Wrap("Not found: "+strings.Join(s.Missing, ", ")+".", terminal.Width) {
			fmt.Fprintf(p.Stderr, "%s%s\n", []string{"", "  "}[min(i, 1)], line)
		}
	}
	return nil
}
