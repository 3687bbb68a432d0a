package main

import (
	"cmp"
	"fmt"
	"io"
	"strings"
	"time"

	"frontdesk/cmd/frontdesk/accesslog"
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

// Run reports what is unwise about a configuration.
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
		err = terminal.WriteJSON(p.Stdout, audit)
	} else {
		err = audit.Write(p.Stdout)
	}
	if n := audit.AtLeast(allowlist.Severity(c.FailOn)); err == nil && n > 0 {
		return fmt.Errorf("%s of severity %s or worse", terminal.Several(n, "finding"), c.FailOn)
	}
	return err
}

type explainCommand struct {
	configFlag
	Key       string   `required:"" placeholder:"NAME" help:"Name of the api_key that asks."`
	Request   []string `arg:"" help:"A method and a path, as in 'DELETE /order/5?x=1', below the base path or with it; an absolute URL will do."`
	Body      []byte   `type:"filecontent" placeholder:"FILE" help:"What the request sends; - for standard input. Without it the body is not judged."`
	NoSession bool     `help:"As if the request came without a token."`
}

func (explainCommand) Help() string {
	return "It takes the request through the very stages of serving, up to the backend, which is not asked. Nothing is counted against the api_key's limits."
}

// Run explains what becomes of a request.
func (c explainCommand) Run(p desk.Program) error {
	lists, key, err := c.key(c.Key)
	if err != nil {
		return err
	}
	request, err := lists.Request(strings.Join(c.Request, " "))
	if err != nil {
		return err
	}
	if limit := lists.BodyLimit(); int64(len(c.Body)) > limit {
		return desk.Misused("--body: more than %s, which the gateway answers with 413 before it judges anything (server.body_limit)", terminal.Several(limit, "byte"))
	}
	request.Body = c.Body
	request.At, request.NoToken = time.Now(), c.NoSession
	_, err = io.WriteString(p.Stdout, lists.Explain(key, request))
	return err
}

type whatifCommand struct {
	configFlag
	At  terminal.When `placeholder:"WHEN" help:"Judge as of then: 2026-12-31, or a time as RFC 3339 has it. Now, where it is left out."`
	Key string        `placeholder:"NAME" help:"Only this api_key's requests."`
	logFlags
}

func (whatifCommand) Help() string {
	return "It judges those of access logs by its endpoints and allowlists; not by limits, addresses and certificates. Exit code: 0 where nothing is newly refused, 1 where something is, 2 where the command, the configuration or a log is wrong."
}

// Run judges the requests of access logs by a configuration.
func (c whatifCommand) Run(p desk.Program) error {
	lists, err := c.lists()
	if err != nil {
		return err
	}
	used, err := c.used(p, c.Key)
	if err != nil {
		return err
	}
	if used.Read.Lines == 0 {
		return desk.Misused("nothing can be said: %s", used.Read)
	}
	now := time.Now()
	w := lists.WhatIf(used, cmp.Or(c.At.From(now), now))
	if err = w.Write(p.Stdout, c.Config); err == nil && w.Refused > 0 {
		err = fmt.Errorf("%s would be newly refused", terminal.Several(w.Refused, "request"))
	}
	return err
}

type whyCommand struct {
	Client string               `placeholder:"NAME" help:"Tell what this client was refused, in place of one request."`
	Record accesslog.RecordName `placeholder:"order/4711" help:"Tell who wrote this record, and when: the last writes, in place of one request."`
	Key    string               `placeholder:"NAME" help:"Tell what this api_key was refused; also for logins, whose client nobody knows where they fail."`
	At     terminal.When        `placeholder:"WHEN" help:"About when that was: 02:13 (when the clock last said so), 2026-11-01 02:13, or a time as RFC 3339 has it. Without it the newest are told."`
	Within time.Duration        `default:"5m" placeholder:"TIME" help:"How far from then it may have been (default: 5m)."`
	Limit  int                  `default:"3" help:"How many refusals are told in full, or writes of a record (20 at least)."`
	Args   []string             `arg:"" name:"request-id|log" help:"The request id of the answer, unless --client, --key or --record is given; then logs (JSON lines), rotated ones too, plain or gzip, - for standard input."`
}

func (whyCommand) Help() string {
	return "It tells what was asked, what was answered, why, what to do about it, and what was changed in the hour before. Exit code: 1 where the log has no such request."
}

// Run reports why a request, or those of a client, were answered as they were.
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
	return q.Report(p.Stdout)
}
