package remote

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	"frontdesk/auth"
	"frontdesk/backend"
	"frontdesk/backend/sqlrecord"
)

// removedAtOnce bounds the records that one transaction removes.
const removedAtOnce = 500

// removeUnseen removes what a walk has not found. First it reads some of it one by one: if the list lacks
// records that exist, the rest may exist as well.
func (l *look) removeUnseen(ctx context.Context, start int64) error {
	c, p, seen := l.c, l.p, l.seen
	slices.Sort(seen)
	var gone []int32
	err := c.records.EachID(ctx, p.r.Resource, p.client.ID, func(id int32) error {
		if _, found := slices.BinarySearch(seen, id); !found {
			gone = append(gone, id)
		}
		return nil
	})
	if err != nil || len(gone) == 0 {
		return ownFailure("copy of records", err)
	}
	if gone, err = c.judgeGone(ctx, p, gone, start); err != nil {
		return err
	}
	for some := range slices.Chunk(gone, removedAtOnce) {
		page := make([]taken, len(some))
		for i, id := range some {
			page[i] = goneOf(p.r, id)
		}
		if _, err := l.apply(ctx, start, page); err != nil {
			return err
		}
	}
	return nil
}

// A walk may miss existing records: the pages of a list shift when others are removed during the walk.
// So up to readGone missing records are read one by one; of more, only judgedGone are read, to decide
// whether the walk has found all.
const (
	readGone   = 20
	judgedGone = 3
)

// judgeGone returns which of the records that a walk has not found are gone.
func (c *copied) judgeGone(ctx context.Context, p *walked, unseen []int32, start int64) (gone []int32, err error) {
	if p.r.Service.Get == nil {
		return unseen, nil
	}
	few := len(unseen) <= readGone
	judged := unseen[:min(len(unseen), readGone)]
	touched := map[int32]bool{}
	err = c.db.Read(ctx, func(conn sqlrecord.Conn) (err error) {
		touched, err = touchedSince(ctx, conn, p.r.Resource, start)
		return err
	})
	kept, failed := c.records.Kept(ctx, p.r.Resource, judged)
	if err = errors.Join(err, failed); err != nil {
		return nil, ownFailure("copy of records", err)
	}
	read := 0
	for _, id := range judged {
		if touched[id] || !few && read == judgedGone {
			continue
		}
		read++
		client := auth.Client{ID: cmp.Or(p.client.ID, kept[id].Client), Name: p.client.Name}
		switch t, err := c.read(ctx, p.r, client, id); {
		case errors.Is(err, backend.ErrNotFound):
			gone = append(gone, id)
		case err != nil:
			return nil, err
		case !few && !t.hidden:
			return nil, fmt.Errorf("%w: %s: the walk has not found records that are there", backend.ErrChanged, p.r.Name)
		}
	}
	if !few {
		return unseen, nil
	}
	return gone, nil
}
