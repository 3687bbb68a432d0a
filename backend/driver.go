// Package backend is the administration behind the gateway: the Driver, which stores
// records somewhere, and the Client around it, which applies the same business rules to
// every driver.
//
// Rules that need other records belong here. Rules about a record alone belong to package
// mapping; sessions, HTTP and messages belong elsewhere, too.
package backend

import (
	"context"
	"errors"
	"time"

	"frontdesk/auth"
	"frontdesk/mapping"
)

// ErrNotFound says that the client sees no record of that ID: it does not exist, or
// belongs to another client.
var ErrNotFound = errors.New("record not found")

// ErrStale says that records have changed since a write was judged by them: a unique
// value or a reference appeared or went away, or the record itself was changed. The
// Client judges again.
var ErrStale = errors.New("judged by records that have changed")

// ErrCollision says that the store ended a transaction because of another one, and that
// nothing of it was done. The driver runs it again itself, see RunAgain; a Client gets
// this error only if there was no time left for that.
var ErrCollision = errors.New("collision with another transaction")

// StaleError is an ErrStale of a store that says why it refused: a value that exists
// already, or a record that others refer to. Usually the rules then find the same, unless
// they do not know it: a unique key that the model does not have, or a resource of a
// newer version that runs at the same time.
type StaleError struct {
	Fallback error // the write's error if the rules find nothing the second time either: violations, ErrUnexpected
	Err      error // of the store, which wraps ErrStale
}

func (e *StaleError) Error() string { return e.Err.Error() }

func (e *StaleError) Unwrap() error { return e.Err }

// ErrUnexpected says that the administration works and answered, but with something that
// the driver does not understand: an error that it cannot translate, a value that cannot
// be converted. The client of the interface sees 500; the circuit breaker counts it as an
// answer. Drivers wrap it: fmt.Errorf("%w: …", ErrUnexpected).
var ErrUnexpected = errors.New("unexpected answer of the administration")

// ErrChanged says that the administration no longer has something that the call needs, such as
// a column, or has it in another form. Nothing was done. Drivers wrap it: fmt.Errorf("%w: …", ErrChanged).
var ErrChanged = errors.New("the administration has changed")

// ErrOwnStore says that the gateway's own store failed (IDs, idempotency keys, turns). The
// administration may work, so its circuit is not affected.
var ErrOwnStore = errors.New("the gateway's own store failed")

// ErrBusy says that no slot or connection became free in time: no call reached the
// administration, so its circuit is not affected.
var ErrBusy = errors.New("no room for one more call of the administration")

// ErrUnsettled says that a write was sent and not answered, so it is unknown whether it
// was done. Drivers wrap it, and keep the idempotency key in use.
var ErrUnsettled = errors.New("nobody knows whether it was done")

// Reader reads the records of an administration. A client sees its own records and the
// system records.
//
// Errors are ErrNotFound, ErrUnexpected, a violation made by mapping.Fail if the
// administration says itself what is wrong, or any other error for a failure: it did not
// answer, or reported that it does not work. The client of the interface sees the last
// two as 500.
type Reader interface {
	// Get returns the record q.ID. Fields that are arrays come only when
	// q.Fields names them, in lists too.
	Get(ctx context.Context, r *mapping.Resource, q Query) (mapping.Record, error)
	// List returns the records that q describes.
	List(ctx context.Context, r *mapping.Resource, q Query) (Page, error)
}

// Driver is one administration. Implementations are safe for concurrent use.
type Driver interface {
	Reader
	// Write runs f, which may read and write through tx: either all of it is done, or, if
	// f fails, nothing. An administration without transactions says so (see Capabilities)
	// and runs f all the same. f may be run more than once, so it must not use results of
	// an earlier run.
	Write(ctx context.Context, f func(tx Tx) error) error
	// Capabilities describes the driver.
	Capabilities() Capabilities
	// Close ends all work and releases the store; calls after it fail.
	Close() error
}

// Tx is a transaction. It reads its own writes, and q.ForUpdate locks a record until the
// transaction ends. A client changes only its own records. Besides the errors of a Reader,
// its methods return ErrStale.
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
	// Recall returns the answer stored under an idempotency key, nil if there is none. It
	// fails with IdempotencyInUse if another write with that key is under way or, for a
	// Driver that is not Atomic, may have been sent. Such a Driver takes the key right
	// before it sends the write, and fails with ErrStale if another has taken it by then.
	Recall(ctx context.Context, client auth.Client, key string) (*StoredAnswer, error)
	// Remember stores m under key for StoredAnswerLife, or for m.Life if that is longer; if the
	// Driver is Atomic, in the same transaction as the records.
	Remember(ctx context.Context, client auth.Client, key string, m StoredAnswer) error
}

