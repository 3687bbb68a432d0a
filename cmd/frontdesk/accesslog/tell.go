package accesslog

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"time"

	"frontdesk/cmd/frontdesk/terminal"
	"frontdesk/docs"
	"frontdesk/mapping"
)

// Tell writes the results; it fails if there is no such request.
func (q *Inquiry) Tell(out io.Writer) error {
	if q.Record.ID != 0 {
		return q.tellWrites(out)
	}
	if q.RequestID != "" && len(q.told) == 0 {
		return errors.New("these logs have no request " + terminal.Safe(q.RequestID) + q.lostSome() + " (a request comes into the log up to a second after its answer, and not without log.access)")
	}
	if q.RequestID == "" && len(q.told) == 0 {
		if err := q.tellServed(out); err != nil {
			return err
		}
	}
	slices.SortStableFunc(q.told, func(a, b Line) int { return a.Time.at.Compare(b.Time.at) })
	for i := range q.told {
		if i > 0 {
			fmt.Fprintln(out)
		}
		q.told[i].tell(out, q.failureOf(q.told[i].RequestID))
	}
	if more := q.alike - int64(len(q.told)); more > 0 {
		fmt.Fprintf(out, "\nThe log has %s of that id.\n", terminal.Several(more, "more request"))
	}
	if text := tallied(q.others); text != "" {
		fmt.Fprintf(out, "\nBesides, %s was refused: %s.\n", who(q.Client, q.Key), text)
	}
	if text := tallied(q.nobody); text != "" {
		fmt.Fprintf(out, "\nIn that time requests of nobody known were refused, too: %s.\n", text)
	}
	q.tellChanges(out)
	return nil
}

// lostSome says that the log is incomplete, if the log itself says so.
func (q *Inquiry) lostSome() string {
	if !q.lost {
		return ""
	}
	return "; but lines of them were lost, as they say"
}

// tellServed says that no request of a client or an api_key was refused.
func (q *Inquiry) tellServed(out io.Writer) error {
	when := ""
	if !q.About.IsZero() {
		when = fmt.Sprintf(" from %s to %s", terminal.Minute(q.About.Add(-q.Within)), terminal.Minute(q.About.Add(q.Within)))
	}
	if q.served == 0 {
		err := "these logs have no request of " + who(q.Client, q.Key) + when + q.lostSome()
		if text := tallied(q.nobody); text != "" {
			err += "; requests of nobody known were refused then: " + text
		}
		return errors.New(err)
	}
	fmt.Fprintf(out, "Nothing was refused to %s%s; %s served.\n", who(q.Client, q.Key), when, terminal.Several(q.served, "request"))
	return nil
}

// who names the client and the api_key of a request, as far as they are known.
func who(client, key string) string {
	switch {
	case client == "" && key == "":
		return "somebody unknown"
	case client == "":
		return "the api_key " + terminal.Safe(key)
	case key == "":
		return terminal.Safe(client)
	default:
		return terminal.Safe(client) + " with the api_key " + terminal.Safe(key)
	}
}

// failureOf returns the log's reason for the failure of a request; "" if it has none.
func (q *Inquiry) failureOf(id string) string {
	for _, f := range q.failures {
		if f.RequestID == id {
			return f.Error
		}
	}
	return ""
}

// tellChanges writes the changes shortly before the requests reported.
func (q *Inquiry) tellChanges(out io.Writer) {
	var near []change
	for _, change := range q.changes {
		if slices.ContainsFunc(q.told, func(l Line) bool { return isBefore(change.at, l.Time.at) }) {
			near = append(near, change)
		}
	}
	if len(near) == 0 {
		return
	}
	slices.SortStableFunc(near, func(a, b change) int { return a.at.Compare(b.at) })
	fmt.Fprintln(out, "\nChanged in the hour before:")
	for _, change := range near[max(0, len(near)-changesTold):] {
		fmt.Fprintf(out, "%s  %s\n", terminal.Second(change.at), terminal.Safe(change.line))
	}
}

// tallied are refusals by their cause, the most first.
func tallied(counted map[string]int64) string {
	causes := slices.SortedFunc(maps.Keys(counted), func(a, b string) int {
		return cmp.Or(cmp.Compare(counted[b], counted[a]), cmp.Compare(a, b))
	})
	for i, cause := range causes {
		causes[i] = fmt.Sprintf("%s × %s", terminal.Count(counted[cause]), cause)
	}
	return strings.Join(causes, ", ")
}

// tell writes the sentences about a request.
func (l *Line) tell(out io.Writer, failed string) {
	fmt.Fprintf(out, "At %s %s asked for %s from %s (request %s).\n", terminal.Second(l.Time.at), who(l.Client, l.Key), l.asked(), cmp.Or(l.Address, "an unknown address"), l.RequestID)
	fmt.Fprintf(out, "It was answered %s after %s, of which the administration took %s.\n", strings.TrimSpace(fmt.Sprint(l.Status, " ", l.Reason)), lasting(l.Duration), lasting(l.Backend))
	help := l.help()
	cause := help.Cause
	if l.Cause != "" {
		cause += " (" + l.Cause + ")"
	}
	fmt.Fprintf(out, "Why:   %s\n", cause)
	if failed != "" {
		fmt.Fprintf(out, "Error: %s\n", failed)
	}
	if help.Cure != "" {
		fmt.Fprintf(out, "Cure:  %s\n", help.Cure)
	}
	if len(l.Deprecated) > 0 {
		fmt.Fprintf(out, "It used what is deprecated: %s.\n", strings.Join(l.Deprecated, ", "))
	}
	if l.Config != "" {
		fmt.Fprintf(out, "It was judged by the configuration %s.\n", l.Config)
	}
}

// lasting is a time as people compare them.
func lasting(seconds float64) string {
	return time.Duration(seconds * float64(time.Second)).Round(10 * time.Microsecond).String()
}

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
	case len(l.Fields) > 0:
		return mapping.Help{
			Cause: fmt.Sprintf("The allowlist of %s takes %s away, which the request names.", l.Key, strings.Join(l.Fields, ", ")),
			Cure:  fmt.Sprintf("If it is to have it, change the entry that takes it away; frontdesk explain --config FILE --key %s '%s' shows where that stands.", l.Key, example),
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
