package check

import (
	_ "embed"
	"html/template"
	"io"
	"regexp"
	"slices"
	"strings"
)

//go:embed page.html
var pageText string

var page = template.Must(template.New("page").Parse(pageText))

// pageLine is a line of the sheet, with what was found there.
type pageLine struct {
	Number   int
	Text     string
	Findings []Finding
}

// WritePage writes the sheet, with the findings at their places, as one HTML page that loads nothing from
// outside. Of parts of the sheet that may have secrets or users it shows only the findings.
func (r *Report) WritePage(w io.Writer) error {
	var lines []pageLine
	shown := false
	for i, text := range strings.Split(strings.TrimRight(r.text, "\n"), "\n") {
		if begins := text != "" && !strings.ContainsAny(text[:1], " #"); begins {
			key := topKey.FindStringSubmatch(text)
			shown = key != nil && slices.Contains(open, key[1])
		}
		if !shown {
			text = ""
		}
		line := pageLine{Number: i + 1, Text: text}
		for _, f := range r.Findings {
			if f.Line == line.Number {
				line.Findings = append(line.Findings, f)
			}
		}
		if shown || len(line.Findings) > 0 {
			lines = append(lines, line)
		}
	}
	var left strings.Builder
	r.Left.write(&left)
	return page.Execute(w, map[string]any{"Report": r, "Left": left.String(), "Lines": lines, "Severities": mildestFirst})
}

// open are the keys of a sheet without secrets and users.
var open = []string{"format", "time_zone", "rules", "without_rules", "client", "codes", "errors", "resources"}

var topKey = regexp.MustCompile(`^([a-z_]+):`)
