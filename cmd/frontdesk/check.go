package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
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

// Run reports everything that is wrong with a configuration.
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
		report := checkReport{OK: len(problems) == 0, Problems: append(strictyaml.Problems{}, problems...), Against: change}
		if read != nil {
			report.Config, report.Files, report.APIKeys = read.Hash(), read.Files(), len(read.APIKeys)
		}
		err = terminal.WriteJSON(p.Stdout, report)
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
	OK       bool                `json:"ok"`
	Problems strictyaml.Problems `json:"problems"`
	Config   string              `json:"config,omitempty"` // the hash; "" if there are problems
	Files    []string            `json:"files,omitempty"`
	APIKeys  int                 `json:"api_keys"`
	Against  *changeReport       `json:"against,omitempty"`
}

// write writes for people what a check found, and what could be wiser.
func (c checkCommand) write(w io.Writer, read *config.Config, problems strictyaml.Problems) error {
	if len(problems) > 0 {
		_, err := fmt.Fprintln(w, problems.Error())
		return err
	}
	lists, err := allowlist.Of(read, desk.ProductionEnvironment)
	if err != nil {
		return err
	}
	fmt.Fprintf(w, "%s is right: %s, in %s. Its hash is %s.\n", c.Config,
		terminal.Several(len(read.APIKeys), "api_key"), terminal.Several(len(read.Files()), "file"), read.Hash())
	if !c.Elsewhere {
		fmt.Fprintf(w, "Folders and files were judged for %s.\n", desk.JudgedFor())
	}
	if a := lists.Audit(time.Now()); a.AtLeast(allowlist.Warning) > 0 {
		fmt.Fprintf(w, "It could be wiser: %s. frontdesk audit --config %s tells more.\n", a.Totals(), c.Config)
	}
	return nil
}

// changeReport is what a configuration would change in the one in force.
type changeReport struct {
	Running     string              `json:"config"` // the hash of the one in force
	Differences []config.Difference `json:"differences"`
	NotCompared []string            `json:"not_compared"` // settings for which both have a secret
	Waiting     []string            `json:"needs_restart"`
	same        bool                // both have the same hash
}

// changeOf compares a configuration with that of a running gateway, which it asks for with the
// ops.token of the configuration.
func changeOf(ctx context.Context, url string, c *config.Config) (*changeReport, error) {
	gateway, err := listenerAt(strings.TrimSuffix(strings.TrimPrefix(url, "http://"), "/"), string(c.Ops.Token))
	if err != nil {
		return nil, err
	}
	var running desk.Running
	if err := gateway.read(ctx, http.MethodGet, "/config", &running); err != nil {
		return nil, err
	}
	endpoints, err := desk.Endpoints(c)
	if err != nil {
		return nil, err
	}
	differences, secret := config.Differences(running.Settings, c.Settings(), endpoints)
	return &changeReport{
		Running: running.Config, Differences: append([]config.Difference{}, differences...), NotCompared: append([]string{}, secret...),
		Waiting: running.Waiting, same: running.Config == c.Hash(),
	}, nil
}

// write writes for people what would change.
func (r *changeReport) write(w io.Writer) {
	switch {
	case r.same:
		fmt.Fprintln(w, "It is the one in force.")
	case len(r.Differences) == 0:
		fmt.Fprintf(w, "It means the same as the one in force, %s, which is written otherwise or has other secrets.\n", r.Running)
	default:
		fmt.Fprintf(w, "It would change the one in force, %s:\n", r.Running)
	}
	for _, d := range r.Differences {
		line := d.Text
		if d.Key != "" {
			line = d.Key + " " + line
		}
		if d.Restart {
			line += " (after a restart)"
		}
		fmt.Fprintf(w, "  %s\n", terminal.Safe(line))
	}
	if !r.same && len(r.NotCompared) > 0 {
		fmt.Fprintf(w, "Not compared, since both have a secret: %s.\n", terminal.Safe(strings.Join(r.NotCompared, ", ")))
	}
	for _, setting := range r.Waiting {
		fmt.Fprintf(w, "The gateway waits for a restart with %s\n", terminal.Safe(setting))
	}
}
