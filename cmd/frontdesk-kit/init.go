package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"frontdesk/backend/adopt"
	"frontdesk/cmd/frontdesk/desk"
	"frontdesk/cmd/frontdesk/terminal"
	"frontdesk/config"
	"frontdesk/mapping"
	"frontdesk/mapping/sheet"
)

// systemFlags say what is drafted, and where it goes.
type systemFlags struct {
	Engine   string `enum:",${engines}" default:"" help:"Kind of database: ${engines}."`
	DSN      string `name:"dsn" env:"DATABASE_DSN" placeholder:"DSN" help:"Where the database is, as the engine's Go driver is told; better in the environment, where nobody sees it."`
	Schema   string `placeholder:"NAME" help:"Schema of the tables, where it is not the user's own."`
	OpenAPI  string `name:"openapi" placeholder:"FILE" help:"OpenAPI description of an HTTP service, JSON or YAML."`
	Variable string `name:"dsn-variable" placeholder:"NAME" help:"Variable of the environment that the draft takes the DSN, or the service's address, from (default: DATABASE_DSN, SERVICE_URL)."`
	ModelDir string `name:"model-dir" placeholder:"DIR" help:"Folder of resource files over the built-in ones."`
	Out      string `placeholder:"FILE" help:"Where to write it; standard output where it is left out. A file that is there stays."`
}

type initCommand struct{ systemFlags }

// Run drafts a sheet. The system is only read.
func (c initCommand) Run(p desk.Program) error {
	return c.draft(p, func(d *adopt.Draft) (string, error) { return d.Text, nil })
}

type briefCommand struct{ systemFlags }

// Help describes the contents of a brief.
func (briefCommand) Help() string {
	return "It has the interface's model and rules, the system's tables or its description, a draft with its open questions, the manual of the sheet, and how map check is run. No value of a row is in it."
}

// Run writes a brief. The system is only read.
func (c briefCommand) Run(p desk.Program) error { return c.draft(p, (*adopt.Draft).Brief) }

// draft drafts a sheet, and writes what wanted returns of it.
func (c systemFlags) draft(p desk.Program, wanted func(*adopt.Draft) (string, error)) error {
	if _, err := os.Stat(c.Out); c.Out != "" && !errors.Is(err, os.ErrNotExist) {
		return desk.Misused("--out %s: expected a file that is not there yet", c.Out)
	}
	model, err := mapping.LoadModel(c.ModelDir)
	if err != nil {
		return err
	}
	o := adopt.Options{Model: model, Variable: c.Variable}
	if err := c.system(&o); err != nil {
		return err
	}
	drafted, err := adopt.NewDraft(p.Ctx, o)
	if err != nil {
		return err
	}
	text, err := wanted(drafted)
	if err != nil {
		return err
	}
	if c.Out == "" {
		_, err = io.WriteString(p.Stdout, text)
	} else {
		err = os.WriteFile(c.Out, []byte(text), 0o600)
	}
	if err != nil {
		return err
	}
	s := drafted.Summary
	fmt.Fprintf(p.Stderr, "Of %s: %s with %s; %s marked TODO.\n", terminal.Several(s.Tables, map[bool]string{true: "path", false: "table"}[c.Engine == ""]),
		terminal.Several(s.Resources, "resource"), terminal.Several(s.Fields, "field"), terminal.Several(s.Open, "line"))
	if len(s.Missing) > 0 {
		fmt.Fprintf(p.Stderr, "Not found: %s.\n", strings.Join(s.Missing, ", "))
	}
	return nil
}

// mostDescribed is how many bytes an OpenAPI description may have.
const mostDescribed = 64 << 20

// readDescription reads an OpenAPI description. It stops after mostDescribed bytes, since the file may be a
// device without an end.
func readDescription(file string) ([]byte, error) {
	f, err := os.Open(file)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	text, err := io.ReadAll(io.LimitReader(f, mostDescribed+1))
	if len(text) > mostDescribed {
		return nil, fmt.Errorf("%s has more than %d MiB", file, mostDescribed>>20)
	}
	return text, err
}

// system fills in the system to draft for: a database, or a service.
func (c systemFlags) system(o *adopt.Options) error {
	switch {
	case (c.Engine == "") == (c.OpenAPI == ""):
		return desk.Misused("expected either --engine of a database, or --openapi of an HTTP service")
	case c.OpenAPI != "":
		text, err := readDescription(c.OpenAPI)
		if err != nil {
			return desk.Misused("--openapi: %w", err)
		}
		o.OpenAPI = text
		return nil
	case c.DSN == "":
		return desk.Misused("--engine %s: expected DATABASE_DSN in the environment, or --dsn", c.Engine)
	}
	o.Source = sheet.SQL{Engine: c.Engine, DSN: config.Secret(c.DSN), Schema: c.Schema}
	return nil
}
