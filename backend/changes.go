package backend

import (
	"context"
	"time"

	"frontdesk/auth"
	"frontdesk/mapping"
)

// Feed is which changes of a resource's records an administration can report.
type Feed string

// The feeds.
const (
	FeedAll              Feed = "all"
	FeedWithoutDeletions Feed = "without deletions"
	FeedNone             Feed = "none"
)

// ChangeFeed is a Driver that reports which records have changed.
type ChangeFeed interface {
	// Feed returns which changes of a resource's records are reported.
	Feed(r *mapping.Resource) Feed
	// Changes returns the changes after a cursor, in the order of their commit, each once.
	// Of several changes of a record, a page has the last. A committed change is reported
	// once all transactions that began before it have ended. Changes fails with
	// mapping.CursorGone if the cursor belongs to another client, or is too old.
	Changes(ctx context.Context, q ChangesQuery) (ChangesPage, error)
	// Digest sums up the records of one resource.
	Digest(ctx context.Context, r *mapping.Resource, q DigestQuery) (Digest, error)
}

// ChangesQuery says which changes are read.
type ChangesQuery struct {
	Client    auth.Client
	Begin     bool   // return only a cursor for changes from now on
	After     string // a cursor, unless Begin
	Resources []*mapping.Resource
	Records   bool // return also the records as they are now, with the fields of lists
	Limit     int  // the most records
	// Fields are those of the records that are counted for Room; nil for all.
	Fields map[*mapping.Resource][]int
	// Room returns an error if so many records of the page may not have so many bytes of
	// texts and contents in all; nil for no bound.
	Room func(bytes, records int) error
}

// ChangeKind is what happened to a record.
type ChangeKind string

// The kinds of changes.
const (
	RecordCreated ChangeKind = "created"
	RecordUpdated ChangeKind = "updated"
	RecordDeleted ChangeKind = "deleted"
)

// RecordChange is a change of a record.
type RecordChange struct {
	Resource *mapping.Resource
	ID       int32
	Kind     ChangeKind
	At       time.Time
	Record   mapping.Record // if the query asked for it and the record is not deleted
}

// ChangesPage is a page of changes.
type ChangesPage struct {
	Changes []RecordChange
	Cursor  string // for the changes that follow
	More    bool   // such changes exist already
}

// DigestQuery says which records of a resource a digest is of.
type DigestQuery struct {
	Client   auth.Client
	Ranges   int
	From, To int32 // IDs, both inclusive; To is 0 for no upper bound
}

// Digest sums up the records of a client in ranges of IDs.
type Digest struct {
	Ranges []DigestRange
	Cursor string // changes after it may not be in the digest
}

// DigestRange sums up the records with IDs from From to To: SHA-256 over a line
// "<id> <modified_at>\n" of each, in the order of their IDs.
type DigestRange struct {
	From, To int32
	Count    int
	Digest   [32]byte
}

// Changes returns a page of changes.
func (c *Client) Changes(ctx context.Context, q ChangesQuery) (page ChangesPage, err error) {
	feed, _ := optional[ChangeFeed](c.driver)
	err = c.call(ctx, c.sections[nil].lists, q.Client, "changes", func(ctx context.Context) error {
		if page, err = feed.Changes(ctx, q); err != nil {
			return err
		}
		for _, change := range page.Changes {
			if change.Record.Resource == nil {
				continue
			}
			if err := Believe(change.Resource, change.Record, q.Client, change.ID); err != nil {
				return err
			}
		}
		return nil
	})
	return page, err
}

// Digest sums up the records of a resource.
func (c *Client) Digest(ctx context.Context, r *mapping.Resource, q DigestQuery) (digest Digest, err error) {
	feed, _ := optional[ChangeFeed](c.driver)
	err = c.call(ctx, c.sections[r].lists, q.Client, "digest", func(ctx context.Context) error {
		digest, err = feed.Digest(ctx, r, q)
		return err
	})
	return digest, err
}
