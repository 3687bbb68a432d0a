package accesslog

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"frontdesk/cmd/frontdesk/terminal"
	"frontdesk/config/strictyaml"
)

// Tell writes the results; it fails if there is no such request.
func (q *Inquiry) Tell(out io.Writer) error {
	if q.Record.ID != 0 {
		return q.tellWrites(out)
	}
	if q.RequestID != "" && len(q.told) == 0 {
		if len(q.failures) == 0 {
			return errors.New("these logs have no request " + terminal.Safe(q.RequestID) + q.lostSome() + " (a request comes into the log up to a second after its answer)")
		}
		q.failures[len(q.failures)-1].print(out) // without log.access there is nothing more
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
		fmt.Fprintf(out, "\nBesides, %s was refused: %s.\n", q.who(), text)
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
	if q.served == 0 && !q.elsewhere {
		meant := strictyaml.Suggest(cmp.Or(q.Client, q.Key), slices.Sorted(maps.Keys(q.names)))
		err := fmt.Sprintf("these logs have no request of %s%s%s", q.who(), meant, q.lostSome())
		if text := tallied(q.nobody); text != "" {
			err += "; requests of nobody known were refused" + when + ": " + text
		}
		return errors.New(err)
	}
	fmt.Fprintf(out, "Nothing was refused to %s%s; %s served.\n", q.who(), when, terminal.Several(q.served, "request"))
	return nil
}

// who names the client or api_key asked about.
func (q *Inquiry) who() string {
	switch {
	case q.Client == "":
		return "the api_key " + terminal.Safe(q.Key)
	case q.Key == "":
		return terminal.Safe(q.Client)
	default:
		return terminal.Safe(q.Client) + " with the api_key " + terminal.Safe(q.Key)
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
		fmt.Fprintln(out, change)
	}
}

// tallied are refusals by their cause, the most first.
func tallied(counted map[string]int64) string {
	causes := slices.SortedFunc(maps.Keys(counted), func(a, b string) int {
		return cmp.Or(cmp.Compare(counted[b], counted[a]), cmp.Compare(a, b))
	})
	for i, cause := range causes {
		causes[i] = fmt.Sprintf("%s × %s", terminal.Count(counted[cause]), terminal.Safe(cause))
	}
	return strings.Join(causes, ", ")
}

// tell writes the sentences about a request.
func (l *Line) tell(out io.Writer, failed string) {
	fmt.Fprintf(out, "At %s %s asked %s%s (request %s).\n", terminal.Second(l.Time.at), l.asker(), terminal.Safe(l.words()), from(l.Address), terminal.Safe(l.RequestID))
	fmt.Fprintf(out, "It was answered %s after %s, %s.\n", terminal.Safe(strings.TrimSpace(fmt.Sprint(l.Status, " ", l.Reason))), lasting(l.Duration), l.backendShare())
	help := l.help()
	cause := help.Cause
	if l.Cause != "" {
		cause += " (" + l.Cause + ")"
	}
	fmt.Fprintf(out, "Why:   %s\n", terminal.Safe(cause))
	if failed != "" {
		fmt.Fprintf(out, "Error: %s\n", terminal.Safe(failed))
	}
	if help.Cure != "" {
		fmt.Fprintf(out, "Cure:  %s\n", terminal.Safe(help.Cure))
	}
	if len(l.Deprecated) > 0 {
		fmt.Fprintf(out, "It used what is deprecated: %s.\n", terminal.Safe(strings.Join(l.Deprecated, ", ")))
	}
	if l.Config != "" {
		fmt.Fprintf(out, "It was judged by the configuration %s.\n", terminal.Safe(l.Config))
	}
}

// asker names the client and api_key of the request.
func (l *Line) asker() string {
	switch {
	case l.Client != "" && l.Key != "":
		return terminal.Safe(l.Client) + ", with the api_key " + terminal.Safe(l.Key) + ","
	case l.Client != "":
		return terminal.Safe(l.Client)
	case l.Key != "":
		return "somebody with the api_key " + terminal.Safe(l.Key)
	default:
		return "somebody whose api_key is not known"
	}
}

// words are what was asked for.
func (l *Line) words() string {
	switch {
	case l.Method == "":
		return "for what could not be read as a request"
	case l.Endpoint == "":
		return "for " + l.Method + " of what is no endpoint"
	case len(l.Query) > 0:
		return "for " + l.asked() + " with " + strings.Join(l.Query, ", ")
	default:
		return "for " + l.asked()
	}
}

func from(address string) string {
	if address == "" {
		return ""
	}
	return " from " + terminal.Safe(address)
}

// backendShare says how much of the time the administration took.
func (l *Line) backendShare() string {
	switch l.Backend {
	case untold:
		return "and the log does not tell how long the administration had it"
	case 0:
		return "and the administration was not asked"
	default:
		return "of which the administration took " + lasting(l.Backend)
	}
}

// print writes a request of which the log has only the failure.
func (f failedLine) print(out io.Writer) {
	fmt.Fprintf(out, "At %s %s asked %s (request %s), and it failed. The log has no line of the request itself (log.access).\n",
		terminal.Second(f.Time.at), f.asker(), terminal.Safe(f.words()), terminal.Safe(f.RequestID))
	fmt.Fprintf(out, "Error: %s\n", terminal.Safe(f.Error))
}

// lasting is a time in two or three digits, as people compare them.
func lasting(seconds float64) string {
	switch ms := seconds * 1000; {
	case ms == 0:
		return "0"
	case ms < 10:
		return fmt.Sprintf("%.2g ms", ms)
	case ms < 1000:
		return fmt.Sprintf("%.0f ms", ms)
	default:
		return fmt.Sprintf("%.3g s", seconds)
	}
}
