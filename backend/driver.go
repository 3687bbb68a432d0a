// Package backend is what stands behind the gateway: the Driver, which stores
// records somewhere, and the Client around it, which makes every driver keep
// the same rules.
//
// It decides what may be done to records in view of other records. It is not
// the place for what can be judged from a record alone (package mapping), nor
// for sessions, HTTP or wording.
package backend

import (
	"context"
	"errors"
	"time"

	"frontdesk/auth"
	"frontdesk/mapping"
)

// ErrNotFound says that no record of that ID is visible to the client: it does
// not exist, or belongs to another one.
var ErrNotFound = errors.New("record not found")

// ErrStale says that a write was judged by records that are no longer so: a unique
// value or a reference appeared or went away, or the record itself was changed.
// The Client judges again.
var ErrStale = errors.New("judged by records that have changed")

// ErrCollision says that the store ended a transaction because of another one, and
// nothing of it was done. The driver runs it again by itself, see RunAgain; a Client
// meets it only where there was no time left.
var ErrCollision = errors.New("collision with another transaction")

// StaleError is ErrStale of a store that knows what it refuses: a value that is there
// already, or a record that others refer to. The rules find that out, unless it is
// unknown to them: a key that the model does not have, or a resource of a newer version
// that runs beside this one.
type StaleError struct {
	Told error // what becomes of the write where the rules find nothing again: violations, ErrUnexpected
	Err  error // of the store, which wraps ErrStale
}

func (e *StaleError) Error() string { return e.Err.Error() }

func (e *StaleError) Unwrap() error { return e.Err }

// ErrUnexpected says that the administration works and answered, but with
// something that nobody foresaw: an error that no one translated, a value that
// cannot be converted. The client of the interface sees 500; the circuit breaker
// counts it as an answer. Drivers wrap it: fmt.Errorf("%w: …", ErrUnexpected).
var ErrUnexpected = errors.New("unexpected answer of the administration")

// ErrOwnStore says that the gateway's own store failed, for IDs, idempotency keys and
// turns. Nothing is known of the administration by it: its circuit is left alone.
var ErrOwnStore = errors.New("the gateway's own store failed")

// ErrBusy says that no slot or connection was free for a call before its time was up:
// nothing was asked, and nothing is known of the administration. Its circuit is left alone.
var ErrBusy = errors.New("no room for one more call of the administration")

// ErrUnsettled says that nobody knows whether a write was done: it was asked for,
// and not answered. Drivers wrap it, and keep the idempotency key in use.
var ErrUnsettled = errors.New("nobody knows whether it was done")

// Reader looks at the records of an administration. A client sees its own and
// those of all.
//
// Errors are ErrNotFound, ErrUnexpected, a violation made by mapping.Fail where the
// administration words its own, or a failure: it did not answer, or says itself that
// it does not work. The client of the interface sees the last two as 500.
type Reader interface {
	// Get returns the record q.ID. Fields that are arrays come only when
	// q.Fields names them.
	Get(ctx context.Context, r *mapping.Resource, q Query) (mapping.Record, error)
	// List returns the records that q describes.
	List(ctx context.Context, r *mapping.Resource, q Query) (Page, error)
}

// Driver is one administration. Implementations are safe for concurrent use.
type Driver interface {
	Reader
	// Write runs f, which may read and write through tx: all of it is done, or
	// nothing where f fails. An administration without transactions says so (see
	// Capabilities) and runs f all the same. f may be run more than once, so it must
	// use nothing of an earlier run.
	Write(ctx context.Context, f func(tx Tx) error) error
	// Capabilities tells what the driver is and does.
	Capabilities() Capabilities
	// Close ends all work and releases the store; calls after it fail.
	Close() error
}

// Tx is a write under way. It reads its own writes, and q.ForUpdate holds a record
// until the end. A client changes only what is its own; besides the errors of a
// Reader there is ErrStale.
type Tx interface {
	Reader
	// Create stores a new record of the client with its children, and returns
	// it as stored: with its ID, defaults and derived fields.
	Create(ctx context.Context, client auth.Client, rec mapping.Record) (mapping.Record, error)
	// Update sets the fields that are present in patch on the record before,
	// and returns the record as stored.
	Update(ctx context.Context, client auth.Client, before, patch mapping.Record) (mapping.Record, error)
	// Delete removes the record.
	Delete(ctx context.Context, client auth.Client, before mapping.Record) error
	// Recall returns what was kept under an idempotency key, nil when nothing was.
	// It fails with IdempotencyInUse when another write is about to keep one, or, of
	// a Driver that is not Atomic, may have been. Such a Driver takes the key when the
	// write leaves, and fails with ErrStale where another has taken it by then.
	Recall(ctx context.Context, client auth.Client, key string) (*StoredAnswer, error)
	// Remember keeps m under key for MemoLife, or m.Life where that is longer: in
	// the same transaction as the records it tells of where the Driver is Atomic.
	Remember(ctx context.Context, client auth.Client, key string, m StoredAnswer) error
}

