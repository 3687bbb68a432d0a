package main

import (
	"errors"
	"fmt"
	"time"

	"frontdesk/auth"
	"frontdesk/cmd/frontdesk/desk"
	"frontdesk/cmd/frontdesk/desk/neighbours"
	"frontdesk/gateway/webhook/jobstore"
)

type migrateCommand struct{ configFlag }

// Run brings the tables to this version, however long it takes, as serve would at
// its start; and tells on standard error what it waits for.
func (m migrateCommand) Run(p desk.Program) (err error) {
	c, err := desk.LoadConfig(m.Config)
	if err != nil {
		return err
	}
	logs, err := desk.NewPlainLogs(p.Stderr)
	if err != nil {
		return err
	}
	defer logs.Stop()
	in, err := desk.DatabaseOf(c)
	if err != nil {
		return err
	}
	begun := time.Now()
	s, err := desk.OpenSystem(p.Ctx, c, auth.NewHasher(), logs.Log)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.Close()) }()
	if _, err := jobstore.Open(p.Ctx, s.Own.Db); err != nil {
		return err
	}
	if _, err := neighbours.Open(p.Ctx, s.Own.Db); err != nil {
		return err
	}
	_, err = fmt.Fprintf(p.Stdout, "the tables of %s are those of this version (%s)\n", in, time.Since(begun).Round(time.Millisecond))
	return err
}
