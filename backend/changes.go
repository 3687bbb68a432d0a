package backend

import (
	"context"
	"time"

	"frontdesk/auth"
	"frontdesk/mapping"
)

// Telling is what an administration can tell of the changes of a resource's records.
type Telling string

// What it can tell.
const (
	TellsAll              Telling = "all"
	TellsWithoutDeletions Telling = "without deletions"
	TellsNone             Telling = "none"
)

// ChangeTeller is a Driver that tells which records have changed.
type ChangeTeller interface {
	// Tells says what it tells of a resource.
	Tells(r *mapping.Resource) Telling
	// Changes returns the changes after a cursor, in the order of their commit, and none
	// twice: of each record on a page the last. Every change that is committed is told
	// once all transactions that began before it have ended. It fails with
	// mapping.CursorGone if the cursor is not one of this client, or too old.
	Changes(ctx context.Context, q ChangesQuery) (ChangesPage, error)
	// Digest sums up the records of one resource.
	Digest(ctx context.Context, r *mapping.Resource, q DigestQuery) (Digest, error)
}

// ChangesQuery says which changes are read.
type ChangesQuery struct {
	Client    auth.Client
	Begin     bool   // only the cursor of now
	After     string // a cursor, unless Begin
	Resources []*mapping.Resource
	Records   bool // with the records as they are now, in the fields of lists
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
	More    bool   // there are some already
}

// DigestQuery says which records of a resource a digest is of.
type DigestQuery struct {
	Client   auth.Client
	Ranges   int
	From, To int32 // IDs, both inclusive; To is 0 for all from From on
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
	teller, _ := optional[ChangeTeller](c.driver)
	err = c.call(ctx, c.sections[nil].lists, q.Client, "changes", func(ctx context.Context) error {
		if page, err = teller.Changes(ctx, q); err != nil {
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
	teller, _ := optional[ChangeTeller](c.driver)
	err = c.call(ctx, c.sections[r].lists, q.Client, "digest", func(ctx context.Context) error {
		digest, err = teller.Digest(ctx, r, q)
		return err
	})
	return digest, err
}
