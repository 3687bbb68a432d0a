package accesslog

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"os"

	"frontdesk/cmd/frontdesk/terminal"
)

// Logs are logs to read: JSON lines, rotated ones too, plain or gzip.
type Logs struct {
	Names  []string // of files; - is Stdin
	Stdin  io.Reader
	Screen io.Writer // shows, where it is a terminal, how far a large file has been read
}

// Unreadable is the error of a log that could not be read.
type Unreadable struct{ error }

// read hands every line of the logs to take, in the order of the files, as readLines does.
func (l Logs) read(ctx context.Context, take func(line []byte)) error {
	for _, name := range l.Names {
		if err := l.readOne(ctx, name, take); ctx.Err() != nil { // stopped: nothing is wrong with the log
			return ctx.Err()
		} else if err != nil {
			return Unreadable{err}
		}
	}
	return nil
}

func (l Logs) readOne(ctx context.Context, name string, take func(line []byte)) error {
	in := l.Stdin
	if name != "-" {
		file, err := os.Open(name)
		if err != nil {
			return fmt.Errorf("access log: %w", err)
		}
		defer file.Close()
		var done func()
		in, done = terminal.ShowReading(l.Screen, file)
		defer done()
	}
	err := readLines(ctx, in, take)
	if err != nil {
		err = fmt.Errorf("access log %s: %w", name, err)
	}
	return err
}

// longestLine bounds a line of the log; a longer line is not from frontdesk.
const longestLine = 1 << 20

// readLines hands every line of a log, plain or gzip, to take, but for those that are empty;
// nil for one that is too long. The line is only lent, so that a log takes no more memory
// than a line of it.
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
		line, err := lines.ReadSlice('\n')
		tooLong := errors.Is(err, bufio.ErrBufferFull)
		for errors.Is(err, bufio.ErrBufferFull) {
			_, err = lines.ReadSlice('\n')
		}
		if err != nil && err != io.EOF {
			return fmt.Errorf("line %d: %w", n, err)
		}
		switch line = bytes.TrimSpace(line); {
		case tooLong: // the buffer has what came after it
			take(nil)
		case len(line) > 0:
			take(line)
		}
		if err == io.EOF {
			return nil
		}
		if n%4096 == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
	}
}
