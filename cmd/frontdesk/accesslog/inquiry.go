package accesslog

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"frontdesk/cmd/frontdesk/terminal"
)

// Inquiry searches a log for a request, for the requests of a client or an api_key, or for those that read
// or wrote a record, and holds the results. Its memory does not grow with the log.
type Inquiry struct {
	RequestID string // "" if the inquiry is about something else
	Client    string
	Key       string
	Record    RecordName    // the zero RecordName for no record
	About     time.Time     // the moment searched for; zero for the newest requests
	Within    time.Duration // how far from About a request may be
	Limit     int           // how many refusals are reported in full

	reported []Line           // requests to report: those with RequestID, the nearest refusals, or the last writes
	alike    int64            // how many requests have RequestID, or wrote Record
	lost     bool             // the log says that lines of it were lost
	others   map[string]int64 // refusals that are not reported in full, by cause
	nobody   map[string]int64 // refusals around About of requests without a known client or api_key
	served   int64            // served requests; of Record, those that only read it, or were refused
	failures []Line           // the latest
	changes  []change         // the latest
}

// How much is kept.
const (
	failuresKept    = 1000
	changesKept     = 200
	changesReported = 10
)

// recent appends to a list and keeps at least the latest most items.
func recent[T any](kept []T, one T, most int) []T {
	if len(kept) == 2*most {
		kept = append(kept[:0], kept[most:]...)
	}
	return append(kept, one)
}

// Ask reads the logs.
func (q *Inquiry) Ask(ctx context.Context, logs Logs) error { return logs.read(ctx, q.take) }

// take reads a line of the log.
func (q *Inquiry) take(line []byte) {
	if change, ok := changeOf(line); ok {
		if q.matters(change.at) {
			q.changes = recent(q.changes, change, changesKept)
		}
		return
	}
	if bytes.Contains(line, []byte(`"msg":"lines of the log were lost`)) {
		q.lost = true
		return
	}
	if q.RequestID != "" && !bytes.Contains(line, []byte(q.RequestID)) {
		return
	}
	var l Line
	if l.Read(line) {
		q.takeRequest(&l)
	} else if l.readAs("request failed", line) && (l.RequestID == q.RequestID || q.RequestID == "" && q.isMeant(l.Client, l.Key) && q.isNear(l.Time.at)) {
		q.failures = recent(q.failures, l, failuresKept)
	}
}

func (q *Inquiry) takeRequest(l *Line) {
	switch {
	case q.Record.ID != 0:
		q.takeWrite(l)
	case q.RequestID != "":
		if l.RequestID != q.RequestID {
			return
		}
		if q.alike++; q.alike <= int64(max(q.Limit, 1)) { // clients may send one id with all their requests
			q.reported = append(q.reported, *l)
		}
	case !q.isMeant(l.Client, l.Key):
		if l.Client == "" && l.Key == "" && l.Status >= 400 && !q.About.IsZero() && q.isNear(l.Time.at) {
			countRefusal(&q.nobody, l)
		}
	case !q.isNear(l.Time.at):
	case l.Status < 400:
		q.served++
	default:
		q.takeRefusal(l)
	}
}

// takeWrite keeps the last requests that wrote Record. It sorts and skips duplicates: logs of several
// gateways come one after the other, and a line may also be in a rotated file.
func (q *Inquiry) takeWrite(l *Line) {
	switch {
	case !l.names(q.Record) || !q.isNear(l.Time.at):
	case l.Status >= 400 || l.Method == http.MethodGet:
		q.served++
	case slices.ContainsFunc(q.reported, func(kept Line) bool { return kept.RequestID == l.RequestID && kept.Time == l.Time }):
	default:
		q.alike++
		q.reported = append(q.reported, *l)
		slices.SortStableFunc(q.reported, func(a, b Line) int { return a.Time.at.Compare(b.Time.at) })
		q.reported = q.reported[max(0, len(q.reported)-max(q.Limit, 1)):]
	}
}

