package main

import (
	"fmt"

	"frontdesk/cmd/frontdesk/desk"
	"frontdesk/cmd/frontdesk/terminal"
)

type userBlockCommand struct {
	administration
	Username string `arg:"" help:"Who is blocked."`
}

// Run blocks a user. A frontdesk that serves sees it by itself, see watchEnded.
func (u userBlockCommand) Run(p desk.Program) error {
	return u.setBlocked(p, u.Username, true, "user %s in %s is blocked: no login succeeds any more; sessions that are open end "+desk.BlockedEnds+"\n")
}

type userUnblockCommand struct {
	administration
	Username string `arg:"" help:"Who may log in again."`
}

// Run lets a user log in again.
func (u userUnblockCommand) Run(p desk.Program) error {
	return u.setBlocked(p, u.Username, false, "user %s in %s may log in again\n")
}

func (a administration) setBlocked(p desk.Program, username string, blocked bool, done string) error {
	store, err := a.open(p)
	if err != nil {
		return err
	}
	defer store.Close()
	what := "user block"
	if !blocked {
		what = "user unblock"
	}
	err = store.onUser(p, what, username, func() error { return store.SetBlocked(p.Ctx, username, blocked) })
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(p.Stdout, done, terminal.Safe(username), store.in)
	return err
}
