package remote

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"time"

	"frontdesk/auth"
	"frontdesk/backend"
)

// closedWithin bounds Closed, which has no context.
const closedWithin = 2 * time.Second

// Closed implements backend.Changing.
func (d *Driver) Closed() (all []backend.Closing) {
	ctx, cancel := context.WithTimeout(context.Background(), closedWithin)
	defer cancel()
	for _, p := range d.copy.walks() {
		if known, err := d.copy.state(ctx, p); err == nil && known.changed {
			all = append(all, backend.Closing{Resource: p.r.Name, What: known.failed, Since: known.failedAt})
		}
	}
	return all
}

// LeftOut implements backend.Changing.
func (d *Driver) LeftOut() map[backend.Place]int64 {
	d.copy.mu.Lock()
	defer d.copy.mu.Unlock()
	return maps.Clone(d.copy.leftOut)
}

// Copies implements backend.Copier.
func (d *Driver) Copies(ctx context.Context) (all []backend.CopyState, err error) {
	for _, p := range d.copy.walks() {
		known, err := d.copy.state(ctx, p)
		if err != nil {
			return nil, err
		}
		is := backend.CopyState{
			Resource: p.r.Name, Client: p.client, Known: known.known(), Records: known.records, Walking: known.walking, Seen: p.seen.Load(),
			Failed: known.failed, FailedAt: known.failedAt,
		}
		if !is.Known.IsZero() {
			is.Age = known.now.Sub(is.Known)
		}
		all = append(all, is)
	}
	return all, nil
}

// walks are all walks that were begun, by resource and client.
func (c *copied) walks() (all []*walked) {
	for r, s := range c.sources {
		if s.r.Resource != r {
			continue
		}
		s.mu.Lock()
		all = slices.AppendSeq(all, maps.Values(s.all))
		s.mu.Unlock()
	}
	slices.SortFunc(all, func(a, b *walked) int {
		return cmp.Or(cmp.Compare(a.r.Name, b.r.Name), cmp.Compare(a.client.ID, b.client.ID))
	})
	return all
}

// Verify implements auth.Accounts.
func (d *Driver) Verify(ctx context.Context, c auth.Credentials) (auth.User, error) {
	return d.conn.verify(ctx, c)
}

// FindUser implements auth.Accounts.
func (d *Driver) FindUser(ctx context.Context, username string) (auth.User, error) {
	return d.conn.find(ctx, username)
}

// FoldsNames implements auth.NameFolder.
func (d *Driver) FoldsNames() bool { return d.Sheet.Accounts.FoldNames }

// mostLogins is how many connections are reserved for logins at most, one in four.
const mostLogins = 32

// LoginsAtOnce is how many credentials the service may verify at once, so that connections
// are left for calls; 0 if the service does not verify them.
func (d *Driver) LoginsAtOnce() int {
	if len(d.Sheet.Accounts.Users) > 0 {
		return 0
	}
	return min(max(1, cap(d.conn.wire.pool.slots)/4), mostLogins)
}

// Pool implements backend.Pooler. One connection is reserved for Ping.
func (d *Driver) Pool() backend.Pool {
	slots := d.conn.wire.pool.slots
	return backend.Pool{InUse: len(slots), Most: cap(slots), Calls: max(1, cap(slots)-d.LoginsAtOnce()-1)}
}
