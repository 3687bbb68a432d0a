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

// Inquiry searches a log for a request, for the requests of a client or an api_key, or for those that
// named or wrote a record, and holds the results. Its memory does not grow with the log.
type Inquiry struct {
	RequestID string // "" if the inquiry is about something else
	Client    string
	Key       string
	Record    RecordName    // the zero RecordName for no record
	About     time.Time     // zero for the newest
	Within    time.Duration // how far from then it may have been
	Limit     int           // how many refusals are reported in full

	told     []Line           // the nearest that were refused, or the one that is asked about
	alike    int64            // requests of the id that is asked about
	lost     bool             // the log says that lines of it were lost
	others   map[string]int64 // refused besides, by cause
	nobody   map[string]int64 // refused in that time, of nobody known
	served   int64            // of a record: requests that only read it, or were refused
	failures []Line           // the latest
	changes  []change         // the latest
}

// How much is kept.
const (
	failuresKept = 1000
	changesKept  = 200
	changesTold  = 10
)

// recent appends to a list and keeps only the latest items.
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
			q.told = append(q.told, *l)
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

// takeWrite keeps the last requests that wrote the record which is asked about: logs of several
// gateways come one after the other, and a line may be in a rotated file as well.
func (q *Inquiry) takeWrite(l *Line) {
	switch {
	case !l.names(q.Record) || !q.isNear(l.Time.at):
	case l.Status >= 400 || l.Method == http.MethodGet:
		q.served++
	case slices.ContainsFunc(q.told, func(kept Line) bool { return kept.RequestID == l.RequestID && kept.Time == l.Time }):
	default:
		q.alike++
		q.told = append(q.told, *l)
		slices.SortStableFunc(q.told, func(a, b Line) int { return a.Time.at.Compare(b.Time.at) })
		q.told = q.told[max(0, len(q.told)-max(q.Limit, 1)):]
	}
}

// takeRefusal keeps the refusals nearest to the moment asked about.
func (q *Inquiry) takeRefusal(l *Line) {
	q.told = append(q.told, *l)
	slices.SortStableFunc(q.told, func(a, b Line) int { return cmp.Compare(q.distance(a.Time.at), q.distance(b.Time.at)) })
	if last := len(q.told) - 1; last >= max(q.Limit, 1) {
		countRefusal(&q.others, &q.told[last])
		q.told = q.told[:last]
	}
}

// isMeant reports whether a request belongs to the client and the api_key asked about.
func (q *Inquiry) isMeant(client, key string) bool {
	return (q.Client == "" || strings.EqualFold(q.Client, client)) && (q.Key == "" || q.Key == key)
}

func (q *Inquiry) isNear(at time.Time) bool {
	return q.About.IsZero() || at.Sub(q.About).Abs() <= q.Within
}

// distance is the time between a request and the moment asked about.
func (q *Inquiry) distance(at time.Time) time.Duration {
	if q.About.IsZero() {
		return -time.Duration(at.UnixNano())
	}
	return at.Sub(q.About).Abs()
}

// matters reports whether a change may concern the requests reported, as far as that is
// known.
func (q *Inquiry) matters(at time.Time) bool {
	switch {
	case q.RequestID != "" && len(q.told) > 0:
		return isBefore(at, q.told[0].Time.at)
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

// UnmarshalText reads what a command line has.
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

// names reports whether a request asked for a record, or wrote it.
func (l *Line) names(r RecordName) bool {
	resource, _, _ := strings.Cut(strings.TrimPrefix(l.Endpoint, "/"), "/")
	return resource == r.Resource && (l.Record == r.ID || slices.Contains(l.Records, r.ID))
}

// tellWrites writes who wrote the record that is asked about, and when.
func (q *Inquiry) tellWrites(out io.Writer) error {
	told := q.told
	if q.alike == 0 && q.served == 0 {
		return fmt.Errorf("these logs have no request about %s%s (a write without log.access leaves no line)", q.Record, q.lostSome())
	}
	if earlier := q.alike - int64(len(told)); earlier > 0 {
		fmt.Fprintf(out, "%s of it before these.\n", terminal.Several(earlier, "write"))
	}
	if len(told) > 0 {
		table := terminal.NewTable(out, "WRITTEN", "BY", "STATUS", "USER", "CLIENT", "KEY", "ADDRESS", "REQUEST")
		for i := range told {
			l := &told[i]
			table.Row(l.Time.at, l.asked(), l.Status, l.User, l.Client, l.Key, l.Address, l.RequestID)
		}
		if err := table.Flush(); err != nil {
			return err
		}
	}
	_, err := fmt.Fprintf(out, "Beside that, %s of %s read it or were refused.\n", terminal.Several(q.served, "request"), q.Record)
	return err
}
