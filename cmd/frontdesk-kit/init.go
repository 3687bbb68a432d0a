package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"frontdesk/backend/adopt/draft"
	"frontdesk/cmd/frontdesk/desk"
	"frontdesk/cmd/frontdesk/terminal"
	"frontdesk/config"
	"frontdesk/mapping"
	"frontdesk/mapping/sheet"
)

type initCommand struct {
	Engine   string   `enum:",postgres,mariadb,mysql,sqlite" default:"" help:"Kind of database: postgres, mariadb, mysql or sqlite."`
	DSN      string   `name:"dsn" env:"DATABASE_DSN" placeholder:"DSN" help:"Where the database is, as the engine's Go driver is told; better in the environment, where nobody sees it."`
	Schema   string   `placeholder:"NAME" help:"Schema of the tables, where it is not the user's own."`
	Sample   []string `sep:"none" placeholder:"[PATH=]FILE" help:"An answer of an HTTP service, saved from it: JSON, a list of records. PATH is what was asked for, /contacts for contacts.json where it is left out. May be repeated."`
	OpenAPI  string   `name:"openapi" placeholder:"FILE" help:"OpenAPI description of an HTTP service, JSON or YAML."`
	Ask      []string `sep:"none" placeholder:"PATH" help:"A list to ask the service at SERVICE_URL for, with the token in SERVICE_TOKEN. May be repeated."`
	Variable string   `name:"dsn-variable" placeholder:"NAME" help:"Variable of the environment that the draft takes the DSN, or the service's address, from (default: DATABASE_DSN, SERVICE_URL)."`
	ModelDir string   `name:"model-dir" placeholder:"DIR" help:"Folder of resource files over the built-in ones."`
	Out      string   `placeholder:"FILE" help:"Where to write the draft; standard output where it is left out. A file that is there stays."`
}

// Run drafts a sheet. The system is only read.
func (c initCommand) Run(p desk.Program) error {
	if _, err := os.Stat(c.Out); c.Out != "" && !errors.Is(err, os.ErrNotExist) {
		return desk.Misused("--out %s: expected a file that is not there yet", c.Out)
	}
	model, err := mapping.LoadModel(c.ModelDir)
	if err != nil {
		return err
	}
	o := draft.Options{Model: model, Variable: c.Variable}
	if err := c.system(p.Ctx, &o); err != nil {
		return err
	}
	draft, err := draft.New(p.Ctx, o)
	if err != nil {
		return err
	}
	if c.Out == "" {
		if _, err := io.WriteString(p.Stdout, draft.Text); err != nil {
			return err
		}
	} else if err := os.WriteFile(c.Out, []byte(draft.Text), 0o600); err != nil {
		return err
	}
	s := draft.Summary
	fmt.Fprintf(p.Stderr, "Of %s: %s with %s; %s, %s marked TODO.\n", counted(s.Tables, map[bool]string{true: "path", false: "table"}[c.Engine == ""]),
		counted(s.Resources, "resource"), counted(s.Fields, "field"), map[bool]string{true: "1 guess", false: fmt.Sprintf("%d guesses", s.Guesses)}[s.Guesses == 1], counted(s.Doubts, "line"))
	if len(s.Missing) > 0 {
		for i, line := range terminal.Wrap("Not found: "+strings.Join(s.Missing, ", ")+".", terminal.Width) {
			fmt.Fprintf(p.Stderr, "%s%s\n", []string{"", "  "}[min(i, 1)], line)
		}
	}
	return nil
}

// counted is a number of things.
func counted(n int, thing string) string {
	if n == 1 {
		return "1 " + thing
	}
	return fmt.Sprintf("%d %ss", n, thing)
}

// system says what the draft is of: a database, or a service.
func (c initCommand) system(ctx context.Context, o *draft.Options) error {
	ofService := len(c.Sample)+len(c.Ask) > 0 || c.OpenAPI != ""
	switch {
	case c.Engine != "" && ofService:
		return desk.Misused("--engine: expected a database, or --sample, --openapi and --ask of a service")
	case c.Engine == "" && !ofService:
		return desk.Misused("expected --engine of a database, or --sample, --openapi or --ask of an HTTP service")
	case c.Engine != "" && c.DSN == "":
		return desk.Misused("--engine %s: expected DATABASE_DSN in the environment, or --dsn", c.Engine)
	case c.Engine != "":
		o.Source = sheet.SQL{Engine: c.Engine, DSN: config.Secret(c.DSN), Schema: c.Schema}
		return nil
	}
	if c.OpenAPI != "" {
		text, err := os.ReadFile(c.OpenAPI)
		if err != nil {
			return desk.Misused("--openapi: %w", err)
		}
		o.OpenAPI = text
	}
	for _, of := range c.Sample {
		path, file, named := strings.Cut(of, "=")
		if !named {
			file = of
			path = "/" + strings.TrimSuffix(filepath.Base(of), filepath.Ext(of))
		}
		body, err := os.ReadFile(file)
		if err != nil {
			return desk.Misused("--sample: %w", err)
		}
		o.Samples = append(o.Samples, draft.Sample{Path: path, Body: body})
	}
	// Address and token are in the environment, since everybody on the machine sees a command line.
	service := draft.Asked{URL: os.Getenv("SERVICE_URL"), Token: os.Getenv("SERVICE_TOKEN")}
	for _, path := range c.Ask {
		if service.URL == "" || !strings.HasPrefix(path, "/") {
			return desk.Misused("--ask %s: expected a path that begins with /, and SERVICE_URL in the environment", path)
		}
		s, err := service.Sample(ctx, path)
		if errors.Is(err, draft.ErrAddress) {
			return desk.Misused("--ask %s: expected an address in SERVICE_URL, such as https://dms.example.nl", path)
		}
		if err != nil {
			return err
		}
		o.Samples = append(o.Samples, s)
	}
	return nil
}