// takeRefusal keeps the refusals nearest to About.
func (q *Inquiry) takeRefusal(l *Line) {
	q.reported = append(q.reported, *l)
	slices.SortStableFunc(q.reported, func(a, b Line) int { return cmp.Compare(q.distance(a.Time.at), q.distance(b.Time.at)) })
	if last := len(q.reported) - 1; last >= max(q.Limit, 1) {
		countRefusal(&q.others, &q.reported[last])
		q.reported = q.reported[:last]
	}
}

// isMeant reports whether a request belongs to Client and Key.
func (q *Inquiry) isMeant(client, key string) bool {
	return (q.Client == "" || strings.EqualFold(q.Client, client)) && (q.Key == "" || q.Key == key)
}

func (q *Inquiry) isNear(at time.Time) bool {
	return q.About.IsZero() || at.Sub(q.About).Abs() <= q.Within
}

// distance returns the time between a request and About.
func (q *Inquiry) distance(at time.Time) time.Duration {
	if q.About.IsZero() {
		return -time.Duration(at.UnixNano())
	}
	return at.Sub(q.About).Abs()
}

// matters reports whether a change may be near enough to the requests that will be reported.
func (q *Inquiry) matters(at time.Time) bool {
	switch {
	case q.RequestID != "" && len(q.reported) > 0:
		return isBefore(at, q.reported[0].Time.at)
	case q.About.IsZero():
		return true
	}
	return at.After(q.About.Add(-q.Within-changesWithin)) && !at.After(q.About.Add(q.Within))
}

// changesWithin is how long before a request a change is reported with it.
const changesWithin = time.Hour

// isBefore reports whether a change was made shortly before a request was answered.
func isBefore(change, request time.Time) bool {
	return change.After(request.Add(-changesWithin)) && !change.After(request)
}

// countRefusal counts refusals by their cause.
func countRefusal(counted *map[string]int64, l *Line) {
	if *counted == nil {
		*counted = map[string]int64{}
	}
	(*counted)[fmt.Sprintf("%d %s", l.Status, cmp.Or(l.Cause, l.Reason))]++
}

// RecordName names a record: order/4711.
type RecordName struct {
	Resource string
	ID       int32
}

// UnmarshalText reads a name such as order/4711.
func (r *RecordName) UnmarshalText(text []byte) error {
	resource, id, _ := strings.Cut(strings.TrimPrefix(string(text), "/"), "/")
	n, err := strconv.ParseInt(id, 10, 32)
	if resource == "" || err != nil || n < 1 {
		return fmt.Errorf("%s: expected a resource and a primary ID, such as order/4711", terminal.Safe(string(text)))
	}
	*r = RecordName{resource, int32(n)}
	return nil
}

func (r RecordName) String() string { return fmt.Sprintf("%s/%d", terminal.Safe(r.Resource), r.ID) }

// names reports whether a request read or wrote a record.
func (l *Line) names(r RecordName) bool {
	resource, _, _ := strings.Cut(strings.TrimPrefix(l.Endpoint, "/"), "/")
	return resource == r.Resource && (l.Record == r.ID || slices.Contains(l.Records, r.ID))
}

// reportWrites writes who wrote Record, and when.
func (q *Inquiry) reportWrites(out io.Writer) error {
	reported := q.reported
	if q.alike == 0 && q.served == 0 {
		return fmt.Errorf("these logs have no request about %s%s (a write without log.access leaves no line)", q.Record, q.lostSome())
	}
	if earlier := q.alike - int64(len(reported)); earlier > 0 {
		fmt.Fprintf(out, "%s of it before these.\n", terminal.Several(earlier, "write"))
	}
	if len(reported) > 0 {
		table := terminal.NewTable(out, "WRITTEN", "BY", "STATUS", "USER", "CLIENT", "KEY", "ADDRESS", "REQUEST")
		for i := range reported {
			l := &reported[i]
			table.Row(l.Time.at, l.request(), l.Status, l.User, l.Client, l.Key, l.Address, l.RequestID)
		}
		if err := table.Flush(); err != nil {
			return err
		}
	}
	_, err := fmt.Fprintf(out, "Beside that, %s of %s read it or were refused.\n", terminal.Several(q.served, "request"), q.Record)
	return err
}
