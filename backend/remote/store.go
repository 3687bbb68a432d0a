package remote

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"go.uber.org/zap"

	"frontdesk/auth"
	"frontdesk/backend"
	"frontdesk/backend/follow"
	"frontdesk/mapping"
	"frontdesk/mapping/sheet"
)

// Options say what a Store works with. Sheet is required, the rest has defaults.
type Options struct {
	Sheet *sheet.Sheet
	// IDStore is where IDs and answers are kept that the service has no place for.
	// It may be nil where none are needed.
	IDStore IDStore
	// Hasher judges the passwords of users that the sheet lists.
	Hasher *auth.Hasher
	// RequestID returns the id of the request that a call is made for; "" for none.
	RequestID func(ctx context.Context) string
	// Trace returns the headers traceparent and tracestate of the trace that a call
	// belongs to, "" for none; nil where there are no traces.
	Trace func(ctx context.Context) (parent, state string)
	// Log is told of what no client is; nil for nobody.
	Log *zap.Logger
	Now func() time.Time
	// Random returns a number from 0 up to 1, for the wait before a retry.
	Random func() float64
}

// aboutHeaders tells the service which request and which trace a call belongs to.
func (o *Options) aboutHeaders(ctx context.Context, head []byte) []byte {
	add := func(name, value string) bool {
		if value == "" || !isHeader(value) {
			return false
		}
		head = appendHeaders(head, [][2]string{{name, value}})
		return true
	}
	add("X-Request-Id", o.RequestID(ctx))
	if o.Trace == nil {
		return head
	}
	if parent, state := o.Trace(ctx); add("traceparent", parent) {
		add("tracestate", state)
	}
	return head
}

func (o Options) withDefaults() Options {
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Log == nil {
		o.Log = zap.NewNop()
	}
	if o.RequestID == nil {
		o.RequestID = func(context.Context) string { return "" }
	}
	if o.Random == nil {
		o.Random = func() float64 { return 0.5 }
	}
	return o
}

// IDStore is the gateway's own store, for what the service cannot keep. backend/idstore is
// one.
type IDStore interface {
	sheet.IDStore
	backend.AnswerStore
	// Take waits until no other gateway writes a record, and keeps them all from it
	// until release is called, or ctx ends. client is 0 where all share the record.
	// release waits no longer than its own ctx.
	Take(ctx context.Context, resource string, client int64, id int32) (release func(ctx context.Context), err error)
}

// Store is an administration behind an HTTP service. It is safe for concurrent use.
type Store struct {
	auth.Elsewhere // its users change their passwords there
	follow.Teller
	*core
	speaker
}

// core is what the parts of a Store share.
type core struct {
	Options
	catalogue *mapping.Catalogue
	scanners  scanners
	holds     holds
}

// speaker makes the calls of a Store: a service by its sheet, or an adapter by the frontdesk
// protocol.
type speaker interface {
	// get returns a record, and where q.ForUpdate holds it what the service has of it, for
	// update.
	get(ctx context.Context, r *mapping.Resource, q backend.Query) (rec mapping.Record, row []sheet.Raw, err error)
	// List returns a page of records.
	List(ctx context.Context, r *mapping.Resource, q backend.Query) (backend.Page, error)
	// create stores a record. key is that of the request where the service keeps
	// such keys itself, and replayed then tells that it had done this before.
	create(ctx context.Context, client auth.Client, rec mapping.Record, key string) (stored mapping.Record, replayed bool, err error)
	update(ctx context.Context, client auth.Client, before, patch mapping.Record, row []sheet.Raw) (mapping.Record, error)
	delete(ctx context.Context, client auth.Client, before mapping.Record) error
	// Supports tells which operations the service has.
	Supports(r *mapping.Resource, op mapping.Scope) bool
	// Ping asks whether the service answers.
	Ping(ctx context.Context) error
	// DescribeModel returns the service's own description of a resource; nil if it has none.
	DescribeModel(ctx context.Context, name string) ([]byte, error)
	verify(ctx context.Context, c auth.Credentials) (auth.User, error)
	findUser(ctx context.Context, username string) (auth.User, error)
	// Capabilities tells what the service is.
	Capabilities() backend.Capabilities
	// Probe reads a page of a resource, at most q.Limit records. The error is that of the call
	// itself.
	Probe(ctx context.Context, r *mapping.Resource, q backend.Query) (Probed, error)
	// keepsKeys tells that the service keeps idempotency keys, and all else that a
	// repetition must be judged by, itself.
	keepsKeys() bool
	pool() *pool
	// Close ends all calls and connections.
	Close() error
}

