package desk

import (
	"io"
	"sync"
	"sync/atomic"
	"time"

	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"
)

// logKind is a kind of lines of the log.
type logKind int

const (
	accessLog logKind = iota
	appLog
	auditLog
	logKinds
)

var logKindNames = [logKinds]string{accessLog: "access", appLog: "app", auditLog: "audit"}

// logRoom is how many bytes of lines may wait for the reader of the log when one more of each kind is to
// wait as well: so requests push out no other lines, and nothing pushes out the audit.
var logRoom = [logKinds]int{accessLog: 4 << 20, appLog: 5 << 20, auditLog: 6 << 20}

const (
	// logBatch is how many bytes are written at once while there is much to write.
	logBatch = 256 << 10
	// LogPatience is how long the end of the program, or an audit line, waits for the reader of
	// the log.
	LogPatience = 2 * time.Second
	// logBehind is how long nothing could be written before operators are told.
	logBehind = 10 * time.Second
)

// logWriter passes the lines of the log to a file, a pipe or a terminal. Nobody who logs waits for
// it, even if its reader hangs. Lines that are not taken in time are kept as far as there is room,
// then dropped and counted; a line in their place says how many. The order of lines is kept.
type logWriter struct {
	out      io.Writer
	encoder  zapcore.Encoder    // of the line about lost ones
	patience time.Duration      // LogPatience, or a test's
	flushes  chan chan struct{} // nil: there is much to write
	ending   chan struct{}
	ended    chan struct{}
	end      sync.Once
	dropped  [logKinds]atomic.Int64
	stuck    atomic.Int64          // since when lines cannot be written, in Unix nanoseconds; 0 where they can
	fault    atomic.Pointer[error] // why

	mu      sync.Mutex
	waiting []byte // lines, whole ones
	lost    [logKinds]int
	since   time.Time // that the first of them was lost; zero where none is

	batch []byte // that is being written; the writing goroutine's own
	rest  []byte // of it
}

func newLogWriter(out io.Writer, encoder zapcore.Encoder, delay time.Duration) *logWriter {
	w := &logWriter{out: out, encoder: encoder, patience: LogPatience, flushes: make(chan chan struct{}, 1), ending: make(chan struct{}), ended: make(chan struct{})}
	go w.run(delay)
	return w
}

// add keeps a line until it is written, or drops it. After a line was dropped, so are
// those that follow it, until the gap has a place of its own between two batches.
func (w *logWriter) add(kind logKind, line []byte) {
	w.mu.Lock()
	defer w.mu.Unlock()
	before := len(w.waiting)
	if w.lost[kind] > 0 || before+len(line) > logRoom[kind] {
		if w.since.IsZero() {
			w.since = time.Now()
		}
		w.lost[kind]++
		w.dropped[kind].Add(1)
		return
	}
	w.waiting = append(w.waiting, line...)
	if before < logBatch && len(w.waiting) >= logBatch {
		select {
		case w.flushes <- nil:
		default:
		}
	}
}

// run writes until the end.
func (w *logWriter) run(delay time.Duration) {
	defer close(w.ended)
	tick := time.NewTicker(delay)
	defer tick.Stop()
	for {
		select {
		case <-tick.C:
			w.write()
		case done := <-w.flushes:
			w.write()
			if done != nil {
				close(done)
			}
		case <-w.ending:
			w.write()
			return
		}
	}
}

// write writes the waiting lines. The part of a batch that could not be written, for example to a
// full disk, is tried again with the next batch.
func (w *logWriter) write() {
	for range 2 { // what is left, and what waits
		if len(w.rest) == 0 {
			w.take()
		}
		if len(w.rest) == 0 {
			return
		}
		w.stuck.CompareAndSwap(0, time.Now().UnixNano())
		n, err := w.out.Write(w.rest)
		w.rest = w.rest[min(n, len(w.rest)):]
		if err != nil {
			w.fault.Store(&err)
			return
		}
		w.stuck.Store(0)
		w.fault.Store(nil)
	}
}

// behind tells since when lines could not be written, if that is longer than logBehind, and why; zero where
// they can be. They wait, and none of them may be lost yet.
func (w *logWriter) behind() (since time.Time, why string) {
	if w == nil {
		return time.Time{}, ""
	}
	since = time.Unix(0, w.stuck.Load())
	if since.UnixNano() == 0 || time.Since(since) < logBehind {
		return time.Time{}, ""
	}
	if fault := w.fault.Load(); fault != nil {
		return since, (*fault).Error()
	}
	return since, "whoever reads it does not"
}

// take moves the waiting lines to the batch that is written next, with a line about those missing
// behind them.
func (w *logWriter) take() {
	w.mu.Lock()
	defer w.mu.Unlock()
	if !w.since.IsZero() {
		w.waiting = append(w.waiting, w.lostLine()...)
		w.lost, w.since = [logKinds]int{}, time.Time{}
	}
	w.batch, w.waiting = w.waiting, w.batch[:0]
	if cap(w.waiting) > 4*logBatch { // of a stall that is over
		w.waiting = nil
	}
	w.rest = w.batch
}

// lostLine says how many lines are missing, and since when.
func (w *logWriter) lostLine() []byte {
	all, fields := 0, []zap.Field{zap.Time("since", w.since)}
	for kind, n := range w.lost {
		all += n
		fields = append(fields, zap.Int(logKindNames[kind], n))
	}
	entry := zapcore.Entry{Level: zapcore.WarnLevel, Time: time.Now(), Message: "lines of the log were lost: whoever reads it did not take them"}
	line, err := w.encoder.Clone().EncodeEntry(entry, append(fields, zap.Int("lines", all)))
	if err != nil {
		return nil // it cannot fail with these fields
	}
	defer line.Free()
	return append([]byte(nil), line.Bytes()...)
}

// flush writes everything that was logged before, or returns when its patience is over.
func (w *logWriter) flush() {
	enough, done := time.After(w.patience), make(chan struct{})
	select {
	case w.flushes <- done:
	case <-w.ended:
		return
	case <-enough:
		return
	}
	select {
	case <-done:
	case <-w.ended:
	case <-enough:
	}
}

// stop is the last flush. A goroutine that a hanging reader holds up ends with the program.
func (w *logWriter) stop() {
	if w == nil {
		return
	}
	w.end.Do(func() { close(w.ending) })
	select {
	case <-w.ended:
	case <-time.After(w.patience):
	}
}

// logStream is a logWriter as the lines of one kind see it.
type logStream struct {
	w    *logWriter
	kind logKind
}

var _ zapcore.WriteSyncer = logStream{}

// Write implements io.Writer. It takes everything.
func (s logStream) Write(line []byte) (int, error) {
	s.w.add(s.kind, line)
	return len(line), nil
}

// Sync implements zapcore.WriteSyncer.
func (s logStream) Sync() error {
	s.w.flush()
	return nil
}
