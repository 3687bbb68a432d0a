package check

import (
	"regexp"
	"strings"

	"frontdesk/backend/adopt"
)

// A report may be sent to a colleague, so it quotes no values. Messages of databases and
// services quote them, within " or '.
var quoted = regexp.MustCompile(`"(?:[^"\\]|\\.)*"|"[^"]*"|'[^']*'`)

// maskedText is a message with the shape of everything that it quotes, unless the sheet has
// the same text.
func maskedText(message, inSheet string) string {
	return quoted.ReplaceAllStringFunc(message, func(s string) string {
		bare := s[1 : len(s)-1]
		if bare != "" && strings.Contains(inSheet, bare) {
			return s
		}
		return `"` + adopt.Shape(bare) + `"`
	})
}

// hidden is an error's message without a value that it quotes.
func hidden(err error) string { return maskedText(err.Error(), "") }
