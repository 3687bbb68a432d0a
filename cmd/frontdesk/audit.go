package main

import (
	"fmt"
	"time"

	"frontdesk/cmd/frontdesk/allowlist"
	"frontdesk/cmd/frontdesk/desk"
	"frontdesk/cmd/frontdesk/terminal"
)

type auditCommand struct {
	Config string        `required:"" placeholder:"FILE" help:"Configuration (YAML)."`
	JSON   bool          `name:"json" help:"Print JSON, for programs."`
	FailOn string        `default:"error" enum:"error,warning,note,never" help:"The least severity that makes the exit code 1: error, warning, note or never."`
	Since  terminal.When `placeholder:"WHEN" help:"Read only what is newer in the logs: 14d, 36h, 2026-11-01 or 2026-11-01T12:00:00Z."`
	Logs   []string      `arg:"" optional:"" name:"log" help:"Access logs (JSON lines), rotated ones too, plain or gzip: they tell which grants nobody uses."`
}

func (auditCommand) Help() string {
	return "It looks for what is allowed but unwise: keys without an end, wildcards that write, limits that are missing, listeners open to the world. Nothing is started, and no backend is asked. docs/configuration.md says what each rule means."
}

// Run tells what is unwise about a configuration.
func (c auditCommand) Run(p desk.Program) error {
	lists, err := listsOf(c.Config)
	if err != nil {
		return err
	}
	audit := lists.Audit(time.Now())
	if len(c.Logs) > 0 {
		used, err := logFlags{Since: c.Since, Logs: c.Logs}.readUsed(p, "")
		if err != nil {
			return err
		}
		audit.Unused(used)
	}
	if c.JSON {
		err = audit.WriteJSON(p.Stdout)
	} else {
		err = audit.Write(p.Stdout)
	}
	if n := audit.AtLeast(allowlist.Severity(c.FailOn)); err == nil && n > 0 {
		return fmt.Errorf("%s of severity %s or worse", terminal.SeveralOrNo(n, "finding"), c.FailOn)
	}
	return err
}
