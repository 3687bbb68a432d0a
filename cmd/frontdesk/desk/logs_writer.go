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

// logRoom is, by kind, how many bytes may wait for the reader of the log, that line included. Access lines have
// the least, so that they push out no others; audit lines have the most, so that nothing pushes them out.
var logRoom = [logKinds]int{accessLog: 4 << 20, appLog: 5 << 20, auditLog: 6 << 20}

const (
	// logBatch is how many waiting bytes cause a write before delay is over.
	logBatch = 256 << 10
	// LogPatience is how long the end of the program, or an audit line, waits for the reader of
	// the log.
	LogPatience = 2 * time.Second
	// stallPatience is how long writing must have been stuck before that is reported.
	stallPatience = 10 * time.Second
)

// logWriter passes the lines of the log to a file, a pipe or a terminal. Logging never waits for it,
// even if its reader hangs. Lines that are not taken in time are kept as far as there is room, then
// dropped and counted; a line in their place says how many. The order of lines is kept.
type logWriter struct {
	out      io.Writer
	encoder  zapcore.Encoder    // for the line about lost lines
	patience time.Duration      // LogPatience; tests set another
	flushes  chan chan struct{} // wakes run to write; it closes the channel, if not nil, when it has written
	ending   chan struct{}
	ended    chan struct{}
	end      sync.Once
	dropped  [logKinds]atomic.Int64
	stuck    atomic.Int64          // since when writing is stuck, in Unix nanoseconds; 0 if it is not
	fault    atomic.Pointer[error] // why writing is stuck

	mu      sync.Mutex
	waiting []byte // whole lines
	lost    [logKinds]int
	since   time.Time // when the first of the lost lines was lost; zero if none is

	batch []byte // being written; only run uses it
	rest  []byte // the part of batch that is not yet written
}

func newLogWriter(out io.Writer, encoder zapcore.Encoder, delay time.Duration) *logWriter {
	w := &logWriter{out: out, encoder: encoder, patience: LogPatience, flushes: make(chan chan struct{}, 1), ending: make(chan struct{}), ended: make(chan struct{})}
	go w.run(delay)
	return w
}

// add keeps a line until it is written, or drops it. Once a line is dropped, the following lines of
// its kind are dropped too, until take has put the line about lost lines in their place.
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
	for range 2 { // the rest of the last batch, then the waiting lines
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

// stalled returns since when and why writing has been stuck, if for longer than stallPatience; else zero. The lines
// wait meanwhile, and may all still be written.
func (w *logWriter) stalled() (since time.Time, why string) {
	if w == nil {
		return time.Time{}, ""
	}
	since = time.Unix(0, w.stuck.Load())
	if since.UnixNano() == 0 || time.Since(since) < stallPatience {
		return time.Time{}, ""
	}
	if fault := w.fault.Load(); fault != nil {
		return since, (*fault).Error()
	}
	return since, "whoever reads it does not"
}

// take makes the waiting lines the next batch, followed by a line about lost lines.
func (w *logWriter) take() {
	w.mu.Lock()
	defer w.mu.Unlock()
	if !w.since.IsZero() {
		w.waiting = append(w.waiting, w.lostLine()...)
		w.lost, w.since = [logKinds]int{}, time.Time{}
	}
	w.batch, w.waiting = w.waiting, w.batch[:0]
	if cap(w.waiting) > 4*logBatch { // the buffer grew in a stall that is over
		w.waiting = nil
	}
	w.rest = w.batch
}

// lostLine makes the line that says how many lines were lost, and since when.
func (w *logWriter) lostLine() []byte {
	all, fields := 0, []zap.Field{zap.Time("since", w.since)}
	for kind, n := range w.lost {
		all += n
		fields = append(fields, zap.Int(logKindNames[kind], n))
	}
	entry := zapcore.Entry{Level: zapcore.WarnLevel, Time: time.Now(), Message: "lines of the log were lost: whoever reads it did not take them"}
	line, err := w.encoder.Clone().EncodeEntry(entry, append(fields, zap.Int("lines", all)))
	if err != nil {
		return nil // encoding cannot fail with these fields
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

// stop flushes for the last time. If the reader hangs, the writing goroutine ends with the program.
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

// logStream writes lines of one kind to a logWriter.
type logStream struct {
	w    *logWriter
	kind logKind
}

var _ zapcore.WriteSyncer = logStream{}

// Write implements io.Writer. It never fails.
func (s logStream) Write(line []byte) (int, error) {
	s.w.add(s.kind, line)
	return len(line), nil
}

// Sync implements zapcore.WriteSyncer.
func (s logStream) Sync() error {
	s.w.flush()
	return nil
}
