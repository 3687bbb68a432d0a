package remote

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"frontdesk/auth"
	"frontdesk/backend"
	"frontdesk/backend/follow"
	"frontdesk/mapping"
	"frontdesk/mapping/sheet"
)

// A feed is a call by which a service says what has changed after a cursor of its own. A
// position is such a cursor behind a letter, since that may be empty at the beginning.

var _ follow.Journal = (*Store)(nil)

// feed is a feed of the sheet, made ready.
type feed struct {
	*sheet.Feed
	op *operation
	// next is the place of the next cursor in the answer; position, keys and only are those
	// in an entry. -1 for none.
	next, position int
	keys, only     []int
}

// readyFeed prepares a resource's feed; nil where it has none.
func (s *service) readyFeed(r *resource) (*feed, error) {
	described := r.Changes.Feed
	if described == nil {
		return nil, nil
	}
	f := &feed{Feed: described, next: -1, position: -1}
	f.op = &operation{Operation: &sheet.Operation{Request: described.Request, NotFound: &sheet.Matcher{}}, of: r, scope: mapping.OpList, next: -1, total: -1, answer: newShape()}
	entry, places := newShape(), map[string]int{}
	at := func(path string) int {
		if _, known := places[path]; !known {
			places[path] = entry.addPlace(path)
		}
		return places[path]
	}
	for _, path := range described.Key {
		f.keys = append(f.keys, at(path))
	}
	for _, only := range described.Only {
		f.only = append(f.only, at(only[0]))
	}
	if described.Position != "" {
		f.position = at(described.Position)
	} else {
		f.next = f.op.answer.addPlace(described.Next)
	}
	err := f.op.answer.addList(described.Result, entry)
	return f, err
}

// fed are the entries of one answer of a feed.
type fed struct {
	keys [][]sheet.Raw
	next string
	n    int // entries, of other resources too
	// nameless are those of this resource that name no record.
	nameless int
}

// ask asks a feed for what comes after a cursor.
func (s *service) ask(ctx context.Context, f *feed, client auth.Client, cursor string, most int) (page fed, err error) {
	v := &values{client: client, page: place{cursor: cursor, limit: most}}
	a, err := s.call(ctx, f.op, v)
	if err != nil {
		return page, err
	}
	defer s.wire.conclude(a, &err)
	if !isSuccess(a.status) && f.Gone.Match(s.failure(a)) {
		return page, follow.ErrPositionGone
	}
	scan := s.scanner()
	defer s.free(scan)
	top, err := s.result(a, f.op, scan, sheet.Attempt{})
	if err != nil {
		return page, err
	}
	page.next = cursor
	if f.next >= 0 {
		page.next = strings.Clone(top.values[f.next].String())
	}
	for _, entry := range top.lists[0].rows {
		if page.n++; f.position >= 0 {
			page.next = strings.Clone(entry.values[f.position].String())
		}
		key := make([]sheet.Raw, len(f.keys))
		is, named := f.isOf(entry), true
		for i, at := range f.keys {
			key[i] = entry.values[at]
			key[i].Text = strings.Clone(key[i].Text) // it is a part of the answer
			named = named && key[i].IsSet()
		}
		switch {
		case is && named:
			page.keys = append(page.keys, key)
		case is:
			page.nameless++
		}
	}
	if page.next == "" && (page.n > 0 || cursor != "") {
		return page, unexpected(fmt.Errorf("the feed of %s does not say where it ends", f.op.of.Name))
	}
	return page, nil
}

// isOf tells whether an entry is of the resource.
func (f *feed) isOf(entry row) bool {
	for i, at := range f.only {
		if entry.values[at].String() != f.Only[i][1] {
			return false
		}
	}
	return true
}

const cursorMark = "c"

// Position implements follow.Journal: where the service's own word for the end leads, or else
// where the feed has been read through.
func (s *Store) Position(ctx context.Context, m *mapping.Resource, client auth.Client, after string) (at string, more bool, err error) {
	f := s.resources[m].feed
	cursor := strings.TrimPrefix(after, cursorMark)
	if f.Start != "" {
		cursor = f.Start
	}
	page, err := s.ask(ctx, f, client, cursor, f.op.of.Changes.Page)
	return cursorMark + page.next, f.Start == "" && page.n > 0 && page.next != cursor, err
}

// Entries implements follow.Journal: a page of a feed. Some services answer fewer entries than
// they are asked for: one has ended where none come.
func (s *Store) Entries(ctx context.Context, m *mapping.Resource, client auth.Client, after string, most int) (page follow.Entries, err error) {
	r := s.resources[m]
	cursor, ok := strings.CutPrefix(after, cursorMark)
	if !ok && after != "" {
		return page, follow.ErrPositionGone
	}
	found, err := s.ask(ctx, r.feed, client, cursor, most)
	if err == nil && found.n >= most && found.next == cursor {
		err = unexpected(fmt.Errorf("the feed of %s answers a whole page and does not go on", r.Name))
	}
	if err != nil {
		return page, err
	}
	page.Nameless, page.Next, page.More = found.nameless, cursorMark+found.next, found.n > 0 && found.next != cursor
	seen := map[string]bool{}
	for _, key := range found.keys {
		key = r.Padded(key)
		if joined := sheet.JoinKey(key); !seen[joined] && r.OfClient(key, client) {
			seen[joined] = true
			page.Keys = append(page.Keys, key)
		}
	}
	return page, nil
}

// Named implements follow.Journal.
func (s *Store) Named(ctx context.Context, m *mapping.Resource, client auth.Client, keys [][]sheet.Raw) (records []mapping.Record, others []int32, err error) {
	r, o := s.resources[m], s.owners(client)
	var unseen [][]sheet.Raw
	for _, key := range keys {
		ids, err := r.Known(ctx, s.IDStore, client, [][]sheet.Raw{key})
		if err != nil {
			return nil, nil, err
		}
		id := append(ids, 0)[0]
		rec, err := s.read(ctx, r, o, key, id)
		switch {
		case errors.Is(err, backend.ErrNotFound):
			unseen = append(unseen, key)
		case err != nil:
			return nil, nil, err
		default:
			for _, i := range r.arrays { // which lists do not have
				rec.Values[i] = mapping.Value{}
				delete(rec.Children, i)
			}
			records = append(records, rec)
		}
	}
	others, err = r.Known(ctx, s.IDStore, client, unseen)
	return records, others, err
}
