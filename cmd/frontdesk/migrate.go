package main

import (
	"errors"
	"fmt"
	"time"

	"go.uber.org/zap/zapcore"

	"frontdesk/auth"
	"frontdesk/config"
	"frontdesk/gateway/webhook/jobstore"
)

type migrateCommand struct {
	Config string `required:"" placeholder:"FILE" help:"Configuration (YAML), for its backend and its model."`
}

// Run brings the tables to this version, however long it takes, as serve would at
// its start; and tells on standard error what it waits for.
func (m migrateCommand) Run(p program) (err error) {
	c, err := loadConfig(m.Config)
	if err != nil {
		return err
	}
	logs, err := newLogs(config.Log{Level: "info", Format: "console"}, zapcore.Lock(zapcore.AddSync(p.stderr)))
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, logs.stop()) }()
	begun := time.Now()
	s, err := openSystem(p.ctx, c, auth.NewHasher(), logs.log)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.close()) }()
	if _, err := jobstore.Open(p.ctx, s.own.db); err != nil {
		return err
	}
	_, err = fmt.Fprintf(p.stdout, "the tables are those of this version (%s)\n", time.Since(begun).Round(time.Millisecond))
	return err
}
