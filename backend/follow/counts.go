package follow

import (
	"context"
	"sync/atomic"
	"time"

	"frontdesk/backend/sqlrecord"
	"frontdesk/mapping"
)

// count counts for one resource, since this gateway was started.
type count struct{ records, failures atomic.Int64 }

// Scan describes the polling of a resource.
type Scan struct {
	Resource string
	// Records that this gateway has read, and Failures to read.
	Records, Failures int64
	// Clients that follow the resource. Age is the time since the last look, of the client for
	// which it is longest ago; 0 if nobody follows.
	Clients int64
	Age     time.Duration
	// Rate is how many records a second are read at most, as the sheet says.
	Rate float64
}

// Scans describes the polling of each resource that is followed.
func (f *Follower) Scans(ctx context.Context) (all []Scan, err error) {
	at := map[string]int{}
	for _, r := range f.o.Sheet.Model.Resources {
		if c := f.counts[r.Name]; c != nil {
			at[r.Name] = len(all)
			how := f.o.Sheet.Changes(r)
			all = append(all, Scan{Resource: r.Name, Records: c.records.Load(), Failures: c.failures.Load(), Rate: float64(how.Page) / how.Pace(how.Page).Seconds()})
		}
	}
	err = f.db.Read(ctx, func(c sqlrecord.Conn) error {
		return c.Query(ctx, `SELECT resource, count(*), coalesce(max(`+f.o.DB.Dialect().Present+` - done_at), 0) FROM followed WHERE done_at > 0 GROUP BY resource`,
			[]sqlrecord.Column{sqlrecord.Words, sqlrecord.Number, sqlrecord.Number}, nil,
			func(row []mapping.Value) error {
				if i, ok := at[row[0].Text()]; ok {
					all[i].Clients, all[i].Age = row[1].Int(), time.Duration(row[2].Int())*time.Millisecond
				}
				return nil
			})
	})
	return all, err
}

// State returns about how many changes are kept, and how far reports lag behind; see
// sqlrecord.Changes.
func (f *Follower) State(ctx context.Context) (kept int64, lag time.Duration, err error) {
	return f.changes.State(ctx)
}
