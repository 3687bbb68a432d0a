package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"time"

	"frontdesk/cmd/frontdesk/desk"
	"frontdesk/cmd/frontdesk/terminal"
)

// accessLine is what the tools read of a line of the access log.
type accessLine struct {
	Time      logTime `json:"ts"`
	Message   string  `json:"msg"`
	RequestID string  `json:"request_id"`
	Key       string  `json:"key"`
	Client    string  `json:"client"`
	Method    string  `json:"method"`
	Endpoint  string  `json:"endpoint"` // the operation's template: /order/{id}
	Status    int     `json:"status"`
	Reason    string  `json:"reason"`
	Cause     string  `json:"cause"`
	Shadow    string  `json:"shadow"`
	Duration  float64 `json:"duration"` // seconds
	Backend   float64 `json:"backend"`  // of them, the administration; untold in the log of a version that does not tell
	Address   string  `json:"address"`
	Config    string  `json:"config"`

	Query []string `json:"query"`
	Needs []string `json:"needs"` // of the allowlist, for arrays; nil in the log of a version that does not tell
	Lacks []string `json:"lacks"` // which of it the allowlist does not grant
}

// untold stands for a number that a line does not have.
const untold = -1

// isAccessLine reads a line of the access log; false for any other.
func (l *accessLine) isAccessLine(line []byte) bool {
	if !bytes.Contains(line, []byte(`"request"`)) { // spares decoding most other lines
		return false
	}
	*l = accessLine{Backend: untold}
	return json.Unmarshal(line, l) == nil && l.Message == "request" && !l.Time.at.IsZero()
}

// logTime is when a line was written. It does not embed the time, which would read
// itself in one form only.
type logTime struct{ at time.Time }

// logTimes are the forms of a line's time: the program's own, and that of tools
// that write lines again.
var logTimes = [...]string{"2006-01-02T15:04:05.000Z0700", time.RFC3339Nano}

func (t *logTime) UnmarshalText(text []byte) (err error) {
	for _, form := range logTimes {
		if t.at, err = time.Parse(form, string(text)); err == nil {
			return nil
		}
	}
	return err
}

// logFlags say which lines of which access logs are read.
type logFlags struct {
	Since terminal.When `placeholder:"WHEN" help:"Read only what is newer: 14d, 36h, 02:13, 2026-11-01 or 2026-11-01T12:00:00Z."`
	Logs  []string      `arg:"" name:"log" help:"Access logs (JSON lines), rotated ones too, plain or gzip; - for standard input."`
}

// logSummary is what was read, beside the lines themselves.
type logSummary struct {
	Lines  int64     `json:"lines"`  // of the access log, within the time asked for
	Older  int64     `json:"older"`  // of the access log, before it
	Other  int64     `json:"other"`  // of anything else
	Oldest time.Time `json:"oldest"` // line within the time asked for; zero without any
	Newest time.Time `json:"newest"`
}

// String tells in a sentence what was read.
func (s logSummary) String() string {
	if s.Lines == 0 {
		return fmt.Sprintf("no line of an access log in that time (%s older, %s)", terminal.Count(s.Older), terminal.Several(s.Other, "other line"))
	}
	text := fmt.Sprintf("%s from %s to %s", terminal.Several(s.Lines, "request"), terminal.Minute(s.Oldest), terminal.Minute(s.Newest))
	if s.Older > 0 {
		text += fmt.Sprintf(", %s left out", terminal.Several(s.Older, "older one"))
	}
	if s.Other > 0 {
		text += fmt.Sprintf(", %s passed over", terminal.Several(s.Other, "other line"))
	}
	return text
}

// readAccessLogs hands every line of the access logs to each, in the order of the
// files, and tells whether it is older than asked for. The line is only lent.
func readAccessLogs(p desk.Program, f logFlags, now time.Time, each func(line *accessLine, older bool)) (logSummary, error) {
	r := accessReader{since: f.Since.From(now), each: each}
	err := readLogs(p, f.Logs, r.take)
	return r.summary, err
}

type accessReader struct {
	since   time.Time
	each    func(line *accessLine, older bool)
	summary logSummary
	line    accessLine
}

// take reads one line. What is no line of the access log, or of what could not be read as
// a request, is counted.
func (r *accessReader) take(line []byte) {
	if !r.line.isAccessLine(line) || r.line.Method == "" {
		r.summary.Other++
		return
	}
	at := r.line.Time.at
	if at.Before(r.since) {
		r.summary.Older++
		r.each(&r.line, true)
		return
	}
	if r.summary.Oldest.IsZero() || at.Before(r.summary.Oldest) {
		r.summary.Oldest = at
	}
	if at.After(r.summary.Newest) {
		r.summary.Newest = at
	}
	r.summary.Lines++
	r.each(&r.line, false)
}
