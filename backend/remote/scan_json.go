package remote

import (
	"errors"
	"fmt"
	"math"
	"strconv"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"

	"frontdesk/mapping/sheet"
)

// jsonScanner reads the places of a shape out of a JSON text in one pass. Texts without
// escapes are parts of the JSON text; numbers stay exact. It refuses invalid JSON, and a
// member that is needed and comes twice. It is written by hand because it is half of what a
// read costs here: jsontext takes four times as long.
type jsonScanner struct {
	text  string
	at    int
	depth int
	rows  rows
}

var errNotJSON = errors.New("the answer is not JSON")

// scan returns the row of the whole text.
func (j *jsonScanner) scan(s *shape, text string) (row, error) {
	j.text, j.at, j.depth = text, 0, 0
	if !utf8.ValidString(text) {
		return row{}, fmt.Errorf("%w: it is not UTF-8", errNotJSON)
	}
	top, err := j.rows.next(s)
	if err != nil {
		return row{}, err
	}
	j.space()
	if err := j.value(s, s.top, &top); err != nil {
		return row{}, err
	}
	j.space()
	if j.at < len(j.text) {
		return row{}, j.broken("more after its end")
	}
	return top, nil
}

func (j *jsonScanner) broken(what string) error {
	return fmt.Errorf("%w: %s at byte %d", errNotJSON, what, j.at)
}

func (j *jsonScanner) space() {
	for j.at < len(j.text) {
		if c := j.text[j.at]; c > ' ' || c != ' ' && c != '\n' && c != '\r' && c != '\t' {
			return
		}
		j.at++
	}
}

// peek returns the byte that is next; 0 at the end.
func (j *jsonScanner) peek() byte {
	if j.at < len(j.text) {
		return j.text[j.at]
	}
	return 0
}

// value reads a value into a row as node n says; if n is nil it skips the value.
func (j *jsonScanner) value(s *shape, n *node, to *row) error {
	switch c := j.peek(); {
	case c != '{' && c != '[':
		return j.scalar(n, to)
	case n == nil:
		return j.nested(c, nil, nil, nil)
	case n.whole >= 0:
		from := j.at
		err := j.nested(c, s, n, to)
		to.values[n.whole] = sheet.Raw{Kind: sheet.RawJSON, Text: j.text[from:j.at]}
		return err
	case n.list >= 0:
		to.lists[n.list] = nest{there: true, rows: []row{}}
		return j.list(c, s.lists[n.list], &to.lists[n.list])
	case n.place >= 0 && len(n.kids) == 0:
		return fmt.Errorf("the answer has a list or an object at %q in place of a value", n.name)
	default:
		return j.nested(c, s, n, to)
	}
}

func (j *jsonScanner) nested(c byte, s *shape, n *node, to *row) error {
	if j.depth++; j.depth > maxDepth {
		return fmt.Errorf("%w: nested too deep", errNotJSON)
	}
	defer func() { j.depth-- }()
	if c == '{' {
		return j.object(s, n, to)
	}
	return j.array(s, n, to)
}

// list reads the elements of an array, or a single object as its only one.
func (j *jsonScanner) list(c byte, s *shape, to *nest) error {
	one := func() error {
		r, err := j.rows.next(s)
		if err == nil {
			err = j.value(s, s.top, &r)
		}
		to.rows = append(to.rows, r)
		return err
	}
	if c == '{' {
		return one()
	}
	return j.elements(func(int) error { return one() })
}

// elements calls read for each element of an array.
func (j *jsonScanner) elements(read func(i int) error) error {
	j.at++
	j.space()
	if j.peek() == ']' {
		j.at++
		return nil
	}
	for i := 0; ; i++ {
		j.space()
		if err := read(i); err != nil {
			return err
		}
		j.space()
		switch j.peek() {
		case ',':
			j.at++
		case ']':
			j.at++
			return nil
		default:
			return j.broken("no , or ]")
		}
	}
}

func (j *jsonScanner) array(s *shape, n *node, to *row) error {
	return j.elements(func(i int) error {
		var kid *node
		if n != nil && n.indexed {
			if k := n.kid(strconv.Itoa(i), 0); k >= 0 {
				kid = n.kids[k]
			}
		}
		return j.value(s, kid, to)
	})
}

// object reads the members of an object. seen has a bit for each of the first 128 kids; later
// kids remember by themselves whether they came before.
func (j *jsonScanner) object(s *shape, n *node, to *row) error {
	j.at++
	j.space()
	if j.peek() == '}' {
		j.at++
		return nil
	}
	var seen [2]uint64
	next := 0
	for {
		name, err := j.name()
		if err != nil {
			return err
		}
		var kid *node
		if n != nil {
			if k := n.kid(name, next); k >= 0 {
				kid, next = n.kids[k], k+1
				if k < 128 {
					if bit := uint64(1) << (k & 63); seen[k>>6]&bit != 0 {
						return fmt.Errorf("the answer has %q twice", name)
					} else {
						seen[k>>6] |= bit
					}
				}
			}
		}
		if err := j.value(s, kid, to); err != nil {
			return err
		}
		j.space()
		switch j.peek() {
		case ',':
			j.at++
			j.space()
		case '}':
			j.at++
			return nil
		default:
			return j.broken("no , or }")
		}
	}
}

// name reads a member's name and its colon.
func (j *jsonScanner) name() (string, error) {
	if j.peek() != '"' {
		return "", j.broken("no name")
	}
	name, err := j.str()
	if err != nil {
		return "", err
	}
	j.space()
	if j.peek() != ':' {
		return "", j.broken("no :")
	}
	j.at++
	j.space()
	return name, nil
}

