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

// changeOf reads a log line about a change, with its fields in the order of the line, without those
// that every line has and those without content; false for any other line.
func changeOf(line []byte) (c change, ok bool) {
	if !mayChange(line) {
		return c, false
	}
	var message, logger string
	var at logTime
	var details []string
	fields := json.NewDecoder(bytes.NewReader(line))
	fields.UseNumber()
	_, err := fields.Token()
	for err == nil && fields.More() {
		var name json.Token
		var value any
		if name, err = fields.Token(); err == nil {
			err = fields.Decode(&value)
		}
		text := detail(value)
		switch name {
		case "ts":
			_ = at.UnmarshalText([]byte(text)) // one that has none is of somebody else
		case "msg":
			message = text
		case "logger":
			logger = text
		case "level", "caller", "stack":
		default:
			if text != "" {
				details = append(details, terminal.Safe(fmt.Sprint(name))+" "+terminal.Safe(text))
			}
		}
	}
	if err != nil || at.at.IsZero() || logger != "audit" && otherLines[message] == "" {
		return c, false
	}
	what := cmp.Or(otherLines[message], terminal.Safe(message))
	if len(details) > 0 {
		what += ": " + strings.Join(details, "; ")
	}
	return change{at.at, what}, true
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
	case nil:
		return ""
	default:
		return fmt.Sprint(v)
	}
}
