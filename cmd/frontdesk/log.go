package main

import (
	"frontdesk/cmd/frontdesk/accesslog"
	"frontdesk/cmd/frontdesk/desk"
	"frontdesk/cmd/frontdesk/terminal"
)

// logFlags say which lines of which logs are read.
type logFlags struct {
	Since terminal.When `placeholder:"WHEN" help:"Read only what is newer: 14d, 36h, 02:13, 2026-11-01 or 2026-11-01T12:00:00Z."`
	Logs  []string      `arg:"" name:"log" help:"Access logs (JSON lines), rotated ones too, plain or gzip; - for standard input."`
}

// logsOf are the logs of a command line.
func logsOf(p desk.Program, names []string) accesslog.Logs {
	return accesslog.Logs{Names: names, Stdin: p.Stdin, Screen: p.Stderr}
}
