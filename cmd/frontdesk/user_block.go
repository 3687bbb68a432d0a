package main

import (
	"fmt"

	"frontdesk/auth"
	"frontdesk/cmd/frontdesk/desk"
	"frontdesk/cmd/frontdesk/terminal"
)

type userBlockCommand struct {
	administration
	Username string `arg:"" help:"Who is blocked."`
}

// Run blocks a user. A frontdesk that serves sees it by itself, see watchEnded.
func (u userBlockCommand) Run(p desk.Program) error {
	return u.setBlocked(p, "user block", u.Username, func(store *opened) string {
		return "is blocked: no login succeeds any more; " + store.endSessions(p, u.Username, auth.CauseUserBlocked)
	})
}

type userUnblockCommand struct {
	administration
	Username string `arg:"" help:"Who may log in again."`
}

// Run lets a user log in again.
func (u userUnblockCommand) Run(p desk.Program) error {
	return u.setBlocked(p, "user unblock", u.Username, func(*opened) string { return "may log in again" })
}

func (a administration) setBlocked(p desk.Program, what, username string, done func(*opened) string) error {
	store, err := a.open(p)
	if err != nil {
		return err
	}
	defer store.Close()
	err = store.onUser(p, what, username, func() error { return store.SetBlocked(p.Ctx, username, what == "user block") })
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(p.Stdout, "user %s in %s %s\n", terminal.Safe(username), store.in, done(store))
	return err
}
