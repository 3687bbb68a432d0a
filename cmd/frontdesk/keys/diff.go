package keys

import (
	"fmt"
	"slices"
	"strings"
)

// difference shows what a change does to a file, in the form that patch reads.
func difference(name string, before, after []byte) string {
	a, b := splitLines(before), splitLines(after)
	first := 0
	for first < len(a) && first < len(b) && a[first] == b[first] {
		first++
	}
	last := 0
	for last < len(a)-first && last < len(b)-first && a[len(a)-1-last] == b[len(b)-1-last] {
		last++
	}
	const context = 3
	from, behind := max(first-context, 0), max(last-context, 0)
	var out strings.Builder
	fmt.Fprintf(&out, "--- %s\n+++ %s\n@@ -%s +%s @@\n", name, name, span(from, len(a)-behind), span(from, len(b)-behind))
	write := func(mark string, lines []string) {
		for _, line := range lines {
			out.WriteString(mark + line)
			if !strings.HasSuffix(line, "\n") {
				out.WriteString("\n\\ No newline at end of file\n")
			}
		}
	}
	write(" ", a[from:first])
	write("-", a[first:len(a)-last])
	write("+", b[first:len(b)-last])
	write(" ", a[len(a)-last:len(a)-behind])
	return out.String()
}

// span is a range of lines as a hunk's head has it: its first line, from 1, and
// how many there are.
func span(from, to int) string {
	if from == to {
		return fmt.Sprintf("%d,0", from)
	}
	return fmt.Sprintf("%d,%d", from+1, to-from)
}

// splitLines cuts a text behind the end of each line.
func splitLines(text []byte) []string {
	lines := strings.SplitAfter(string(text), "\n")
	return slices.DeleteFunc(lines, func(line string) bool { return line == "" })
}
