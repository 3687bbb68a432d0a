package check

import (
	"fmt"
	"regexp"
	"strings"

	"frontdesk/backend/adopt/page"
	"frontdesk/mapping/sheet"
)

// A report may be sent to a colleague, so it quotes no values. Messages of databases and
// services quote them, within " or '.
var quoted = regexp.MustCompile(`"(?:[^"\\]|\\.)*"|"[^"]*"|'[^']*'`)

// masked is the shape of a value.
func masked(v sheet.Raw) string {
	if v.Kind == sheet.RawBytes {
		return fmt.Sprintf("%d bytes", len(v.Text))
	}
	return `"` + page.Shape(v.String()) + `"`
}

// maskedText is a message with the shape of everything that it quotes, unless the sheet has
// the same text.
func maskedText(message, inSheet string) string {
	return quoted.ReplaceAllStringFunc(message, func(s string) string {
		bare := s[1 : len(s)-1]
		if bare != "" && strings.Contains(inSheet, bare) {
			return s
		}
		return masked(sheet.Raw{Kind: sheet.RawText, Text: bare})
	})
}

// hidden is an error's message without a value that it quotes.
func hidden(err error) string { return maskedText(err.Error(), "") }

// withCodes is a message without values, but with a code that is in no code list: it has to
// be added there.
func withCodes(message string) string {
	if strings.Contains(message, "code list") {
		return message
	}
	return maskedText(message, "")
}
