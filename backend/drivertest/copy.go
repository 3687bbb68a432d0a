package drivertest

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"time"

	"frontdesk/auth"
	"frontdesk/backend"
	"frontdesk/mapping"
)

// Copy is a client's copy of some resources, kept up to date by the changes that a driver
// reports. It belongs to one goroutine.
type Copy struct {
	Client    *backend.Client
	Of        auth.Client
	Resources []*mapping.Resource

	cursor  string
	records map[*mapping.Resource]map[int32]string
}

// Begin takes a cursor, and then reads everything.
func (c *Copy) Begin(ctx context.Context) error {
	page, err := c.Client.Changes(ctx, backend.ChangesQuery{Client: c.Of, Begin: true, Resources: c.Resources})
	if err != nil {
		return err
	}
	c.cursor, c.records = page.Cursor, map[*mapping.Resource]map[int32]string{}
	for _, r := range c.Resources {
		if c.records[r], err = c.all(ctx, r); err != nil {
			return err
		}
	}
	return nil
}

// all are the records of a resource as lists return them.
func (c *Copy) all(ctx context.Context, r *mapping.Resource) (map[int32]string, error) {
	page, err := c.Client.List(ctx, r, backend.Query{Client: c.Of, Limit: 100_000})
	records := map[int32]string{}
	for _, rec := range page.Records {
		records[rec.ID()] = textOf(rec)
	}
	return records, err
}

func textOf(rec mapping.Record) string {
	return string(rec.AppendJSON(nil, rec.Resource.ListFields()))
}

// CatchUp applies the changes since the last call, and returns how many there were.
func (c *Copy) CatchUp(ctx context.Context) (n int, err error) {
	for {
		page, err := c.Client.Changes(ctx, backend.ChangesQuery{Client: c.Of, After: c.cursor, Resources: c.Resources, Records: true, Limit: 7})
		if err != nil {
			return n, err
		}
		for _, change := range page.Changes {
			n++
			records := c.records[change.Resource]
			if change.Record.Resource == nil {
				delete(records, change.ID)
				continue
			}
			if owner := change.Record.Owner; owner != c.Of.ID && owner != mapping.OfAll {
				return n, fmt.Errorf("%s %d of client %d was told to client %d", change.Resource.Name, change.ID, owner, c.Of.ID)
			}
			records[change.ID] = textOf(change.Record)
		}
		if c.cursor = page.Cursor; !page.More {
			return n, nil
		}
	}
}

// Differs says how the copy differs from lists; "" if it does not.
func (c *Copy) Differs(ctx context.Context) (string, error) {
	for _, r := range c.Resources {
		now, err := c.all(ctx, r)
		if err != nil {
			return "", err
		}
		for _, id := range slices.Sorted(maps.Keys(now)) {
			if c.records[r][id] != now[id] {
				return fmt.Sprintf("%s %d is %s, and in the copy %q", r.Name, id, now[id], c.records[r][id]), nil
			}
		}
		for id := range c.records[r] {
			if now[id] == "" {
				return fmt.Sprintf("%s %d has gone, and is in the copy", r.Name, id), nil
			}
		}
	}
	return "", nil
}

// Equals catches up until the copy equals the lists, for within at most.
func (c *Copy) Equals(ctx context.Context, within time.Duration) error {
	ctx, cancel := context.WithTimeout(ctx, within)
	defer cancel()
	for {
		if _, err := c.CatchUp(ctx); err != nil {
			return err
		}
		differs, err := c.Differs(ctx)
		if differs == "" || err != nil {
			return err
		}
		if auth.Sleep(ctx, 5*time.Millisecond) != nil {
			return fmt.Errorf("the copy stays behind: %s", differs)
		}
	}
}
