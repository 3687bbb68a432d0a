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
	*service
}

// core is what the parts of a Store share.
type core struct {
	Options
	catalogue *mapping.Catalogue
	scanners  scanners
	holds     holds
}

var (
	_ backend.Driver       = (*Store)(nil)
	_ backend.Pinger       = (*Store)(nil)
	_ backend.Pooler       = (*Store)(nil)
	_ backend.Supporter    = (*Store)(nil)
	_ auth.Accounts        = (*Store)(nil)
	_ backend.ChangeTeller = (*Store)(nil)
	_ backend.Tx           = (*transaction)(nil)
)

// Open makes a Store of the sheet's service, which may be down.
func Open(o Options) (*Store, error) {
	s, err := newStore(o)
	if err != nil {
		return nil, err
	}
	if err := s.checkIDStore(); err != nil {
		return nil, errors.Join(err, s.Close())
	}
	return s, nil
}

// Judge returns the problems of a sheet that Open would find.
func Judge(sh *sheet.Sheet) error {
	s, err := newStore(Options{Sheet: sh})
	if err == nil {
		err = s.Close()
	}
	return err
}

func newStore(o Options) (*Store, error) {
	if o.Sheet.Source.HTTP == nil {
		return nil, errors.New("driver remote needs a sheet with source.http")
	}
	c := &core{Options: o.withDefaults(), catalogue: mapping.NewCatalogue()}
	s, err := openService(c)
	if err != nil {
		return nil, err
	}
	return &Store{Elsewhere: auth.Elsewhere{Where: o.Sheet.Accounts.ForgotPassword}, core: c, service: s}, nil
}

// mostLogins is how many connections are reserved for logins at most, one in four.
const mostLogins = 32

// LoginsAtOnce is how many credentials the service may be asked about at once, so that
// connections are left for calls; 0 if the service is not asked.
func (s *Store) LoginsAtOnce() int {
	if len(s.Sheet.Accounts.Users) > 0 {
		return 0
	}
	return min(max(1, cap(s.wire.pool.slots)/4), mostLogins)
}

// Pool implements backend.Pooler. One connection is reserved for asking whether the service
// answers.
func (s *Store) Pool() backend.Pool {
	slots := s.wire.pool.slots
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
