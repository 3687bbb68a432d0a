package main

import (
	"fmt"
	"time"

	"frontdesk/cmd/frontdesk/allowlist"
	"frontdesk/cmd/frontdesk/desk"
	"frontdesk/cmd/frontdesk/terminal"
)

type auditCommand struct {
	configFlag
	JSON   bool   `name:"json" help:"Print JSON, for programs."`
	FailOn string `default:"error" enum:"error,warning,note,never" help:"The least severity that makes the exit code 1: error, warning, note or never."`
	logFlags
}

func (auditCommand) Help() string {
	return "It looks for keys without an end, wildcards that write, limits that are missing, listeners open to the world; with access logs also what nobody uses. Nothing is started, and no backend is asked. docs/configuration.md says what each rule means."
}

// Run tells what is unwise about a configuration.
func (c auditCommand) Run(p desk.Program) error {
	lists, err := c.lists()
	if err != nil {
		return err
	}
	audit := lists.Audit(time.Now())
	if len(c.Logs) > 0 {
		used, err := c.used(p, "")
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
		return fmt.Errorf("%s of severity %s or worse", terminal.Several(n, "finding"), c.FailOn)
	}
	return err
}
