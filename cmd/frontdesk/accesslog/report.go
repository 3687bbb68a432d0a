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

// Report writes the results. It fails if there is no such request.
func (q *Inquiry) Report(out io.Writer) error {
	if q.Record.ID != 0 {
		return q.reportWrites(out)
	}
	if q.RequestID != "" && len(q.reported) == 0 {
		return errors.New("these logs have no request " + terminal.Safe(q.RequestID) + q.lostSome() + " (a request comes into the log up to a second after its answer, and not without log.access)")
	}
	if q.RequestID == "" && len(q.reported) == 0 {
		if err := q.reportServed(out); err != nil {
			return err
		}
	}
	slices.SortStableFunc(q.reported, func(a, b Line) int { return a.Time.at.Compare(b.Time.at) })
	for i := range q.reported {
		if i > 0 {
			fmt.Fprintln(out)
		}
		q.reported[i].describe(out, q.failureOf(q.reported[i].RequestID))
	}
	if more := q.alike - int64(len(q.reported)); more > 0 {
		fmt.Fprintf(out, "\nThe log has %s of that id.\n", terminal.Several(more, "more request"))
	}
	if text := tallied(q.others); text != "" {
		fmt.Fprintf(out, "\nBesides, %s was refused: %s.\n", who(q.Client, q.Key), text)
	}
	if text := tallied(q.nobody); text != "" {
		fmt.Fprintf(out, "\nIn that time requests of nobody known were refused, too: %s.\n", text)
	}
	q.reportChanges(out)
	return nil
}

// lostSome returns a remark if the log says that it is incomplete.
func (q *Inquiry) lostSome() string {
	if !q.lost {
		return ""
	}
	return "; but lines of them were lost, as they say"
}

// reportServed writes that no request of a client or an api_key was refused.
func (q *Inquiry) reportServed(out io.Writer) error {
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

// reportChanges writes the changes shortly before the reported requests.
func (q *Inquiry) reportChanges(out io.Writer) {
	var near []change
	for _, change := range q.changes {
		if slices.ContainsFunc(q.reported, func(l Line) bool { return isBefore(change.at, l.Time.at) }) {
			near = append(near, change)
		}
	}
	if len(near) == 0 {
		return
	}
	slices.SortStableFunc(near, func(a, b change) int { return a.at.Compare(b.at) })
	fmt.Fprintln(out, "\nChanged in the hour before:")
	for _, change := range near[max(0, len(near)-changesReported):] {
		fmt.Fprintf(out, "%s  %s\n", terminal.Second(change.at), terminal.Safe(change.line))
	}
}

// tallied lists refusals by their cause, the most frequent first.
func tallied(counted map[string]int64) string {
	causes := slices.SortedFunc(maps.Keys(counted), func(a, b string) int {
		return cmp.Or(cmp.Compare(counted[b], counted[a]), cmp.Compare(a, b))
	})
	for i, cause := range causes {
		causes[i] = fmt.Sprintf("%s × %s", terminal.Count(counted[cause]), cause)
	}
	return strings.Join(causes, ", ")
}

// describe writes the sentences about a request.
func (l *Line) describe(out io.Writer, failed string) {
	fmt.Fprintf(out, "At %s %s asked for %s from %s (request %s).\n", terminal.Second(l.Time.at), who(l.Client, l.Key), l.request(), cmp.Or(l.Address, "an unknown address"), l.RequestID)
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

// lasting formats a duration so that durations can be compared.
func lasting(seconds float64) string {
	return time.Duration(seconds * float64(time.Second)).Round(10 * time.Microsecond).String()
}

// helpOf explains a cause of the access log by its row in docs/causes.md. Only operators see causes;
// mapping.HelpFor explains the reasons, which clients see.
func helpOf(cause string) (help mapping.Help, found bool) {
	_, row, found := strings.Cut(docs.Causes, "\n| `"+cause+"` | ")
	row, _, _ = strings.Cut(row, " |\n")
	help.Cause, help.Cure, _ = strings.Cut(row, " | ")
	return help, found
}

// help explains why a request was answered as it was, and what to do about it.
func (l *Line) help() mapping.Help {
	path, rest, ofRecord := strings.Cut(l.Endpoint, "/{") // Endpoint is a template: /order/{id}
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
