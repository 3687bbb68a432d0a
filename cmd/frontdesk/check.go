package main

import (
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"frontdesk/cmd/frontdesk/allowlist"
	"frontdesk/cmd/frontdesk/desk"
	"frontdesk/cmd/frontdesk/terminal"
	"frontdesk/config"
	"frontdesk/config/strictyaml"
	"frontdesk/docs"
)

type checkCommand struct {
	Config    string `placeholder:"FILE" env:"FRONTDESK_CONFIG" help:"Configuration (YAML)."`
	Schema    bool   `help:"Print the JSON Schema of configurations instead, for editors."`
	Elsewhere bool   `help:"Leave out what the configuration names on this machine: another one will serve."`
	Against   string `placeholder:"URL" help:"Tell what the configuration would change of that of a running gateway, by its operators' listener: http://127.0.0.1:9090."`
	JSON      bool   `name:"json" help:"Print JSON, for programs."`
}

func (checkCommand) Help() string {
	return "It reads all files as serve does, looks at the certificates and folders that they name, and holds the allowlists to what expect says of them. Nothing is started or made, and no backend is asked. Exit code: 0 where all is well, 2 where it is not."
}

// Run tells everything that is wrong with a configuration.
func (c checkCommand) Run(p desk.Program) error {
	if c.Schema {
		_, err := p.Stdout.Write(docs.ConfigSchema)
		return err
	}
	if c.Config == "" {
		return desk.Misused("expected --config FILE, or --schema")
	}
	read, err := desk.Judged(c.Config, c.Elsewhere)
	problems, ok := errors.AsType[strictyaml.Problems](err)
	if err != nil && !ok {
		problems = strictyaml.Problems{{File: c.Config, Line: 1, Column: 1, Message: err.Error(), Rule: config.RuleFileUnreadable}}
	}
	var change *changeReport
	if c.Against != "" && len(problems) == 0 {
		if change, err = changeOf(p.Ctx, c.Against, read); err != nil {
			return err
		}
	}
	if c.JSON {
		err = terminal.WriteJSON(p.Stdout, checkReportOf(read, problems, change))
	} else if err = c.write(p.Stdout, read, problems); change != nil {
		change.write(p.Stdout)
	}
	if err == nil && len(problems) > 0 {
		err = desk.Misused("%s has %s", c.Config, terminal.Several(len(problems), "problem"))
	}
	return err
}

// checkReport is what a check found, for programs.
type checkReport struct {
	OK       bool          `json:"ok"`
	Problems []problemJSON `json:"problems"`
	Config   string        `json:"config,omitempty"` // the hash of one that is right
	Files    []string      `json:"files,omitempty"`
	APIKeys  int           `json:"api_keys"`
	Against  *changeReport `json:"against,omitempty"`
}

type problemJSON struct {
	Rule    string `json:"rule"`
	File    string `json:"file"`
	Line    int    `json:"line"`
	Column  int    `json:"column"`
	Path    string `json:"path,omitempty"`
	Message string `json:"message"`
}

func checkReportOf(c *config.Config, problems strictyaml.Problems, change *changeReport) checkReport {
	r := checkReport{OK: len(problems) == 0, Problems: make([]problemJSON, len(problems)), Against: change}
	for i, p := range problems {
		r.Problems[i] = problemJSON{p.Rule, p.File, p.Line, p.Column, p.Path, p.Message}
	}
	if c != nil {
		r.Config, r.Files, r.APIKeys = c.Hash(), c.Files(), len(c.APIKeys)
	}
	return r
}

// write tells people what a check found, and what could be wiser.
func (c checkCommand) write(w io.Writer, read *config.Config, problems strictyaml.Problems) error {
	if len(problems) > 0 {
		_, err := fmt.Fprintln(w, problems.Error())
		return err
	}
	lists, err := allowlist.Of(read, desk.ProductionEnvironment)
	if err != nil {
		return err
	}
	var b strings.Builder
	fmt.Fprintf(&b, "%s is right: %s, in %s. Its hash is %s.\n", c.Config,
		terminal.Several(len(read.APIKeys), "api_key"), terminal.Several(len(read.Files()), "file"), read.Hash())
	if !c.Elsewhere {
		fmt.Fprintf(&b, "Folders and files were judged for %s.\n", desk.JudgedFor())
	}
	if a := lists.Audit(time.Now()); a.AtLeast(allowlist.Warning) > 0 {
		fmt.Fprintf(&b, "It could be wiser: %s. frontdesk audit --config %s tells more.\n", a.Totals(), c.Config)
	}
	_, err = io.WriteString(w, b.String())
	return err
}
