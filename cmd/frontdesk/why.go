package main

import (
	"time"

	"frontdesk/cmd/frontdesk/accesslog"
	"frontdesk/cmd/frontdesk/desk"
	"frontdesk/cmd/frontdesk/terminal"
)

type whyCommand struct {
	Client string               `placeholder:"NAME" help:"Tell what this client was refused, in place of one request."`
	Record accesslog.RecordName `placeholder:"order/4711" help:"Tell who wrote this record, and when: the last writes, in place of one request."`
	Key    string               `placeholder:"NAME" help:"The same of an api_key; also for logins, whose client nobody knows where they fail."`
	At     terminal.When        `placeholder:"WHEN" help:"About when that was: 02:13 (when the clock last said so), 2026-11-01 02:13, or a time as RFC 3339 has it. Without it the newest are told."`
	Within time.Duration        `default:"5m" placeholder:"TIME" help:"How far from then it may have been (default: 5m)."`
	Limit  int                  `default:"3" help:"How many refusals are told in full, or writes of a record (20 at least)."`
	Args   []string             `arg:"" name:"request-id|log" help:"The request id of the answer, unless --client, --key or --record is given; then logs (JSON lines), rotated ones too, plain or gzip, - for standard input."`
}

func (whyCommand) Help() string {
	return "It tells what was asked, what was answered, why, what to do about it, and what was changed in the hour before. Exit code: 1 where the log has no such request."
}

// Run tells why a request, or those of a client, were answered as they were.
func (c whyCommand) Run(p desk.Program) error {
	q, logs := accesslog.Inquiry{Client: c.Client, Key: c.Key, Record: c.Record, About: c.At.From(time.Now()), Within: c.Within, Limit: c.Limit}, c.Args
	ofRecord := c.Record.ID != 0
	if ofRecord {
		q.Limit = max(q.Limit, 20)
	}
	ofRequest := c.Client == "" && c.Key == "" && !ofRecord
	if ofRequest {
		q.RequestID, logs = logs[0], logs[1:]
	}
	if len(logs) == 0 || ofRequest && (q.RequestID == "" || !q.About.IsZero()) || ofRecord && c.Client+c.Key != "" {
		return desk.Misused("expected a request id and a log, --client NAME --at 02:13 and a log, or --record order/4711 and a log")
	}
	if err := q.Ask(p.Ctx, accesslog.Logs{Names: logs, Stdin: p.Stdin}); err != nil {
		return unreadable(p, err)
	}
	return q.Tell(p.Stdout)
}
