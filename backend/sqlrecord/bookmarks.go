package sqlrecord

import (
	"context"
	"slices"
	"strings"
	"sync"

	"github.com/hashicorp/golang-lru/v2/simplelru"

	"frontdesk/backend"
	"frontdesk/mapping"
)

const (
	// bookmarkEvery is how many records lie between two bookmarks: a deep page steps over
	// fewer than that.
	bookmarkEvery = 512
	// maxBookmarkLists bounds the lists that have bookmarks.
	maxBookmarkLists = 1024
)

// bookmarks remembers, per client and resource, the ID of every 512th record in the order
// of IDs, so that page 1,000 costs what page 1 does. Without them SQLite steps over all
// earlier records.
//
// IDs only grow, so new records come after every bookmark. A deletion, or a record stored
// with a given ID, shifts the bookmarks: its transaction increments the list's epoch in
// the database, and bookmarks of an earlier epoch are not used. This works in SQLite,
// where one transaction writes at a time; in PostgreSQL a lower ID may be committed after
// a higher one.
type bookmarks struct {
	every int // bookmarkEvery
	mu    sync.Mutex
	lists *simplelru.LRU[bookmarkKey, bookmarkList]
}

type bookmarkKey struct {
	r      *mapping.Resource
	client int64
}

type bookmarkList struct {
	epoch int64
	ids   []int32 // ids[n] is the ID of record (n+1)*bookmarkEvery
}

func newBookmarks() *bookmarks {
	lists, _ := simplelru.NewLRU[bookmarkKey, bookmarkList](maxBookmarkLists, nil)
	return &bookmarks{every: bookmarkEvery, lists: lists}
}

// known returns the bookmarks of a list in an epoch; none if its bookmarks are of another
// epoch.
func (p *bookmarks) known(key bookmarkKey, epoch int64) []int32 {
	p.mu.Lock()
	defer p.mu.Unlock()
	if l, ok := p.lists.Get(key); ok && l.epoch == epoch {
		return slices.Clip(l.ids) // clipped: an append by the caller copies
	}
	return nil
}

// learn keeps the bookmarks of a list, unless more, or those of a later epoch, are known.
func (p *bookmarks) learn(key bookmarkKey, epoch int64, ids []int32) {
	p.mu.Lock()
	defer p.mu.Unlock()
	l, ok := p.lists.Peek(key)
	if !ok || epoch > l.epoch || epoch == l.epoch && len(ids) > len(l.ids) {
		p.lists.Add(key, bookmarkList{epoch, ids})
	}
}

// remembers reports whether bookmarks help with a list: only if it is in the order of IDs
// and holds all records of a client. A transaction that writes sees uncommitted records
// and must not put them into bookmarks that others use.
func (s *Store) remembers(t *table, q backend.Query) bool {
	byID := len(q.Sort) == 0 || q.Sort[0].Field.Primary && !q.Sort[0].Descending
	all := len(q.Filters) == 0 && !q.ModifiedSince.IsSet() && q.After == 0 && !t.shared
	return s.db.Dialect().sqlite && s.conn == nil && byID && all && q.Limit > 0 && (q.Offset >= s.bookmarks.every || q.Total)
}

// bookmarkTexts are the statements that find bookmarks.
type bookmarkTexts struct {
	epoch string // resource, client
	next  string // client, id: the record that comes bookmarkEvery later
	rest  string // client, id: how many records come after it
	page  string // client, id, limit, offset
}

func (t *table) bookmarkTexts(d *Dialect) bookmarkTexts {
	id := t.columns[t.r.ID]
	after := " FROM " + t.name + " WHERE " + t.ofClient + " AND " + id + " > " + d.Placeholder(2)
	_, page, _ := strings.Cut(after, " WHERE ")
	return bookmarkTexts{
		epoch: "SELECT epoch FROM " + epochTable + " WHERE resource = " + d.Placeholder(1) + " AND " + clientColumn + " = " + d.Placeholder(2),
		next:  "SELECT " + id + after + " ORDER BY " + id + " LIMIT 1 OFFSET " + d.Placeholder(3),
		rest:  "SELECT count(*)" + after,
		page:  " WHERE " + page + " ORDER BY " + id + " LIMIT " + d.Placeholder(3) + " OFFSET " + d.Placeholder(4),
	}
}

// skip lets the list begin at the last bookmark before its page, and counts from
// the last bookmark of all. It must see one snapshot with the list itself.
func (s *Store) skip(ctx context.Context, c Conn, t *table, q backend.Query, l *listing) error {
	epoch, err := number(ctx, c, t.bookmarks.epoch, mapping.TextValue(t.r.Name), mapping.IntValue(q.Client.ID))
	if err != nil {
		return err
	}
	key := bookmarkKey{t.r, q.Client.ID}
	known := s.bookmarks.known(key, epoch)
	ids, err := s.seek(ctx, c, t, q, known)
	if err != nil {
		return err
	}
	if len(ids) > len(known) {
		s.bookmarks.learn(key, epoch, ids)
	}
	n := min(len(ids), q.Offset/s.bookmarks.every)
	l.text = l.sel.head + t.bookmarks.page
	l.args = []mapping.Value{mapping.IntValue(q.Client.ID), bookmarkAt(ids, n), mapping.IntValue(int64(q.Limit) + 1),
		mapping.IntValue(int64(q.Offset - n*s.bookmarks.every))}
	if !q.Total {
		return nil
	}
	l.count, l.countArgs = t.bookmarks.rest, []mapping.Value{mapping.IntValue(q.Client.ID), bookmarkAt(ids, len(ids))}
	l.counted = int64(len(ids) * s.bookmarks.every)
	return nil
}

// seek finds the bookmarks that are not known yet: up to the page, or up to the end if all
// records are to be counted.
func (s *Store) seek(ctx context.Context, c Conn, t *table, q backend.Query, ids []int32) ([]int32, error) {
	for q.Total || (len(ids)+1)*s.bookmarks.every <= q.Offset {
		next, err := number(ctx, c, t.bookmarks.next, mapping.IntValue(q.Client.ID), bookmarkAt(ids, len(ids)), mapping.IntValue(int64(s.bookmarks.every-1)))
		if err != nil {
			return nil, err
		}
		if next == 0 {
			break
		}
		ids = append(ids, int32(next))
	}
	return ids, nil
}

// bookmarkAt returns the ID of record n*bookmarkEvery; the next record follows it.
func bookmarkAt(ids []int32, n int) mapping.Value {
	if n == 0 {
		return mapping.IntValue(0)
	}
	return mapping.IntValue(int64(ids[n-1]))
}

// number runs a query for one number; 0 if it has no row.
func number(ctx context.Context, c Conn, text string, args ...mapping.Value) (n int64, err error) {
	err = c.Query(ctx, text, oneInt, args, func(row []mapping.Value) error {
		n = row[0].Int()
		return nil
	})
	return n, err
}
