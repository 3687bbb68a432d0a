package accesslog

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"context"
	"fmt"
	"io"
	"os"
	"time"

	"frontdesk/cmd/frontdesk/terminal"
)

// Logs are logs to read: JSON lines, rotated ones too, plain or gzip.
type Logs struct {
	Names []string // names of files; - is Stdin
	Stdin io.Reader
}

// read passes every line of the logs to take, in the order of the files, as readLines does.
func (l Logs) read(ctx context.Context, take func(line []byte)) error {
	for _, name := range l.Names {
		if err := l.readOne(ctx, name, take); err != nil {
			return fmt.Errorf("access log: %w", err)
		}
	}
	return nil
}

func (l Logs) readOne(ctx context.Context, name string, take func(line []byte)) error {
	if name == "-" {
		return readLines(ctx, l.Stdin, take)
	}
	file, err := os.Open(name)
	if err != nil {
		return err
	}
	defer file.Close()
	if err := readLines(ctx, file, take); err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	return nil
}

// longestLine bounds a line of the log; a longer line is not from frontdesk.
const longestLine = 1 << 20

// readLines passes every line of a log, plain or gzip, to take, except empty ones; nil for a line
// that is too long. take must not keep the line, which is in a buffer that the next one overwrites.
func readLines(ctx context.Context, in io.Reader, take func(line []byte)) error {
	lines := bufio.NewReaderSize(in, longestLine)
	if magic, _ := lines.Peek(2); bytes.Equal(magic, []byte{0x1f, 0x8b}) {
		unpacked, err := gzip.NewReader(lines)
		if err != nil {
			return err
		}
		lines = bufio.NewReaderSize(unpacked, longestLine)
	}
	for n := 1; ; n++ {
		line, more, err := lines.ReadLine()
		if more { // the line is too long for the buffer
			line = nil
		}
		for more && err == nil {
			_, more, err = lines.ReadLine()
		}
		switch {
		case err == io.EOF:
			return ctx.Err()
		case err != nil:
			return fmt.Errorf("line %d: %w", n, err)
		case n%4096 == 0 && ctx.Err() != nil:
			return ctx.Err()
		}
		if line == nil || len(bytes.TrimSpace(line)) > 0 {
			take(bytes.TrimSpace(line))
		}
	}
}

// Summary counts what was read.
type Summary struct {
	Lines  int64     `json:"lines"`  // lines of the access log, in the requested period
	Older  int64     `json:"older"`  // lines of the access log, before it
	Other  int64     `json:"other"`  // other lines
	Oldest time.Time `json:"oldest"` // the oldest line in the period; zero if there is none
	Newest time.Time `json:"newest"`
}

// String describes in a sentence what was read.
func (s Summary) String() string {
	text := "no line of an access log in that time"
	if s.Lines > 0 {
		text = fmt.Sprintf("%s from %s to %s", terminal.Several(s.Lines, "request"), terminal.Minute(s.Oldest), terminal.Minute(s.Newest))
	}
	if s.Older > 0 {
		text += fmt.Sprintf(", %s left out", terminal.Several(s.Older, "older one"))
	}
	if s.Other > 0 {
		text += fmt.Sprintf(", %s passed over", terminal.Several(s.Other, "other line"))
	}
	return text
}

// Requests passes every line of the access logs since then to each, in the order of the files. each must
// not keep the line.
func (l Logs) Requests(ctx context.Context, since time.Time, each func(*Line)) (s Summary, err error) {
	var line Line
	err = l.read(ctx, func(text []byte) {
		if !line.Read(text) || line.Method == "" { // a request that could not be read has no method
			s.Other++
			return
		}
		at := line.Time.at
		if at.Before(since) {
			s.Older++
			return
		}
		if s.Oldest.IsZero() || at.Before(s.Oldest) {
			s.Oldest = at
		}
		if at.After(s.Newest) {
			s.Newest = at
		}
		s.Lines++
		each(&line)
	})
	return s, err
}
