package terminal

import (
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"golang.org/x/term"
)

// clearLine begins a line anew.
const clearLine = "\r\x1b[K"

// is tells whether the output is a terminal.
func is(out io.Writer) bool {
	file, ok := out.(*os.File)
	return ok && term.IsTerminal(int(file.Fd()))
}

// NewStatus shows one line of how far long work is, on a terminal only. An empty
// one ends it.
func NewStatus(out io.Writer) func(format string, args ...any) {
	if !is(out) {
		return func(string, ...any) {}
	}
	var last time.Time
	return func(format string, args ...any) {
		switch {
		case format == "" && !last.IsZero():
			fmt.Fprintln(out)
		case format != "" && time.Since(last) > 100*time.Millisecond:
			last = time.Now()
			fmt.Fprintf(out, clearLine+format, args...)
		}
	}
}

// NewScreen shows texts one in place of the other on a terminal. Elsewhere it writes the
// first, and returns false: there is no place for another.
func NewScreen(out io.Writer) func(text string) (again bool) {
	if !is(out) {
		return func(text string) bool {
			fmt.Fprint(out, text)
			return false
		}
	}
	return func(text string) bool {
		const home, restOfLine, restOfScreen = "\x1b[H", "\x1b[K", "\x1b[J"
		fmt.Fprint(out, home+strings.ReplaceAll(text, "\n", restOfLine+"\r\n")+restOfScreen)
		return true
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
