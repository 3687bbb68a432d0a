package desk

import (
	"os"
	"time"

	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"

	"frontdesk/config"
)

// Logs are where the program writes what happens.
type Logs struct {
	Log   *zap.Logger
	audit *zap.Logger // of changes that somebody made; whatever the level
	level zap.AtomicLevel
	Stop  func() error // writes what is left
}

// LogDelay is how late a line may be written.
const LogDelay = time.Second

// NewLogs writes structured lines. They are buffered: one write for many lines,
// at most that much late.
func NewLogs(c config.Log, out zapcore.WriteSyncer, delay time.Duration) (*Logs, error) {
	level, err := zap.ParseAtomicLevel(c.Level)
	if err != nil {
		return nil, err
	}
	encoding := zap.NewProductionEncoderConfig()
	encoding.EncodeTime = zapcore.ISO8601TimeEncoder
	encoder := zapcore.NewJSONEncoder(encoding)
	if c.Format == "console" {
		encoder = zapcore.NewConsoleEncoder(encoding)
	}
	buffered := &zapcore.BufferedWriteSyncer{WS: out, FlushInterval: delay}
	return &Logs{
		Log:   zap.New(zapcore.NewCore(encoder, buffered, level)),
		audit: zap.New(zapcore.NewCore(encoder, buffered, zapcore.DebugLevel)).Named("audit"),
		level: level, Stop: buffered.Stop,
	}, nil
}

// set has lines of that level and above written.
func (l *Logs) set(level string) {
	if to, err := zapcore.ParseLevel(level); err == nil { // which was judged with the configuration
		l.level.SetLevel(to)
	}
}

// OpenLog opens a log file, which only its owner can read.
func OpenLog(path string) (*os.File, error) {
	return os.OpenFile(path, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
}
