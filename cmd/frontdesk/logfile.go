package main

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"os"

	"frontdesk/cmd/frontdesk/desk"
	"frontdesk/cmd/frontdesk/terminal"
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
		in, done = terminal.ShowReading(p.Stderr, file)
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
