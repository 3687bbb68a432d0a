package desk

import (
	"errors"
	"fmt"
	"net"
	"slices"
	"syscall"
	"time"

	"go.uber.org/zap"
)

// basis is what every part may use, and what needs no part.
type basis struct {
	supervisor *Supervisor
	log        *zap.Logger
	logs       *Logs
	after      func(time.Duration) <-chan time.Time
	now        func() time.Time // of callbacks, circuits and derived fields
	metrics    *metrics
	tracing    *tracing // nil if tracing is off
	bounds     Bounds
	releases   []func() error
}

func newBasis(p Program, logs *Logs, tracing *tracing) *basis {
	b := &basis{supervisor: p.Supervisor, log: logs.Log, logs: logs, after: p.timer(), now: p.clock(), metrics: newMetrics(), tracing: tracing, bounds: defaultBounds()}
	if p.Bound != nil {
		p.Bound(&b.bounds)
	}
	b.onClose(tracing.close)
	return b
}

// onClose has something released at the end, last opened first.
func (b *basis) onClose(release func() error) { b.releases = append(b.releases, release) }

// Close releases what Build opened.
func (b *basis) Close() {
	for _, release := range slices.Backward(b.releases) {
		if err := release(); err != nil && !errors.Is(err, net.ErrClosed) {
			b.log.Error("a part could not be closed", zap.Error(err))
		}
	}
}

// listen opens the listener of an address, or takes the one that systemd handed over by that name.
// Its error says plainly that another program has the address, which is the usual cause.
func listen(b *basis, name, address string) (l net.Listener, err error) {
	if l = b.supervisor.activated(name); l == nil {
		l, err = net.Listen("tcp", address)
	}
	if errors.Is(err, syscall.EADDRINUSE) {
		err = fmt.Errorf("cannot serve on %s: %w by another program", address, syscall.EADDRINUSE)
	}
	if err != nil {
		return nil, err
	}
	b.onClose(l.Close)
	return l, nil
}
