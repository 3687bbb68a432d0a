package accesslog

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"
	"time"

	"frontdesk/cmd/frontdesk/terminal"
)

// Line is what is read of a line of the access log.
type Line struct {
	Time      logTime `json:"ts"`
	Message   string  `json:"msg"`
	RequestID string  `json:"request_id"`
	Key       string  `json:"key"`
	Client    string  `json:"client"`
	User      string  `json:"user"` // whose session it was
	Method    string  `json:"method"`
	Endpoint  string  `json:"endpoint"` // the operation's template: /order/{id}
	Status    int     `json:"status"`
	Reason    string  `json:"reason"`
	Cause     string  `json:"cause"`
	Duration  float64 `json:"duration"` // seconds
	Backend   float64 `json:"backend"`  // of them, the administration
	Address   string  `json:"address"`
	Config    string  `json:"config"`

	Record  int32    `json:"record"`  // the primary ID of the record that was asked for, or made
	Records []int32  `json:"records"` // those of the records that were written, of several
	Query   []string `json:"query"`
	Needs   []string `json:"needs"`  // of the allowlist, for arrays
	Lacks   []string `json:"lacks"`  // which of it the allowlist does not grant
	Fields  []string `json:"fields"` // that it named, and the allowlist takes away: contact.note

	Error      string   `json:"error"`      // of a request that failed; its client does not see it
	Deprecated []string `json:"deprecated"` // what it named that is going away: DELETE /order/{id}, order.reference
}

// asked is what a request asked for.
func (l *Line) asked() string {
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

// readAs reads a line with that message. The gateway writes no character that cannot be seen. A
// line that has one is of somebody else: it is quoted here, once, so that it can forge nothing on a
// screen, in a table or in an allowlist to be copied.
func (l *Line) readAs(message string, line []byte) bool {
	if !bytes.Contains(line, []byte(`"request`)) { // spares decoding most other lines
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

// change is a line of the log about a change.
type change struct {
	at   time.Time
	line string // as the log has it
}

// otherLines are those that report a change, or one that was meant, beside those of the audit: a program
// that starts may be another version, and has read settings that need a restart.
var otherLines = []string{"serving", "draining", "configuration not reloaded: the one before stays in force",
	"the reload failed by a fault of the program: the configuration in force stays"}

// changeOf reads a log line about a change; false for any other line.
func changeOf(line []byte) (c change, ok bool) {
	ofAudit := bytes.Contains(line, []byte(`"logger":"audit"`))
	if !ofAudit && !slices.ContainsFunc(otherLines, func(m string) bool { return bytes.Contains(line, []byte(m)) }) {
		return c, false // which spares decoding most lines
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
