package draft

import (
	"fmt"
	"strings"
	"unicode"
)

// How names and values of the system are written in YAML.

// codeList writes a code list.
func codeList(list []code, blank bool) string {
	var all []string
	for _, k := range list {
		all = append(all, scalar(k.from, true)+": "+scalar(k.to, true))
	}
	if blank {
		all = append(all, `"": null`)
	}
	return "{" + strings.Join(all, ", ") + "}"
}

// scalar writes a text as YAML, in quotes where it would be something else;
// numbers as they are where they are meant.
func scalar(text string, number bool) string {
	if number && text != "" && isNumeral(text) && (text == "0" || text[0] != '0') {
		return text
	}
	word := text != "" && strings.IndexFunc(text, func(r rune) bool { return !isLetter(r) && !isDigit(r) && r != '_' && r != '-' && r != '.' && r != '+' }) < 0 && (isLetter(rune(text[0])) || text[0] == '_')
	switch strings.ToLower(text) {
	case "null", "true", "false", "yes", "no", "y", "n", "on", "off", "~":
		word = word && len(text) == 1 // which are texts in YAML 1.2
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

// readable writes a text with double quotes in it within single ones, where it can.
func readable(text string) string {
	if strings.Contains(text, "'") || strings.Contains(text, "${") || strings.ContainsFunc(text, unseen) {
		return quoted(text)
	}
	return "'" + text + "'"
}

// unseen tells of characters that nobody would see, or that end a line.
func unseen(r rune) bool { return !unicode.IsGraphic(r) || r == '\ufeff' }

// comment is a text as it may stand behind a #, in one line.
func comment(text string) string {
	return strings.Map(func(r rune) rune {
		if unseen(r) {
			return ' '
		}
		return r
	}, text)
}

// list writes one text, or a list of them.
func list(texts []string) string { return oneOrMore(texts, quoted) }

// names writes one name of a column, or a list of them.
func names(columns []string) string {
	return oneOrMore(columns, func(c string) string { return scalar(c, false) })
}

func oneOrMore(texts []string, write func(string) string) string {
	all := make([]string, len(texts))
	for i, t := range texts {
		all[i] = write(t)
	}
	if len(all) == 1 {
		return all[0]
	}
	return "[" + strings.Join(all, ", ") + "]"
}
