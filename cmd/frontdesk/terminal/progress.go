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

// barWidth is how many characters a bar has.
const barWidth = 24

// NewProgress tells of long work. say prints a line. show shows below the lines how far the
// work is, on a terminal only: with a bar if it is known how much there is in all (total is
// not 0). An empty one takes that away.
func NewProgress(out, screen io.Writer) (say func(format string, args ...any), show func(what string, done, total int64)) {
	shown := false
	var last time.Time
	clear := func() {
		if shown {
			fmt.Fprint(screen, clearLine)
			shown = false
		}
	}
	say = func(format string, args ...any) {
		clear()
		fmt.Fprintln(out, Safe(fmt.Sprintf(format, args...)))
	}
	show = func(what string, done, total int64) {
		switch {
		case what == "":
			clear()
		case is(screen) && time.Since(last) > 100*time.Millisecond:
			last, shown = time.Now(), true
			fmt.Fprint(screen, clearLine+progress(Safe(what), done, total))
		}
	}
	return say, show
}

func progress(what string, done, total int64) string {
	switch {
	case total > 0:
		full := int(min(done, total) * barWidth / total)
		return fmt.Sprintf("%s [%s%s] %s of %s", what, strings.Repeat("#", full), strings.Repeat(".", barWidth-full), Count(done), Count(total))
	case done > 0:
		return what + ": " + Count(done)
	}
	return what
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
