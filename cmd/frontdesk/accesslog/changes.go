package accesslog

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"frontdesk/cmd/frontdesk/terminal"
)

// change is a log line about a change.
type change struct {
	at   time.Time
	what string
}

// String is the change with its time, as people read it.
func (c change) String() string { return terminal.Second(c.at) + "  " + c.what }

// Lines other than the audit's that report a change, or one that was meant: a program that starts
// may be another version, and has read settings that need a restart.
var otherLines = map[string]string{
	"serving": "started", "draining": "told to stop",
	"configuration not reloaded: the one before stays in force":                     "configuration refused, the one before stays in force",
	"the reload failed by a fault of the program: the configuration in force stays": "configuration refused by a fault of the program, the one before stays in force",
}

// mayChange spares decoding most lines.
func mayChange(line []byte) bool {
	if bytes.Contains(line, []byte(`"logger":"audit"`)) {
		return true
	}
	for message := range otherLines {
		if bytes.Contains(line, []byte(message)) {
			return true
		}
	}
	return false
}

// changeOf reads a log line about a change; false for any other line.
func changeOf(line []byte) (c change, ok bool) {
	if !mayChange(line) {
		return c, false
	}
	var l struct {
		Time    logTime `json:"ts"`
		Message string  `json:"msg"`
		Logger  string  `json:"logger"`
	}
	if json.Unmarshal(line, &l) != nil || l.Time.at.IsZero() || l.Logger != "audit" && otherLines[l.Message] == "" {
		return c, false
	}
	return change{l.Time.at, cmp.Or(otherLines[l.Message], terminal.Safe(l.Message)) + detailsOf(line)}, true
}

// detailsOf returns the fields of a line, in its order, without those that every line has
// and those without content.
func detailsOf(line []byte) string {
	var out strings.Builder
	fields := json.NewDecoder(bytes.NewReader(line))
	fields.UseNumber()
	if _, err := fields.Token(); err != nil {
		return ""
	}
	separator := ": "
	for fields.More() {
		name, err := fields.Token()
		var value any
		if err != nil || fields.Decode(&value) != nil {
			break
		}
		switch name {
		case "level", "ts", "logger", "msg", "caller", "stack":
			continue
		}
		if text := detail(value); text != "" {
			fmt.Fprintf(&out, "%s%s %s", separator, terminal.Safe(fmt.Sprint(name)), terminal.Safe(text))
			separator = "; "
		}
	}
	return out.String()
}

// detail is the value of a field; "" if it has no content.
func detail(value any) string {
	switch v := value.(type) {
	case []any:
		var parts []string
		for _, part := range v {
			parts = append(parts, detail(part))
		}
		return strings.Join(parts, ", ")
	case map[string]any: // a file that was written
		return fmt.Sprintf("%v by %v at %v", v["file"], v["owner"], v["written"])
	case nil:
		return ""
	default:
		return fmt.Sprint(v)
	}
}
