package terminal

import (
	"fmt"
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

// WriteRows writes a table of three columns: the first two as wide as they must
// be, the last one wrapped.
func WriteRows(w io.Writer, rows [][3]string) {
	var first, second int
	for _, r := range rows {
		first, second = max(first, utf8.RuneCountInString(r[0])), max(second, utf8.RuneCountInString(r[1]))
	}
	first, second = min(first, 30), min(second, 30)
	for _, r := range rows {
		rest := Wrap(r[2], Width-first-second-4)
		fmt.Fprintf(w, "%s  %s  %s\n", pad(r[0], first), pad(r[1], second), rest[0])
		for _, line := range rest[1:] {
			fmt.Fprintf(w, "%s%s\n", strings.Repeat(" ", first+second+4), line)
		}
	}
}

func pad(s string, width int) string {
	return s + strings.Repeat(" ", max(0, width-utf8.RuneCountInString(s)))
}

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
