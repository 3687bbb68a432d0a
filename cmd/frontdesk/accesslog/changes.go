package accesslog

import (
	"bytes"
	"encoding/json"
	"slices"
	"time"
)

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
