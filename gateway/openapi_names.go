package gateway

import (
	"slices"
	"strings"
)

// typeName returns a resource's name as the description writes types: order_line
// becomes OrderLine.
func typeName(resource string) string {
	var b strings.Builder
	for part := range strings.SplitSeq(resource, "_") {
		if part != "" {
			b.WriteString(upperFirst(part))
		}
	}
	return b.String()
}

// plural returns the plural of an English name.
func plural(name string) string {
	switch {
	case strings.HasSuffix(name, "y") && !strings.HasSuffix(name, "ay") && !strings.HasSuffix(name, "ey") && !strings.HasSuffix(name, "oy"):
		return strings.TrimSuffix(name, "y") + "ies"
	case strings.HasSuffix(name, "s"), strings.HasSuffix(name, "x"), strings.HasSuffix(name, "ch"), strings.HasSuffix(name, "sh"):
		return name + "es"
	default:
		return name + "s"
	}
}

// joined returns the texts that are not empty, with a separator between.
func joined(separator string, texts ...string) string {
	return strings.Join(slices.DeleteFunc(texts, func(s string) bool { return s == "" }), separator)
}

// when returns a text, or "" unless holds is true.
func when(holds bool, text string) string {
	if holds {
		return text
	}
	return ""
}
