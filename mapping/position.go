package mapping

import (
	"bytes"
	"errors"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"
)

// Position is a place in a body: the line, and the character in the line, both counted from 1.
// The zero value means none.
type Position struct{ Line, Column int }

// notJSON returns the violation of a body that is not one JSON object. Its position is that of
// cause, or else the next character after the bytes that were read that is not white space.
func notJSON(data []byte, read int64, cause error) *Error {
	rest := data[min(int(read), len(data)):]
	at := len(data) - len(bytes.TrimLeft(rest, " \t\r\n"))
	if deep, ok := errors.AsType[errTooDeep](cause); ok {
		at = int(deep)
	} else if syntax, ok := errors.AsType[*jsontext.SyntacticError](cause); ok {
		at = int(syntax.ByteOffset)
	}
	e := Fail(BodyNotJSON).Because(cause)
	e.Position = positionAt(data, at)
	return e
}

func positionAt(data []byte, at int) Position {
	before := data[:min(at, len(data))]
	line := before[bytes.LastIndexByte(before, '\n')+1:]
	return Position{Line: bytes.Count(before, []byte{'\n'}) + 1, Column: utf8.RuneCount(line) + 1}
}
