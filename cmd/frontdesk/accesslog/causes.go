package accesslog

import (
	"cmp"
	"fmt"
	"strings"

	"frontdesk/docs"
	"frontdesk/mapping"
)

// helpOf explains a cause of the access log to operators, by its row in docs/causes.md; clients do not
// see causes. mapping.HelpFor explains the reasons.
func helpOf(cause string) (help mapping.Help, found bool) {
	_, row, found := strings.Cut(docs.Causes, "\n| `"+cause+"` | ")
	row, _, _ = strings.Cut(row, " |\n")
	help.Cause, help.Cure, _ = strings.Cut(row, " | ")
	return help, found
}

// help explains why a request was answered as it was, and what to do about it.
func (l *Line) help() mapping.Help {
	path, rest, ofRecord := strings.Cut(l.Endpoint, "/{") // of the template
	grant := l.Method + " " + path
	example := grant
	if _, more, _ := strings.Cut(rest, "}"); ofRecord {
		example += "/1" + more
	}
	switch help := mapping.HelpFor(mapping.Reason(l.Reason)); {
	case l.Status < 400:
		return mapping.Help{Cause: "Nothing was wrong with it."}
	case l.Cause != "":
		if known, ok := helpOf(l.Cause); ok {
			return known
		}
		return mapping.Help{Cause: "The log says " + l.Cause + ", which this version of frontdesk does not know.", Cure: help.Cure}
	case len(l.Lacks) > 0:
		return mapping.Help{
			Cause: fmt.Sprintf("The allowlist of %s does not grant %s, which arrays of the request need.", l.Key, strings.Join(l.Lacks, ", ")),
			Cure:  "If it is to be granted, add it to allow of the key.",
		}
	case l.Endpoint != "" && (l.Reason == string(mapping.EndpointUnknown) || l.Reason == string(mapping.MethodUnsupported)):
		return mapping.Help{
			Cause: "There is that operation, but the allowlist of " + l.Key + " does not grant it.",
			Cure:  fmt.Sprintf("If it is to be granted, add %q to allow of the key; frontdesk explain --config FILE --key %s '%s' shows what stands there.", grant, l.Key, example),
		}
	default:
		help.Cause = cmp.Or(help.Cause, "The log says "+cmp.Or(l.Reason, "no reason")+", which this version of frontdesk does not know.")
		return help
	}
}
