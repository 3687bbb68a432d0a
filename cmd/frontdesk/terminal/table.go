package terminal

import (
	"io"
	"strings"
	"text/tabwriter"
	"unicode/utf8"
)

// NewTable takes lines whose columns have tabs between them, and writes them as a
// table when it is flushed.
func NewTable(out io.Writer) *tabwriter.Writer { return tabwriter.NewWriter(out, 0, 0, 2, ' ', 0) }

// Width is how many characters a line has where texts are wrapped.
const Width = 100

// Wrap divides a text into lines of at most width characters, where words allow.
func Wrap(text string, width int) []string {
	var lines []string
	line := ""
	for _, word := range strings.Fields(text) {
		if line != "" && utf8.RuneCountInString(line)+1+utf8.RuneCountInString(word) > width {
			lines, line = append(lines, line), ""
		}
		if line != "" {
			line += " "
		}
		line += word
	}
	return append(lines, line)
}