// Capabilities describe a driver.
type Capabilities struct {
	Name    string // as the configuration names it
	Store   string // the engine behind it: "sqlite", "postgres", …
	Version string
	// OwnRules tells that the administration itself enforces what depends on
	// other records: references, uniqueness, use, the state of a parent. What
	// can be told of the record alone the Client judges all the same: it is
	// system, blocked, archived, or closed; a field is fixed, required or out of
	// order on the merged record.
	OwnRules bool
	// Until tells that pages of what was changed since a moment have Page.Until.
	Until bool
	// Atomic tells that what a Tx remembers is in the transaction of the record
	// it tells of, so that a write that failed under a key can be done again
	// without being done twice. Else the key is taken right before the write leaves.
	Atomic bool
}

// Prober is a Tx that can tell more cheaply than by a Get whether a record exists.
type Prober interface {
	Exists(ctx context.Context, client auth.Client, r *mapping.Resource, id int32) (bool, error)
}

// Supporter is a Driver that has not all operations of all resources. What it
// does not support is no endpoint. Others support everything.
type Supporter interface {
	Supports(r *mapping.Resource, op mapping.Scope) bool
	// Writes tells whether a field can be written at all, be it readonly for
	// clients: publish_status is, where vehicles can be published.
	Writes(r *mapping.Resource, f *mapping.Field) bool
}

// Pinger is a Driver that can tell whether its administration answers.
type Pinger interface {
	Ping(ctx context.Context) error
}

// MemoLife is how long an answer is kept under its idempotency key at least.
const MemoLife = 24 * time.Hour

// StoredAnswer is an answer kept under an idempotency key.
type StoredAnswer struct {
	Sum    [32]byte // of the request that was answered
	Answer []byte
	Life   time.Duration // where that is longer than MemoLife; not known of what is recalled
}

// ModelDescriber is a Driver whose administration describes its resources
// itself. The answer must be a JSON object, and is checked for that.
type ModelDescriber interface {
	DescribeModel(ctx context.Context, name string) ([]byte, error)
}

// AddressBook is a Driver, or a service, that knows places.
type AddressBook interface {
	// FindAddress completes an address. known is false where the book has no
	// entry for the place, which says nothing about whether it exists.
	FindAddress(ctx context.Context, a Address) (found Address, known bool, err error)
}

// Address is a place as the address check takes and answers it.
type Address struct {
	Street, Addition, Postcode, City string
	HouseNumber                      int
	CountryID                        int32
}

// Query says which records, and what of them.
type Query struct {
	Client auth.Client
	ID     int32 // Get only

	// Fields are the positions wanted; nil means those that are answered by
	// themselves. The others may be left absent.
	Fields []int
	// ForUpdate holds the record for the rest of the transaction.
	ForUpdate bool
	// Tagged asks for what the entity tag is made of (Get only): of a record with
	// arrays the driver may have to read the elements. What a Tx has written is
	// answered with it.
	Tagged bool

	// List only.
	Filters       []Filter
	Decides       bool          // that there is none decides something: fail where that cannot be told
	None          bool          // a filter has a value that no record can have; only a Driver that tells Until is asked then
	ModifiedSince mapping.Value // inclusive; absent for no bound
	Sort          []Order       // always made total by ID
	Keyset        bool          // by ID, whatever order the list has else, from After on
	After         int32         // only those behind this ID; 0 for all
	Offset, Limit int
	Total         bool // count all matching records too, those before After among them
	// Room is an error where that many records of the page may not have that many bytes
	// of texts and contents in all; nil for no bound.
	Room func(bytes, records int) error
}

// Filter is an equality.
type Filter struct {
	Field *mapping.Field
	Value mapping.Value
}

// Order is one key of a sort.
type Order struct {
	Field      *mapping.Field
	Descending bool
}

// Page is one page of a list.
type Page struct {
	Records []mapping.Record
	More    bool  // there is a next page
	Total   int64 // where Query.Total asked for it
	// Until is what the next Query.ModifiedSince should be: every change that the page
	// does not have is dated (modified_at) then or later. Of a Driver that tells it,
	// where Query.ModifiedSince is set; absent where it cannot tell now.
	Until mapping.Value
	bytes int // of the texts and contents in it, see Add
}

// fit ends the page of a driver that could not before where there is no more room.
func (p *Page) fit(q Query) error {
	records := p.Records
	p.Records, p.bytes = records[:0], 0
	for _, rec := range records {
		if added, err := p.Add(&q, rec); err != nil || !added {
			return err
		}
	}
	return nil
}

// Add adds a record to the page of a list. It is false where the page ends before it:
// where it has the records that were asked for, or, of a list by ID, as many bytes as
// there is room for. Of another list that there is no room for, and without room for a
// single record, Add fails.
func (p *Page) Add(q *Query, rec mapping.Record) (added bool, err error) {
	if q.Limit > 0 && len(p.Records) == q.Limit {
		p.More = true
		return false, nil
	}
	if q.Room != nil {
		p.bytes += rec.Bytes()
		switch err := q.Room(p.bytes, len(p.Records)+1); {
		case err == nil:
		case q.Keyset && len(p.Records) > 0:
			p.More = true
			return false, nil
		default:
			return false, err
		}
	}
	p.Records = append(p.Records, rec)
	return true, nil
}
