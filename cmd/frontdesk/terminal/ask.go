package terminal

import (
	"fmt"
	"io"
	"os"

	"golang.org/x/term"
)

// Keyboard is standard input if somebody can be asked there, else nil.
func Keyboard(in io.Reader) *os.File { return of(in) }

// AskPassword asks for a password, which is not shown while it is typed.
func AskPassword(keyboard *os.File, screen io.Writer, question string) (string, error) {
	fmt.Fprint(screen, question)
	typed, err := term.ReadPassword(int(keyboard.Fd()))
	fmt.Fprintln(screen)
	return string(typed), err
}
