package main

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"
	"time"

	"golang.org/x/term"

	"frontdesk/cmd/frontdesk/desk"
)

// accessLine is what the tools read of a line of the access log.
type accessLine struct {
	Time     logTime `json:"ts"`
	Message  string  `json:"msg"`
	Key      string  `json:"key"`
	Method   string  `json:"method"`
	Endpoint string  `json:"endpoint"` // the operation's template: /order/{id}
	Status   int     `json:"status"`
	Reason   string  `json:"reason"`
	Shadow   string  `json:"shadow"`

	Query []string `json:"query"`
	Needs []string `json:"needs"` // of the allowlist, for arrays; nil in the log of a version that does not tell
	Lacks []string `json:"lacks"` // which of it the allowlist does not grant
}

// logTime is when a line was written. It does not embed the time, which would read
// itself in one form only.
type logTime struct{ at time.Time }

// logTimes are the forms of a line's time: the program's own, and that of tools
// that write lines again.
var logTimes = [...]string{"2006-01-02T15:04:05.000Z0700", time.RFC3339Nano}

func (t *logTime) UnmarshalText(text []byte) (err error) {
	for _, form := range logTimes {
		if t.at, err = time.Parse(form, string(text)); err == nil {
			return nil
		}
	}
	return err
}

// logFlags say which lines of which access logs are read.
type logFlags struct {
	Since logSince `placeholder:"WHEN" help:"Read only what is newer: 14d, 36h, 2026-11-01 or 2026-11-01T12:00:00Z."`
	Logs  []string `arg:"" name:"log" help:"Access logs (JSON lines), rotated ones too, plain or gzip; - for standard input."`
}

// logSince is a moment, or how long ago it was.
type logSince struct {
	at  moment
	ago time.Duration
}

// UnmarshalText reads 14d, 36h, 2026-11-01 (in the time zone of this machine) or a
// time as RFC 3339 has it.
func (s *logSince) UnmarshalText(text []byte) error {
	if days, ok := wholeDays(string(text)); ok {
		s.ago = time.Duration(days) * 24 * time.Hour
		return nil
	}
	if ago, err := time.ParseDuration(string(text)); err == nil && ago > 0 {
		s.ago = ago
		return nil
	}
	if s.at.UnmarshalText(text) == nil {
		return nil
	}
	return errors.New("expected a time span such as 14d or 36h, or a date such as 2026-11-01")
}

func (s logSince) from(now time.Time) time.Time {
	if s.ago > 0 {
		return now.Add(-s.ago)
	}
	return s.at.Time
}

// wholeDays reads 14d.
func wholeDays(text string) (days int, ok bool) {
	number, ok := strings.CutSuffix(text, "d")
	n, err := strconv.ParseUint(number, 10, 16)
	return int(n), ok && err == nil
}

// logSummary is what was read, beside the lines themselves.
type logSummary struct {
	Lines  int64     `json:"lines"`  // of the access log, within the time asked for
	Older  int64     `json:"older"`  // of the access log, before it
	Other  int64     `json:"other"`  // of anything else
	Oldest time.Time `json:"oldest"` // line within the time asked for; zero without any
	Newest time.Time `json:"newest"`
}

// String tells in a sentence what was read.
func (s logSummary) String() string {
	if s.Lines == 0 {
		return fmt.Sprintf("no line of an access log in that time (%s older, %s)", count(s.Older), several(s.Other, "other line"))
	}
	text := fmt.Sprintf("%s from %s to %s", several(s.Lines, "request"), day(s.Oldest), day(s.Newest))
	if s.Older > 0 {
		text += fmt.Sprintf(", %s left out", several(s.Older, "older one"))
	}
	if s.Other > 0 {
		text += fmt.Sprintf(", %s passed over", several(s.Other, "other line"))
	}
	return text
}

// several counts things: 1 line, 2 lines.
func several(n int64, thing string) string {
	if n != 1 {
		thing += "s"
	}
	return count(n) + " " + thing
}

// day is a moment as people read it, in the time zone it was logged in.
func day(t time.Time) string { return t.Format("2006-01-02 15:04") }

// count groups digits: 1,204,331.
func count(n int64) string {
	s := strconv.FormatInt(n, 10)
	for i := len(s) - 3; i > 0; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}

