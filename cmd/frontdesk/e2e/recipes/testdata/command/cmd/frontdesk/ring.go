package main

import (
	"fmt"
	"strings"

	"frontdesk/cmd/frontdesk/desk"
)

type ringCommand struct {
	Times int `default:"1" help:"How often."`
}

// Run rings.
func (r ringCommand) Run(p desk.Program) error {
	if r.Times < 1 {
		return desk.Misused("--times %d: expected at least 1", r.Times)
	}
	_, err := fmt.Fprintln(p.Stdout, strings.TrimSpace(strings.Repeat("ding ", r.Times)))
	return err
}
