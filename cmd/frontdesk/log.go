package main

import (
	"time"

	"frontdesk/cmd/frontdesk/accesslog"
	"frontdesk/cmd/frontdesk/desk"
	"frontdesk/cmd/frontdesk/terminal"
)

type logCommands struct {
	Top     logTopCommand     `cmd:"" help:"Tell what asked for most, failed most, or took longest: by api_key, client or endpoint, or by what is deprecated."`
	Changes logChangesCommand `cmd:"" help:"Tell what was changed, by whom, which configurations were refused, and when frontdesk was started."`
}

// logFlags say which lines of which logs are read.
type logFlags struct {
	Since terminal.When `placeholder:"WHEN" help:"Read only what is newer: 14d, 36h, 02:13, 2026-11-01 or 2026-11-01T12:00:00Z."`
	Logs  []string      `arg:"" name:"log" help:"Access logs (JSON lines), rotated ones too, plain or gzip; - for standard input."`
}

// logSpan says of which time a log is read.
type logSpan struct {
	logFlags
	Until terminal.When `placeholder:"WHEN" help:"Read only what is no newer, in the same forms."`
}

func (s logSpan) holds() func(time.Time) bool {
	return terminal.Between(s.Since, s.Until, time.Now())
}

// logsOf are the logs of a command line.
func logsOf(p desk.Program, names []string) accesslog.Logs {
	return accesslog.Logs{Names: names, Stdin: p.Stdin, Screen: p.Stderr}
}

type logTopCommand struct {
	By    string `default:"key" enum:"key,client,endpoint,deprecated" help:"What the requests are counted by: key (the default), client, endpoint, or deprecated: what they named that is going away, by key."`
	Sort  string `default:"requests" enum:"requests,errors,p95,backend" help:"What comes first: most requests (the default), most errors, the longest p95, or that of the administration (backend)."`
	Limit int    `default:"20" help:"How many lines at most."`
	logSpan
}

// Run counts the requests of access logs, and how long they took.
func (c logTopCommand) Run(p desk.Program) error {
	loads, err := logsOf(p, c.Logs).Count(p.Ctx, c.By, c.holds())
	if err != nil {
		return err
	}
	return loads.Write(p.Stdout, c.Sort, c.Limit)
}

type logChangesCommand struct{ logSpan }

// Run prints what was changed, in the order of the log.
func (c logChangesCommand) Run(p desk.Program) error {
	return logsOf(p, c.Logs).WriteChanges(p.Ctx, c.holds(), p.Stdout)
}