// scalar reads a value that is neither object nor array.
func (j *jsonScanner) scalar(n *node, to *row) error {
	raw, err := j.raw()
	if err == nil && n != nil && n.whole >= 0 {
		to.values[n.whole] = raw
		if len(n.kids) == 0 {
			return nil
		}
	}
	switch {
	case err != nil || n == nil:
		return err
	case n.place >= 0:
		if to.values[n.place].Kind != sheet.RawAbsent {
			return fmt.Errorf("the answer has %q twice", n.name)
		}
		to.values[n.place] = raw
		return nil
	case raw.Kind == sheet.RawNull:
		return n.null(to)
	default:
		return fmt.Errorf("the answer has a value at %q in place of a list or an object", n.name)
	}
}

func (j *jsonScanner) raw() (sheet.Raw, error) {
	switch c := j.peek(); {
	case c == '"':
		s, err := j.str()
		return sheet.Raw{Kind: sheet.RawText, Text: s}, err
	case c == 'n':
		return sheet.Raw{Kind: sheet.RawNull}, j.word("null")
	case c == 't':
		return sheet.Raw{Kind: sheet.RawBool, Int: 1}, j.word("true")
	case c == 'f':
		return sheet.Raw{Kind: sheet.RawBool}, j.word("false")
	case c == '-' || c >= '0' && c <= '9':
		return j.number()
	default:
		return sheet.Raw{}, j.broken("no value")
	}
}

func (j *jsonScanner) word(w string) error {
	if len(j.text)-j.at < len(w) || j.text[j.at:j.at+len(w)] != w {
		return j.broken("no value")
	}
	j.at += len(w)
	return nil
}

// number reads a number: an integer of up to 18 digits as one, any other as the
// text that it is.
func (j *jsonScanner) number() (sheet.Raw, error) {
	from := j.at
	if j.peek() == '-' {
		j.at++
	}
	first := j.at
	n := int64(0)
	for ; j.at < len(j.text); j.at++ {
		d := j.text[j.at] - '0'
		if d > 9 {
			break
		}
		if n < math.MaxInt64/20 {
			n = n*10 + int64(d)
		}
	}
	digits := j.at - first
	if digits == 0 || digits > 1 && j.text[first] == '0' {
		return sheet.Raw{}, j.broken("no number")
	}
	if c := j.peek(); c == '.' || c|0x20 == 'e' {
		if !j.fraction() {
			return sheet.Raw{}, j.broken("no number")
		}
		return sheet.Raw{Kind: sheet.RawNumber, Text: j.text[from:j.at]}, nil
	}
	if digits > 18 {
		return sheet.Raw{Kind: sheet.RawNumber, Text: j.text[from:j.at]}, nil
	}
	if first > from {
		n = -n
	}
	return sheet.Raw{Kind: sheet.RawInt, Int: n}, nil
}

// fraction reads what may follow the digits of a number: decimals and an exponent.
func (j *jsonScanner) fraction() bool {
	digits := func() bool {
		from := j.at
		for j.at < len(j.text) && j.text[j.at]-'0' <= 9 {
			j.at++
		}
		return j.at > from
	}
	if j.peek() == '.' {
		j.at++
		if !digits() {
			return false
		}
	}
	if j.peek()|0x20 == 'e' {
		j.at++
		if c := j.peek(); c == '+' || c == '-' {
			j.at++
		}
		return digits()
	}
	return true
}

// str reads a string.
func (j *jsonScanner) str() (string, error) {
	from := j.at + 1
	i := from + plain(j.text[from:])
	if i < len(j.text) && j.text[i] == '"' {
		j.at = i + 1
		return j.text[from:i], nil
	}
	return j.escaped(from-1, i)
}

// plain returns how many bytes at the beginning of s stand for themselves in a string. It
// examines eight at a time.
func plain(s string) int {
	const ones, tops = 0x0101010101010101, 0x8080808080808080
	i := 0
	for ; i+8 <= len(s); i += 8 {
		w := uint64(s[i]) | uint64(s[i+1])<<8 | uint64(s[i+2])<<16 | uint64(s[i+3])<<24 |
			uint64(s[i+4])<<32 | uint64(s[i+5])<<40 | uint64(s[i+6])<<48 | uint64(s[i+7])<<56
		quote, slash := w^('"'*ones), w^('\\'*ones)
		// Each term has a top bit where a byte is a quote, a backslash or under 0x20.
		if ((quote-ones)&^quote|(slash-ones)&^slash|(w-0x20*ones)&^w)&tops != 0 {
			break
		}
	}
	for ; i < len(s); i++ {
		if c := s[i]; c == '"' || c == '\\' || c < 0x20 {
			break
		}
	}
	return i
}

// escaped reads a string that holds escapes; i is at the first, or at what may
// not be in a string.
func (j *jsonScanner) escaped(from, i int) (string, error) {
	for i < len(j.text) && j.text[i] != '"' {
		switch {
		case j.text[i] < 0x20:
			j.at = i
			return "", j.broken("a control character in a text")
		case j.text[i] == '\\':
			i += 2
		default:
			i++
		}
	}
	if i >= len(j.text) {
		j.at = len(j.text)
		return "", j.broken("a text without end")
	}
	j.at = i + 1
	b, err := jsontext.AppendUnquote(nil, j.text[from:j.at])
	if err != nil {
		return "", j.broken("a bad escape")
	}
	return string(b), nil
}
