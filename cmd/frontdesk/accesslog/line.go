package accesslog

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"
	"time"

	"frontdesk/cmd/frontdesk/terminal"
)

// Line holds the members of a line of the access log.
type Line struct {
	Time      logTime `json:"ts"`
	Message   string  `json:"msg"`
	RequestID string  `json:"request_id"`
	Key       string  `json:"key"`
	Client    string  `json:"client"`
	User      string  `json:"user"` // the user of the session
	Method    string  `json:"method"`
	Endpoint  string  `json:"endpoint"` // the operation's template: /order/{id}
	Status    int     `json:"status"`
	Reason    string  `json:"reason"`
	Cause     string  `json:"cause"`
	Duration  float64 `json:"duration"` // seconds
	Backend   float64 `json:"backend"`  // the administration's part of Duration
	Address   string  `json:"address"`
	Config    string  `json:"config"`

	Record  int32    `json:"record"`  // the primary ID of the record that was requested, or created
	Records []int32  `json:"records"` // the primary IDs of several records that were written at once
	Query   []string `json:"query"`
	Needs   []string `json:"needs"`  // grants that its arrays need
	Lacks   []string `json:"lacks"`  // those of Needs that the allowlist does not grant
	Fields  []string `json:"fields"` // fields that it named, and the allowlist withholds: contact.note

	Error      string   `json:"error"`      // why it failed; its client does not see this
	Deprecated []string `json:"deprecated"` // what it used that is deprecated: DELETE /order/{id}, order.reference
}

// request describes what a request asked for.
func (l *Line) request() string {
	switch {
	case l.Method == "":
		return "what could not be read as a request"
	case l.Endpoint == "":
		return l.Method + " of what is no endpoint"
	case len(l.Query) > 0:
		return l.Method + " " + l.Endpoint + " with " + strings.Join(l.Query, ", ")
	default:
		return l.Method + " " + l.Endpoint
	}
}

// Read reads a line of the access log; false for any other.
func (l *Line) Read(line []byte) bool { return l.readAs("request", line) }

// readAs reads a line with that message. The gateway writes only visible characters. A line with others
// is not the gateway's: they are quoted here, once, so that they can forge nothing on a screen, in a
// table or in an allowlist to be copied.
func (l *Line) readAs(message string, line []byte) bool {
	if !bytes.Contains(line, []byte(`"request`)) { // avoids decoding most other lines
		return false
	}
	*l = Line{}
	if json.Unmarshal(line, l) != nil || l.Message != message || l.Time.at.IsZero() {
		return false
	}
	for _, text := range [...]*string{&l.RequestID, &l.Key, &l.Client, &l.User, &l.Method, &l.Endpoint, &l.Reason, &l.Cause, &l.Address, &l.Config, &l.Error} {
		*text = terminal.Safe(*text)
	}
	for _, list := range [...][]string{l.Query, l.Needs, l.Lacks, l.Fields, l.Deprecated} {
		for i := range list {
			list[i] = terminal.Safe(list[i])
		}
	}
	return true
}

// At is when the request was answered.
func (l *Line) At() time.Time { return l.Time.at }

// logTime is when a line was written. It does not embed time.Time, whose UnmarshalJSON reads
// only one form.
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

// change is a line of the log about a change.
type change struct {
	at   time.Time
	line string // as the log has it
}

// otherLines are the messages outside the audit log that report a change, or an attempt. A program that
// starts may be another version, and has read settings that needed a restart.
var otherLines = []string{"serving", "draining", "configuration not reloaded: the one before stays in force",
	"the reload failed by a fault of the program: the configuration in force stays"}

// changeOf reads a log line about a change; false for any other line.
func changeOf(line []byte) (c change, ok bool) {
	ofAudit := bytes.Contains(line, []byte(`"logger":"audit"`))
	if !ofAudit && !slices.ContainsFunc(otherLines, func(m string) bool { return bytes.Contains(line, []byte(m)) }) {
		return c, false // avoids decoding most lines
	}
	var l struct {
		Time    logTime `json:"ts"`
		Message string  `json:"msg"`
	}
	if json.Unmarshal(line, &l) != nil || l.Time.at.IsZero() || !ofAudit && !slices.Contains(otherLines, l.Message) {
		return c, false
	}
	return change{l.Time.at, string(line)}, true
}