// readAccessLogs hands every line of the access logs to each, in the order of the
// files, and tells whether it is older than asked for. The line is only lent.
func readAccessLogs(p desk.Program, f logFlags, now time.Time, each func(line *accessLine, older bool)) (logSummary, error) {
	r := accessReader{since: f.Since.from(now), each: each}
	for _, name := range f.Logs {
		if err := r.file(p, name); err != nil {
			return r.summary, desk.Misused("%w", err)
		}
	}
	return r.summary, p.Ctx.Err()
}

type accessReader struct {
	since   time.Time
	each    func(line *accessLine, older bool)
	summary logSummary
	line    accessLine
}

func (r *accessReader) file(p desk.Program, name string) error {
	in := p.Stdin
	if name != "-" {
		file, err := os.Open(name)
		if err != nil {
			return fmt.Errorf("access log: %w", err)
		}
		defer file.Close()
		var done func()
		in, done = showReading(p.Stderr, file)
		defer done()
	}
	err := r.lines(p, in)
	if err != nil {
		err = fmt.Errorf("access log %s: %w", name, err)
	}
	return err
}

// longestLine is the longest of the access log; longer ones are something else.
const longestLine = 1 << 20

func (r *accessReader) lines(p desk.Program, in io.Reader) error {
	lines := bufio.NewReaderSize(in, longestLine)
	if magic, _ := lines.Peek(2); bytes.Equal(magic, []byte{0x1f, 0x8b}) {
		unpacked, err := gzip.NewReader(lines)
		if err != nil {
			return err
		}
		lines = bufio.NewReaderSize(unpacked, longestLine)
	}
	for n := 1; ; n++ {
		line, err := lines.ReadSlice('\n')
		tooLong := errors.Is(err, bufio.ErrBufferFull)
		for errors.Is(err, bufio.ErrBufferFull) {
			_, err = lines.ReadSlice('\n')
		}
		if err != nil && err != io.EOF {
			return fmt.Errorf("line %d: %w", n, err)
		}
		if tooLong {
			r.summary.Other++
		} else if problem := r.take(bytes.TrimSpace(line)); problem != nil {
			return fmt.Errorf("line %d: %w", n, problem)
		}
		if err == io.EOF {
			return nil
		}
		if n%4096 == 0 && p.Ctx.Err() != nil {
			return p.Ctx.Err()
		}
	}
}

// take reads one line. What is no line of the access log is counted, except where
// it shows that the log is in a form that cannot be read.
func (r *accessReader) take(line []byte) error {
	if len(line) == 0 {
		return nil
	}
	if line[0] != '{' {
		if bytes.Contains(line, []byte("\trequest\t{")) {
			return errors.New("this log is in the console format, which is for people; the tools read log.format: json")
		}
		r.summary.Other++
		return nil
	}
	if !bytes.Contains(line, []byte(`"request"`)) { // spares decoding most other lines
		r.summary.Other++
		return nil
	}
	r.line = accessLine{}
	if json.Unmarshal(line, &r.line) != nil || r.line.Message != "request" || r.line.Method == "" || r.line.Time.at.IsZero() {
		r.summary.Other++
		return nil
	}
	at := r.line.Time.at
	if at.Before(r.since) {
		r.summary.Older++
		r.each(&r.line, true)
		return nil
	}
	if r.summary.Oldest.IsZero() || at.Before(r.summary.Oldest) {
		r.summary.Oldest = at
	}
	if at.After(r.summary.Newest) {
		r.summary.Newest = at
	}
	r.summary.Lines++
	r.each(&r.line, false)
	return nil
}

// shownFrom is how large a file is whose reading is shown.
const shownFrom = 64 << 20

// showReading shows on a terminal how far a large file has been read.
func showReading(stderr io.Writer, file *os.File) (in io.Reader, done func()) {
	screen, ok := stderr.(*os.File)
	info, err := file.Stat()
	if !ok || err != nil || info.Size() < shownFrom || !term.IsTerminal(int(screen.Fd())) {
		return file, func() {}
	}
	shown := &shownReader{in: file, screen: screen, name: file.Name(), size: info.Size(), percent: -1}
	return shown, func() { fmt.Fprint(screen, "\r\x1b[K") }
}

type shownReader struct {
	in      io.Reader
	screen  io.Writer
	name    string
	read    int64
	size    int64
	percent int64
}

func (s *shownReader) Read(b []byte) (int, error) {
	n, err := s.in.Read(b)
	s.read += int64(n)
	if percent := s.read * 100 / s.size; percent != s.percent {
		s.percent = percent
		fmt.Fprintf(s.screen, "\r%s: %d %% of %d MiB read", s.name, percent, s.size>>20)
	}
	return n, err
}
