package accesslog

import (
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"frontdesk/cmd/frontdesk/terminal"
)

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

// names tells whether a request asked for a record, or wrote it.
func (l *Line) names(r RecordName) bool {
	resource, _, _ := strings.Cut(strings.TrimPrefix(l.Endpoint, "/"), "/")
	return resource == r.Resource && (l.Record == r.ID || slices.Contains(l.Records, r.ID))
}

// tellWrites writes who wrote the record that is asked about, and when.
func (q *Inquiry) tellWrites(out io.Writer) error {
	told := q.told[max(0, len(q.told)-max(q.Limit, 1)):]
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