var (
	_ backend.Driver         = (*Store)(nil)
	_ backend.Pinger         = (*Store)(nil)
	_ backend.Pooler         = (*Store)(nil)
	_ backend.Supporter      = (*Store)(nil)
	_ backend.ModelDescriber = (*Store)(nil)
	_ auth.Accounts          = (*Store)(nil)
	_ backend.ChangeTeller   = (*Store)(nil)
	_ backend.Tx             = (*transaction)(nil)
)

// Open makes a Store of the sheet's service. A service that speaks the protocol must answer,
// because it is asked what it offers; any other service may be down.
func Open(ctx context.Context, o Options) (*Store, error) {
	c := newCore(o)
	sp, err := newSpeaker(c)
	if err != nil {
		return nil, err
	}
	if a, ok := sp.(*adapter); ok {
		if err := a.open(ctx); err != nil {
			return nil, errors.Join(err, sp.Close())
		}
		narrowed := *o.Sheet
		narrowed.Model = a.model
		c.Sheet = &narrowed
	}
	s := &Store{Elsewhere: auth.Elsewhere{Where: o.Sheet.Accounts.ForgotPassword}, core: c, speaker: sp}
	if err := s.checkIDStore(); err != nil {
		return nil, errors.Join(err, sp.Close())
	}
	return s, nil
}

// Judge returns the problems of a sheet that Open would find without asking the service.
func Judge(sh *sheet.Sheet) error {
	sp, err := newSpeaker(newCore(Options{Sheet: sh}))
	if err == nil {
		err = sp.Close()
	}
	return err
}

func newCore(o Options) *core {
	return &core{Options: o.withDefaults(), catalogue: mapping.NewCatalogue()}
}

// newSpeaker makes the speaker of the sheet's service, without asking the service anything.
func newSpeaker(c *core) (speaker, error) {
	switch source := c.Sheet.Source; {
	case source.Frontdesk != nil:
		return newAdapter(c)
	case source.HTTP != nil:
		return openService(c)
	default:
		return nil, errors.New("driver remote needs a sheet with source.http or source.frontdesk")
	}
}

// mostLogins is how many connections are reserved for logins at most, one in four.
const mostLogins = 32

// LoginsAtOnce is how many credentials the service may be asked about at once, so that
// connections are left for calls; 0 if the service is not asked.
func (s *Store) LoginsAtOnce() int {
	if len(s.Sheet.Accounts.Users) > 0 {
		return 0
	}
	return min(max(1, cap(s.pool().slots)/4), mostLogins)
}

// Pool implements backend.Pooler. One connection is reserved for asking whether the service
// answers.
func (s *Store) Pool() backend.Pool {
	slots := s.pool().slots
	return backend.Pool{InUse: len(slots), Most: cap(slots), Calls: max(1, cap(slots)-s.LoginsAtOnce()-1)}
}

// checkIDStore fails if the sheet needs an id store and there is none.
func (s *Store) checkIDStore() error {
	if s.IDStore != nil {
		return nil
	}
	if s.Sheet.NeedsKeep() {
		return errors.New("the sheet has keys that IDs are given out for (key.id: kept), which needs keep: FILE")
	}
	if s.keepsKeys() {
		return nil
	}
	for _, r := range s.Sheet.Model.Resources {
		if s.Supports(r, mapping.OpCreate) {
			return errors.New("answers under an Idempotency-Key must be kept, which needs keep: FILE")
		}
	}
	return nil
}

// Get returns one record.
func (s *Store) Get(ctx context.Context, r *mapping.Resource, q backend.Query) (mapping.Record, error) {
	rec, _, err := s.get(ctx, r, q)
	return rec, err
}

// scanners are kept for the next answer. Those of XML are not worth it.
type scanners struct{ jsons sync.Pool }

func (p *scanners) json() *jsonScanner {
	if s, ok := p.jsons.Get().(*jsonScanner); ok {
		return s
	}
	return &jsonScanner{}
}

func (p *scanners) free(s *jsonScanner) {
	s.text = ""
	s.rows.reset()
	p.jsons.Put(s)
}

// unexpected marks an answer that the sheet does not foresee, of a service that works.
func unexpected(err error) error { return fmt.Errorf("%w: %w", backend.ErrUnexpected, err) }
