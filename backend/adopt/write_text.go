package adopt

import (
	"fmt"
	"strings"
	"unicode"
)

// How names and values of the system are written in YAML.

// scalar writes a text as YAML, in quotes if it would be read as something else.
func scalar(text string) string {
	word := text != "" && strings.IndexFunc(text, func(r rune) bool {
		return !('a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' || '0' <= r && r <= '9' || strings.ContainsRune("_-.+", r))
	}) < 0 && !strings.ContainsRune("0123456789-.+", rune(text[0]))
	switch strings.ToLower(text) {
	case "null", "true", "false", "yes", "no", "on", "off":
		word = false
	}
	if word {
		return text
	}
	return quoted(text)
}

func quoted(text string) string {
	var b strings.Builder
	for _, r := range strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", `\n`, "\t", `\t`, "${", "$${").Replace(text) {
		switch {
		case unseen(r) && r > 0xffff:
			fmt.Fprintf(&b, `\U%08x`, r)
		case unseen(r):
			fmt.Fprintf(&b, `\u%04x`, r)
		default:
			b.WriteRune(r)
		}
	}
	return `"` + b.String() + `"`
}

// unseen reports whether a character is invisible, or ends a line.
func unseen(r rune) bool { return !unicode.IsGraphic(r) || r == '\ufeff' }

// comment is a text in the form that can follow a #, in one line.
func comment(text string) string {
	return strings.Map(func(r rune) rune {
		if unseen(r) {
			return ' '
		}
		return r
	}, text)
}

// names writes one name of a column, or a list of them.
func names(columns []string) string {
	if len(columns) == 1 {
		return scalar(columns[0])
	}
	all := make([]string, len(columns))
	for i, c := range columns {
		all[i] = scalar(c)
	}
	return "[" + strings.Join(all, ", ") + "]"
}