// Capabilities describe a driver.
type Capabilities struct {
	Name    string // as the configuration names it
	Store   string // the engine behind it: "sqlite", "postgres", …
	Version string
	// OwnRules says that the administration itself enforces the rules that need other
	// records: references, uniqueness, use, the state of a parent. The Client still
	// judges what can be judged from the record alone: it is a system, blocked, archived
	// or closed record; a field is fixed, or the merged record lacks a required field or
	// has dates in the wrong order.
	OwnRules bool
	// Until says that pages of a list with modified_since have Page.Until.
	Until bool
	// Atomic says that Remember is part of the record's transaction, so a write that
	// failed under a key can be repeated without being done twice. Without it, the key is
	// taken right before the write is sent.
	Atomic bool
	// Parallel is how many writes of one bulk request are done at the same time; 0 means 1.
	Parallel int
	// Distant says that a write takes so long that a client cannot wait for several: bulk
	// writes are done by callback.
	Distant bool
	// Copied says that lists come from a copy, see Query.Copy.
	Copied bool
}

// Prober is a Tx that can check more cheaply than Get whether a record exists.
type Prober interface {
	Exists(ctx context.Context, client auth.Client, r *mapping.Resource, id int32) (bool, error)
}

// Preparer is a Tx that does several writes faster if it knows them in advance.
type Preparer interface {
	// Prepare reads ahead what judging and writing some records takes: those with an ID are
	// updated next, the others created. The writes then have the same effects, but an error
	// of one may come later: from another call, or at the end of the transaction. Prepare
	// returns false if nothing is prepared, so that errors come as usual.
	Prepare(ctx context.Context, client auth.Client, coming []mapping.Record) (bool, error)
}

// Sharer is a Driver some of whose writes may share a transaction with others of the same kind.
// Such writes have no effect outside of the transaction, so one that is rolled back leaves no
// trace, and can be done again in parts.
type Sharer interface {
	Shares(r *mapping.Resource, op mapping.Scope) bool
}

// Supporter is a Driver that does not have all operations of all resources. An
// unsupported operation is not an endpoint. Drivers without this interface support
// everything.
type Supporter interface {
	Supports(r *mapping.Resource, op mapping.Scope) bool
	// Writes reports whether the administration can store a field, even one that is
	// readonly for clients: for example publish_status, if vehicles can be published.
	Writes(r *mapping.Resource, f *mapping.Field) bool
}

// Pinger is a Driver that can tell whether its administration answers.
type Pinger interface {
	Ping(ctx context.Context) error
}

// StoredAnswerLife is the minimum time that an answer is stored under its idempotency key.
const StoredAnswerLife = 24 * time.Hour

// StoredAnswer is an answer kept under an idempotency key.
type StoredAnswer struct {
	Sum    [32]byte // checksum of the request that was answered
	Answer []byte
	Life   time.Duration // if longer than StoredAnswerLife; not set by Recall
}

// AnswerStore keeps answers under idempotency keys, of writes that are done elsewhere. It is
// safe for concurrent use, and what it returns without an error is on disk.
type AnswerStore interface {
	// Recall returns the answer that is kept under a key, nil where there is none. It
	// fails with the violation IdempotencyInUse while the key is taken.
	Recall(ctx context.Context, client auth.Client, key string) (*StoredAnswer, error)
	// Begin takes a key, and returns the mark that identifies this taking. It fails with
	// ErrStale if the key is taken or has an answer by now.
	Begin(ctx context.Context, client auth.Client, key string) (mark int64, err error)
	// Finish keeps the answer under a key that was taken, for StoredAnswerLife, or for
	// m.Life if that is longer. If the key has another mark, Finish does nothing.
	Finish(ctx context.Context, client auth.Client, key string, mark int64, m StoredAnswer) error
	// Abandon gives back the key of a write that did not happen. If the key has another mark,
	// Abandon does nothing. A key that is neither finished nor abandoned stays taken for
	// StoredAnswerLife.
	Abandon(ctx context.Context, client auth.Client, key string, mark int64) error
}

// ModelDescriber is a Driver whose administration describes its resources
// itself. The answer must be a JSON object, and is checked for that.
type ModelDescriber interface {
	DescribeModel(ctx context.Context, name string) ([]byte, error)
}

// Collator is a Driver whose texts compare and sort in another way than by their bytes.
type Collator interface {
	// Collation is the name that the database gives to the collation of a field; "" for a comparison
	// by bytes, and UnknownCollation if SQL computes the texts.
	Collation(r *mapping.Resource, f *mapping.Field) string
}

// UnknownCollation says that nobody knows how texts compare.
const UnknownCollation = "unknown"

// AddressBook is a Driver, or a service, that can look up addresses.
type AddressBook interface {
	// FindAddress completes an address. known is false if the book has no entry for the
	// place; the address may exist all the same.
	FindAddress(ctx context.Context, a Address) (found Address, known bool, err error)
}

