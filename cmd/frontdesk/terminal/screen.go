package terminal

import (
	"fmt"
	"io"
	"os"
	"time"

	"golang.org/x/term"
)

// Keyboard returns standard input if it is a terminal, else nil.
func Keyboard(in io.Reader) *os.File { return of(in) }

// of returns a stream if it is a terminal, else nil.
func of(stream any) *os.File {
	if file, ok := stream.(*os.File); ok && term.IsTerminal(int(file.Fd())) {
		return file
	}
	return nil
}

// AskPassword asks for a password, which is not shown while it is typed.
func AskPassword(keyboard *os.File, screen io.Writer, question string) (string, error) {
	fmt.Fprint(screen, question)
	typed, err := term.ReadPassword(int(keyboard.Fd()))
	fmt.Fprintln(screen)
	return string(typed), err
}

// NewStatus returns a function that shows the progress of long work in one line, on a terminal only. An
// empty format ends the line.
func NewStatus(out io.Writer) func(format string, args ...any) {
	if of(out) == nil {
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
			fmt.Fprintf(screen, "\r\x1b[K"+format, args...) // the line begins anew
		}
	}
}
