package remote

import (
	"context"
	"errors"
	"fmt"
	"net"
	"time"

	"go.uber.org/zap"

	"frontdesk/auth"
	"frontdesk/backend"
	"frontdesk/backend/sqlrecord"
	"frontdesk/mapping"
	"frontdesk/mapping/sheet"
)

// Options say what a Driver works with. Sheet, DB and Model are required, the rest has defaults.
type Options struct {
	Sheet *sheet.Sheet
	// IDStore keeps the IDs and answers that the service has no place for. It may be
	// nil if none are needed.
	IDStore IDStore
	// Hasher judges the passwords of users that the sheet lists.
	Hasher *auth.Hasher
	// RequestID returns the id of the request that a call is made for; "" for none.
	RequestID func(ctx context.Context) string
	// Trace returns the headers traceparent and tracestate of the trace that a call
	// belongs to, "" for none; nil where there are no traces.
	Trace func(ctx context.Context) (parent, state string)
	// Log gets what concerns no single request; may be nil.
	Log *zap.Logger
	Now func() time.Time
	// Random returns a number from 0 up to 1, for the wait before a retry.
	Random func() float64

	// DB has the copy. Model is the gateway's, which includes the sheet's. KeepChanges is how long
	// cursors of changes are good. Timeout bounds calls of the service that serve several requests
	// at once.
	DB          sqlrecord.DB
	Model       *mapping.Model
	KeepChanges time.Duration
	Timeout     time.Duration
	// Closely has walks request one page more, after the end that the answers report.
	Closely bool
	// Dial connects to the service; nil stands for the system's.
	Dial func(ctx context.Context, network, address string) (net.Conn, error)
}

// aboutHeaders appends the headers that name the request and the trace of a call.
func (o *Options) aboutHeaders(ctx context.Context, head []byte) []byte {
	parent, state := "", ""
	if o.Trace != nil {
		parent, state = o.Trace(ctx)
	}
	for _, h := range [...][2]string{{"X-Request-Id", o.RequestID(ctx)}, {"traceparent", parent}, {"tracestate", state}} {
		if h[1] != "" && isHeader(h[1]) {
			head = appendHeader(head, h[0], h[1])
		}
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
	if o.Dial == nil {
		o.Dial = (&net.Dialer{Timeout: connectTime, KeepAlive: 15 * time.Second}).DialContext
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
	// Take waits until no other gateway writes a record, and locks the record against
	// them until release is called, or ctx ends. client is 0 if all share the record.
	// release waits no longer than its own ctx.
	Take(ctx context.Context, resource string, client int64, id int32) (release func(ctx context.Context), err error)
}

// core is what the parts of a Driver share.
type core struct {
	Options
	holds holds
}

// errNoService says that a sheet describes a database.
var errNoService = errors.New("driver remote needs a sheet with source.http")

// Judge returns the problems of a sheet that OpenDriver would find.
func Judge(sh *sheet.Sheet) error {
	if sh.Source.Service == nil {
		return errNoService
	}
	return nil
}

// unexpected marks an answer that the sheet does not foresee, of a service that works.
func unexpected(err error) error { return fmt.Errorf("%w: %w", backend.ErrUnexpected, err) }
