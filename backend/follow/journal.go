package follow

import (
	"context"
	"errors"
	"fmt"
	"time"

	"frontdesk/auth"
	"frontdesk/backend"
	"frontdesk/mapping"
)

// Reader reads the system, as clients see it.
type Reader interface {
	backend.Reader
	Journal
}

// Journal is the system's own record of changes. Positions are opaque texts, never empty.
type Journal interface {
	// Position returns the end of a resource's journal: later entries come after it.
	Position(ctx context.Context, r *mapping.Resource, client auth.Client) (at string, err error)
	// Entries returns about most entries after a position; from the beginning, if that is "". It
	// fails with ErrPositionGone if the system no longer has all of them. For a resource that is
	// followed by version, the position is a time (milliseconds since 1970), and the entries are
	// the records that were marked as deleted since then.
	Entries(ctx context.Context, r *mapping.Resource, client auth.Client, after string, most int) (Entries, error)
	// Named reads the records that entries name, as the client sees them now. Of named records
	// that it does not see now, but may have seen before, Named returns the IDs, if they have any.
	Named(ctx context.Context, r *mapping.Resource, client auth.Client, keys [][]string) (records []mapping.Record, others []int32, err error)
}

// Entries are a page of a journal.
type Entries struct {
	Keys   [][]string // the keys of records that have changed or gone, each once
	Others []int32    // the IDs of records that have gone
	// Nameless are the entries that name no record.
	Nameless int
	Next     string
	More     bool
}

// ErrPositionGone says that a journal does not go back to a position.
var ErrPositionGone = errors.New("the system no longer knows what has changed since")

// entries reads the journal, page by page, and notes the records that it names.
func (l *look) entries(ctx context.Context, from string) error {
	l.at = from
	for more := true; more; {
		var page Entries
		err := l.step(ctx, func(ctx context.Context) (err error) {
			page, err = l.turnPage(ctx)
			return err
		})
		if err == nil {
			err = l.singly(ctx, len(page.Keys), func(ctx context.Context, from, to int) error { return l.named(ctx, page.Keys[from:to]) })
		}
		if err == nil {
			err = l.gone(ctx, page.Others)
		}
		if err != nil {
			return err
		}
		l.at, more = page.Next, page.More
		l.rest(ctx, len(page.Keys)+len(page.Others))
	}
	return nil
}

// turnPage reads the next page.
func (l *look) turnPage(ctx context.Context) (Entries, error) {
	if l.late() {
		return Entries{}, ErrPositionGone
	}
	began := time.Now()
	page, err := l.f.o.Reader.Entries(ctx, l.resource, l.client, l.at, l.how.Page)
	if err == nil && page.More && page.Next == l.at {
		err = fmt.Errorf("the journal of %s goes on where it began", l.resource.Name)
	}
	if err != nil {
		return page, fmt.Errorf("%w: %w", errDriver, err)
	}
	l.turned = began
	return page, nil
}

// named notes the records of some keys, as they are now.
func (l *look) named(ctx context.Context, keys [][]string) error {
	if l.late() {
		return ErrPositionGone
	}
	records, others, err := l.f.o.Reader.Named(ctx, l.resource, l.client, keys)
	if err != nil {
		return fmt.Errorf("%w: %w", errDriver, err)
	}
	if err := l.noteNews(ctx, records); err != nil {
		return err
	}
	return l.goneOf(ctx, others)
}
