package follow

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"frontdesk/auth"
	"frontdesk/backend"
	"frontdesk/backend/sqlrecord"
	"frontdesk/mapping"
)

const (
	// beginWait is how long the first request of a client waits at most for the first read of
	// all its records. If that takes longer, beginAgain is the Retry-After.
	beginWait, beginAgain = 5 * time.Second, 10 * time.Second
	// firstLook and longestLook are the shortest and the longest pause of that wait.
	firstLook, longestLook = 5 * time.Millisecond, 250 * time.Millisecond
	// requestRenewal is how old the note of a client's last request may become before it is renewed.
	requestRenewal = time.Hour
)

// follow begins to follow resources for a client, and waits until their changes are noted.
func (f *Follower) follow(ctx context.Context, client auth.Client, resources []*mapping.Resource) error {
	if err := f.begin(ctx, client, resources); err != nil {
		return err
	}
	began := time.Now()
	for look := firstLook; ; look = min(2*look, longestLook) {
		ready, err := f.areReady(ctx, client, resources)
		if ready || err != nil {
			return own(err)
		}
		if deadline, ok := ctx.Deadline(); time.Since(began) > beginWait || ok && time.Until(deadline) < beginWait/2 {
			busy := mapping.Fail(mapping.Overloaded).Because(fmt.Errorf("not all records of client %d have been read for the first time", client.ID))
			busy.RetryAfter = beginAgain
			return busy
		}
		if err := auth.Sleep(ctx, look); err != nil {
			return fmt.Errorf("%w: %w", backend.ErrBusy, err)
		}
	}
}

// begin notes who follows what. A ready_at in the future is of before the database's clock was
// set back; it becomes the present, which is the time in the next cursor.
func (f *Follower) begin(ctx context.Context, client auth.Client, resources []*mapping.Resource) error {
	err := f.db.Write(ctx, func(c sqlrecord.Conn) error {
		for _, r := range resources {
			p := pair{client, r}
			_, err := c.Exec(ctx, `INSERT INTO followed (client_id, resource, client_name, asked_at) VALUES (?1, ?2, ?3, `+f.o.DB.Dialect().Present+`)
				ON CONFLICT (client_id, resource) DO UPDATE SET client_name = excluded.client_name, asked_at = excluded.asked_at,
				ready_at = CASE WHEN followed.ready_at > excluded.asked_at THEN excluded.asked_at ELSE followed.ready_at END`, p.values(mapping.TextValue(client.Name))...)
			if err != nil {
				return err
			}
		}
		return nil
	})
	awaken(f.wake)
	return own(err)
}

func awaken(sleeper chan<- struct{}) {
	select {
	case sleeper <- struct{}{}:
	default:
	}
}

// touch notes now and then that a client still asks for changes, and its name: resources that nobody
// asks for are no longer followed.
func (f *Follower) touch(ctx context.Context, client auth.Client, resources []*mapping.Resource) error {
	now := time.Now()
	var stale []*mapping.Resource
	f.mu.Lock()
	for _, r := range resources {
		if p := (pair{client, r}); now.Sub(f.requested[p]) > min(requestRenewal, f.o.Keep/4) {
			stale = append(stale, r)
			f.requested[p] = now
		}
	}
	f.mu.Unlock()
	if len(stale) == 0 {
		return nil
	}
	return f.begin(ctx, client, stale)
}

// areReady reports whether the changes of all resources are noted for a client.
func (f *Follower) areReady(ctx context.Context, client auth.Client, resources []*mapping.Resource) (ready bool, err error) {
	err = f.db.Read(ctx, func(c sqlrecord.Conn) (err error) {
		ready, err = f.readySince(ctx, c, backend.ChangesQuery{Client: client, Resources: resources}, math.MaxInt64)
		return err
	})
	return ready, err
}

// readySince implements sqlrecord.Followed.
func (f *Follower) readySince(ctx context.Context, c sqlrecord.Conn, q backend.ChangesQuery, issued int64) (bool, error) {
	var ready []string
	err := c.Query(ctx, `SELECT resource FROM followed WHERE client_id = ?1 AND ready_at > 0 AND ready_at <= ?2`, []sqlrecord.Column{sqlrecord.Words},
		[]mapping.Value{mapping.IntValue(q.Client.ID), mapping.IntValue(issued)}, func(row []mapping.Value) error {
			ready = append(ready, row[0].Text())
			return nil
		})
	return !slices.ContainsFunc(q.Resources, func(r *mapping.Resource) bool { return !slices.Contains(ready, r.Name) }), err
}

// pairs returns the pairs that fulfil a condition. It leaves out resources that only an earlier sheet
// followed.
func (f *Follower) pairs(ctx context.Context, where string, args ...mapping.Value) (all []pair, err error) {
	err = f.db.Read(ctx, func(c sqlrecord.Conn) error {
		all = nil
		return c.Query(ctx, `SELECT client_id, client_name, resource FROM followed WHERE `+where, []sqlrecord.Column{sqlrecord.Number, sqlrecord.Words, sqlrecord.Words}, args, func(row []mapping.Value) error {
			if r := f.resources[row[2].Text()]; r != nil {
				all = append(all, pair{auth.Client{ID: row[0].Int(), Name: strings.Clone(row[1].Text())}, r})
			}
			return nil
		})
	})
	return all, err
}

// forgetAtOnce bounds how many rows one transaction removes.
const forgetAtOnce = 1000

// forget stops following what nobody asks for any more, and removes what no valid cursor needs.
func (f *Follower) forget(ctx context.Context) error {
	d := f.o.DB.Dialect()
	late := mapping.IntValue((f.o.Keep + requestRenewal).Milliseconds())
	_, err := sqlrecord.Change(ctx, f.db, `DELETE FROM followed WHERE asked_at < `+d.Present+` - ?1`, late)
	for n := int64(forgetAtOnce); err == nil && n == forgetAtOnce; {
		n, err = sqlrecord.Change(ctx, f.db, `DELETE FROM followed_record WHERE (client_id, resource, id) IN (SELECT client_id, resource, id FROM followed_record r
			WHERE NOT EXISTS (SELECT 1 FROM followed f WHERE f.client_id = r.client_id AND f.resource = r.resource) LIMIT ?1)`, mapping.IntValue(forgetAtOnce))
	}
	if err == nil {
		err = f.changes.Prune(ctx)
	}
	return err
}