// Address is a place as the address check takes and answers it.
type Address struct {
	Street, Addition, Postcode, City string
	HouseNumber                      int
	CountryID                        int32
}

// Query says which records are read, and which of their fields.
type Query struct {
	Client auth.Client
	ID     int32 // Get only

	// Fields are the positions of the wanted fields; nil means those that are answered by
	// default. Other fields may be absent.
	Fields []int
	// ForUpdate locks the record for the rest of the transaction.
	ForUpdate bool
	// Tagged asks for the parts of the entity tag (Get only): for a record with arrays
	// the driver may have to read the elements. Tx.Create and Tx.Update always return
	// them.
	Tagged bool
	// Copy says how old the copy may be that a Driver answers from, and receives its age; nil
	// for any age.
	Copy *Copy

	// List only.
	Filters       []Filter
	Unversioned   bool          // the caller does not use Record.Version: the driver need not compute it
	Decides       bool          // an empty answer decides something: fail if emptiness cannot be known
	None          bool          // a filter has a value that no record can have; only a Driver with Until is called then
	ModifiedSince mapping.Value // inclusive; absent for no bound
	Sort          []Order       // always made total by ID
	Keyset        bool          // keyset paging: in the order of IDs, after After; Sort does not apply
	After         int32         // only records with a higher ID; 0 for all
	Offset, Limit int
	Total         bool // count all matching records too, also those before After
	// Room returns an error if so many records of the page may not have so many bytes of
	// texts and contents in all; nil for no bound.
	Room func(bytes, records int) error
}

// Copy is a Driver's copy of the records of a slow administration, as one request sees it.
type Copy struct {
	// Fresh says that the copy is refreshed first if it is older than Within.
	Fresh  bool
	Within time.Duration
	// StaleIfError is how old the copy may be that answers Get while the administration does not;
	// 0 if the copy may not answer.
	StaleIfError time.Duration

	// Used says that the answer is from the copy, and Age how long ago the copy was last known to
	// equal the administration. Stale says that the administration did not answer.
	Used, Stale bool
	Age         time.Duration
}

// StaleReader is a Driver that has a copy of the records, and can answer from it while the
// administration does not.
type StaleReader interface {
	// Stale returns the record as the copy has it, and sets q.Copy. It fails if the copy is older
	// than q.Copy.StaleIfError.
	Stale(ctx context.Context, r *mapping.Resource, q Query) (mapping.Record, error)
}

// Order is one key of the sort order.
type Order struct {
	Field      *mapping.Field
	Descending bool
}

// Page is one page of a list.
type Page struct {
	Records []mapping.Record
	More    bool  // there is a next page
	Total   int64 // where Query.Total asked for it
	// Until is the value for the next Query.ModifiedSince: every change that is not on
	// this page has this modified_at or a later one. A Driver with Capabilities.Until
	// sets it if Query.ModifiedSince is set; absent if it is not known now.
	Until mapping.Value
	bytes int // of the texts and contents on the page, see Add
}

// fit shortens the page of a driver that reads whole pages to what there is room for.
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

// Add adds a record to the page of a list. It returns false if the page ends before that
// record: the page has as many records as were asked for or, in a list by ID, as many
// bytes as there is room for. Add fails if a list in another order does not fit, or if a
// single record does not fit.
func (p *Page) Add(q *Query, rec mapping.Record) (added bool, err error) {
	if q.Limit > 0 && len(p.Records) == q.Limit {
		p.More = true
		return false, nil
	}
	if q.Room != nil {
		p.bytes += rec.BytesOf(q.Fields)
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

// Copier is a Driver that lists from a copy.
type Copier interface {
	// Copies returns the state of the copy of each resource, and of each client that has a copy
	// of its own.
	Copies(ctx context.Context) ([]CopyState, error)
}

// CopyState is the state of a copy.
type CopyState struct {
	Resource string
	Client   auth.Client   // whose records they are; zero where one copy has those of all
	Known    time.Time     // when the copy was last known to equal the administration; zero if it is not complete
	Age      time.Duration // since Known
	Records  int64         // found by the last walk
	Walking  bool          // by this gateway or another
	Seen     int64         // records that this gateway's walk has found so far
	Failed   string        // why walks have failed since FailedAt; "" if the last one succeeded
	FailedAt time.Time
}

// Changing is a Driver whose administration belongs to others, who may change it.
type Changing interface {
	// Closed returns what is closed until the administration again has what it needs.
	Closed() []Closing
	// LeftOut returns how many records were left out of lists, because a field has a value
	// that cannot be converted.
	LeftOut() map[Place]int64
}

// Place is a field of a resource.
type Place struct{ Resource, Field string }

// Closing is a resource that is closed because the administration lacks something.
type Closing struct {
	Resource string
	Reads    bool   // reads are closed, not only writes
	What     string // what is lacking
	Since    time.Time
}
