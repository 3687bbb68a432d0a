package desk

import (
	"io"
	"os"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"

	"frontdesk/config"
)

// Logs write the log of the program.
type Logs struct {
	Log    *zap.Logger
	access *zap.Logger // a line per request
	audit  *zap.Logger // changes that people made, at every level
	level  zap.AtomicLevel
	lines  *logWriter // nil if no log is written
}

// LogDelay is how late a line may be written.
const LogDelay = time.Second

// NewLogs writes structured lines. They are buffered: one write takes many lines, each at most delay
// late. A slow reader does not block the program: see logWriter.
func NewLogs(c config.Log, out io.Writer, delay time.Duration) (*Logs, error) {
	return newLogs(c.Level, zapcore.NewJSONEncoder, out, delay)
}

// NewPlainLogs writes lines for people.
func NewPlainLogs(out io.Writer) (*Logs, error) {
	return newLogs("info", zapcore.NewConsoleEncoder, out, LogDelay)
}

func newLogs(least string, encode func(zapcore.EncoderConfig) zapcore.Encoder, out io.Writer, delay time.Duration) (*Logs, error) {
	level, err := zap.ParseAtomicLevel(least)
	if err != nil {
		return nil, err
	}
	encoding := zap.NewProductionEncoderConfig()
	encoding.EncodeTime = zapcore.ISO8601TimeEncoder
	encoder := encode(encoding)
	w := newLogWriter(out, encoder, delay)
	return &Logs{
		Log:    zap.New(zapcore.NewCore(encoder, logStream{w, appLog}, level)),
		access: zap.New(zapcore.NewCore(encoder, logStream{w, accessLog}, level)),
		audit:  zap.New(zapcore.NewCore(encoder, logStream{w, auditLog}, zapcore.DebugLevel)).Named("audit"),
		level:  level, lines: w,
	}, nil
}

// NoLogs discards all lines.
func NoLogs() *Logs {
	nop := zap.NewNop()
	return &Logs{Log: nop, access: nop, audit: nop, level: zap.NewAtomicLevel()}
}

// Stop writes the remaining lines, as far as the reader takes them. Later lines are lost.
func (l *Logs) Stop() { l.lines.stop() }

// logMetric exports for how long the log has not been written.
func (h *Desk) logMetric() prometheus.Collector {
	return prometheus.NewGaugeFunc(prometheus.GaugeOpts{Name: "frontdesk_log_behind_seconds", Help: "Since when the log could not be written: its disk is full, or its reader hangs. 0 where it is."}, func() float64 {
		since, _ := h.logs.lines.stalled()
		if since.IsZero() {
			return 0
		}
		return time.Since(since).Seconds()
	})
}

// judgeLog reports in /readyz that the log is not being written.
func (h *Desk) judgeLog(now *Health) {
	if since, why := h.logs.lines.stalled(); !since.IsZero() {
		now.degraded("the log has not been written since %s: %s", since.UTC().Format(time.RFC3339), why)
	}
}

// set sets the least level that is written.
func (l *Logs) set(level string) {
	if to, err := zapcore.ParseLevel(level); err == nil { // the configuration has judged the level
		l.level.SetLevel(to)
	}
}

// OpenLog opens a log file that only its owner can read.
func OpenLog(path string) (*os.File, error) {
	return os.OpenFile(path, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
}
