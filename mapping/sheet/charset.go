package sheet

import (
	"unicode/utf8"

	"golang.org/x/text/encoding/charmap"
)

// charset is what text in the system can hold; nil is UTF-8.
type charset struct {
	table *charmap.Charmap // nil for ASCII
}

// charsetOf returns the charset of that name; nil for UTF-8.
func charsetOf(name string) *charset {
	switch name {
	case "latin1":
		return &charset{charmap.ISO8859_1}
	case "cp1252":
		return &charset{charmap.Windows1252}
	case "ascii":
		return &charset{}
	default:
		return nil
	}
}

// fits tells whether every character of s is in the charset.
func (c *charset) fits(s string) bool {
	for _, r := range s {
		if r < utf8.RuneSelf {
			continue
		}
		if c.table == nil {
			return false
		}
		if _, ok := c.table.EncodeRune(r); !ok {
			return false
		}
	}
	return true
}

// decode reads bytes of the charset.
func (c *charset) decode(s string) (string, bool) {
	from := 0
	for from < len(s) && s[from] < utf8.RuneSelf {
		from++
	}
	switch {
	case from == len(s):
		return s, true
	case c.table == nil:
		return "", false
	}
	out := make([]byte, from, len(s)+len(s)/4+4)
	copy(out, s)
	for i := from; i < len(s); i++ {
		out = utf8.AppendRune(out, c.table.DecodeByte(s[i]))
	}
	return string(out), true
}
