package desk

import (
	"errors"
	"net"
	"slices"
	"time"

	"go.uber.org/zap"
)

// basis is what every part may use, and what needs no part.
type basis struct {
	supervisor *Supervisor
	log        *zap.Logger
	logs       *Logs
	after      func(time.Duration) <-chan time.Time
	now        func() time.Time // of callbacks and derived fields
	metrics    *metrics
	tracing    *tracing // nil if tracing is off
	bounds     Bounds
	releases   []func() error
}

func newBasis(p Program, logs *Logs, tracing *tracing) *basis {
	b := &basis{supervisor: p.Supervisor, log: logs.Log, logs: logs, after: p.timer(), now: p.clock(), metrics: newMetrics(), tracing: tracing, bounds: p.bounds()}
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
