package sheet

import (
	"strconv"
	"strings"
	"time"
)

// RawKind says what a Raw holds.
type RawKind uint8

// The kinds of values in existing systems.
const (
	RawAbsent RawKind = iota // the answer does not have the place at all
	RawNull
	RawBool
	RawInt
	RawNumber // a decimal as text: -12.50, 1e3
	RawText
	RawBytes
	RawTime // an instant: milliseconds since 1970 UTC
	RawWall // a date and time without a zone: milliseconds as if it were UTC
	RawJSON // an object or a list, as the answer has it
)

// Raw is a value as an existing system has it, before conversion. The zero Raw is absent. ==
// compares two.
type Raw struct {
	Kind RawKind
	Int  int64  // RawBool (0, 1), RawInt, RawTime, RawWall
	Text string // RawNumber, RawText, RawBytes, RawJSON
}

// IsSet tells whether there is a value: neither absent nor null.
func (r Raw) IsSet() bool { return r.Kind > RawNull }

// String returns the value as text: a boolean as true or false, a time in ISO 8601, with Z if
// it is an instant; "" for none.
func (r Raw) String() string {
	switch r.Kind {
	case RawText, RawNumber, RawBytes, RawJSON:
		return r.Text
	}
	return string(r.append(nil))
}

// append appends the value as text.
func (r Raw) append(dst []byte) []byte {
	switch r.Kind {
	case RawBool:
		return strconv.AppendBool(dst, r.Int != 0)
	case RawInt:
		return strconv.AppendInt(dst, r.Int, 10)
	case RawNumber, RawText, RawBytes, RawJSON:
		return append(dst, r.Text...)
	case RawTime:
		return append(appendWall(dst, r.Int), 'Z')
	case RawWall:
		return appendWall(dst, r.Int)
	default:
		return dst
	}
}

// appendWall appends a date and time in ISO 8601. Databases have years that four digits cannot
// say.
func appendWall(dst []byte, ms int64) []byte {
	if ms < minMilli || ms > maxMilli {
		return time.UnixMilli(ms).UTC().AppendFormat(dst, "2006-01-02T15:04:05.000")
	}
	return isoWall.append(dst, ms)
}

func boolRaw(b bool) Raw {
	if b {
		return Raw{Kind: RawBool, Int: 1}
	}
	return Raw{Kind: RawBool}
}

func textRaw(s string) Raw { return Raw{Kind: RawText, Text: s} }

func intRaw(n int64) Raw { return Raw{Kind: RawInt, Int: n} }

// JoinKey writes the parts of a key as one text: numbers as digits, texts without trailing
// blanks, so that a key always has the same form.
func JoinKey(parts []Raw) string {
	var room [keyRoom]byte
	return string(appendKey(room[:0], parts, nil))
}

// keyRoom is the length of most keys, which are joined without allocating a buffer.
const keyRoom = 64

// appendKey is JoinKey; counts are the parts whose trailing blanks count, those that it does not have do not.
func appendKey(dst []byte, parts []Raw, counts []bool) []byte {
	for i, part := range parts {
		if i > 0 {
			dst = append(dst, '|')
		}
		if part.Kind == RawInt {
			dst = strconv.AppendInt(dst, part.Int, 10)
			continue
		}
		text := part.String()
		if i >= len(counts) || !counts[i] {
			text = strings.TrimRight(text, " ")
		}
		for k := range len(text) {
			if text[k] == '|' || text[k] == '\\' {
				dst = append(dst, '\\')
			}
			dst = append(dst, text[k])
		}
	}
	return dst
}

// SplitKey separates the parts of a key, all as text.
func SplitKey(key string) []Raw {
	parts := []Raw{}
	var part []byte
	for i := 0; i < len(key); i++ {
		switch c := key[i]; {
		case c == '|':
			parts, part = append(parts, textRaw(string(part))), part[:0]
		case c == '\\' && i+1 < len(key):
			i++
			part = append(part, key[i])
		default:
			part = append(part, c)
		}
	}
	return append(parts, textRaw(string(part)))
}
