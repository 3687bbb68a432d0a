package terminal

import (
	"fmt"
	"io"
	"os"
	"time"

	"golang.org/x/term"
)

// clearLine begins a line anew.
const clearLine = "\r\x1b[K"

// is tells whether the output is a terminal.
func is(out io.Writer) bool { return of(out) != nil }

// of returns what is read or written if it is a terminal, else nil.
func of(stream any) *os.File {
	if file, ok := stream.(*os.File); ok && term.IsTerminal(int(file.Fd())) {
		return file
	}
	return nil
}

// NewStatus shows one line of how far long work is, on a terminal only. An empty
// one ends it.
func NewStatus(out io.Writer) func(format string, args ...any) {
	if !is(out) {
		return func(string, ...any) {}
	}
	return status(out)
}

func status(screen io.Writer) func(format string, args ...any) {
	var last time.Time
	return func(format string, args ...any) {
		switch {
		case format == "" && !last.IsZero():
			last = time.Time{}
			fmt.Fprintln(screen)
		case format != "" && time.Since(last) > 100*time.Millisecond:
			last = time.Now()
			fmt.Fprintf(screen, clearLine+format, args...)
		}
	}
}

// shownFrom is the file size from which progress is shown.
const shownFrom = 64 << 20

// ShowReading shows on a terminal how far a large file has been read.
func ShowReading(out io.Writer, file *os.File) (in io.Reader, done func()) {
	info, err := file.Stat()
	if err != nil || info.Size() < shownFrom || !is(out) {
		return file, func() {}
	}
	shown := &shownReader{in: file, screen: out, name: file.Name(), size: info.Size(), percent: -1}
	return shown, func() { fmt.Fprint(out, clearLine) }
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
