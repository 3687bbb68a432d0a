package main

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"os"

	"golang.org/x/term"

	"frontdesk/cmd/frontdesk/desk"
)

// readLogs hands every line of logs to take, in the order of the files, as logLines does.
func readLogs(p desk.Program, names []string, take func(line []byte)) error {
	for _, name := range names {
		if err := readLog(p, name, take); err != nil {
			return desk.Misused("%w", err)
		}
	}
	return p.Ctx.Err()
}

func readLog(p desk.Program, name string, take func(line []byte)) error {
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
	err := logLines(p, in, take)
	if err != nil {
		err = fmt.Errorf("access log %s: %w", name, err)
	}
	return err
}

// longestLine is the longest of the log; longer ones are something else.
const longestLine = 1 << 20

// logLines hands every line of a log, plain or gzip, to take, but for those that are empty;
// nil for one that is too long. The line is only lent, so that a log takes no more memory
// than a line of it.
func logLines(p desk.Program, in io.Reader, take func(line []byte)) error {
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
		if line = bytes.TrimSpace(line); isForPeople(line) {
			return fmt.Errorf("line %d: this log is in the console format, which is for people; the tools read log.format: json", n)
		}
		if tooLong {
			take(nil)
		} else if len(line) > 0 {
			take(line)
		}
		if err == io.EOF {
			return nil
		}
		if n%4096 == 0 && p.Ctx.Err() != nil {
			return p.Ctx.Err()
		}
	}
}

// isForPeople tells a line of the access log in the console format.
func isForPeople(line []byte) bool {
	return len(line) > 0 && line[0] != '{' && bytes.Contains(line, []byte("\trequest\t{"))
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
