package mapping

import (
	"strings"
	"time"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"
)

// maxPlain is the longest body that decodePlain tries: a body that is not plain is read twice.
const maxPlain = 16 << 10

// decodePlain is a fast path for most bodies: those that have only fields of r, each once and with a value
// of its datatype, in strings without escapes and numbers without exponents. ok is false for all other
// bodies, valid or not.
func decodePlain(r *Resource, arrays Arrays, text string, loc *time.Location) (b *Body, ok bool) {
	if len(text) > maxPlain {
		return nil, false
	}
	p := plainReader{rest: text, loc: loc, arrays: arrays}
	b, ok = p.object(r)
	return b, ok && p.peek() == 0 && p.rest == ""
}

type plainReader struct {
	rest   string // what has not been read yet
	loc    *time.Location
	arrays Arrays
}

// peek returns the next byte that is no white space, 0 at the end.
func (p *plainReader) peek() byte {
	for i := range len(p.rest) {
		switch c := p.rest[i]; c {
		case ' ', '\t', '\r', '\n':
		default:
			p.rest = p.rest[i:]
			return c
		}
	}
	p.rest = ""
	return 0
}

// take reads c, if it comes next.
func (p *plainReader) take(c byte) bool {
	if p.peek() != c {
		return false
	}
	p.rest = p.rest[1:]
	return true
}

// each reads the items between begin and end, separated by commas.
func (p *plainReader) each(begin, end byte, item func() bool) bool {
	if !p.take(begin) {
		return false
	}
	if p.take(end) {
		return true
	}
	for item() {
		if !p.take(',') {
			return p.take(end)
		}
	}
	return false
}

func (p *plainReader) object(r *Resource) (b *Body, ok bool) {
	b = newBody(r)
	return b, p.each('{', '}', func() bool {
		name, ok := p.quoted()
		f := r.byName[name]
		if !ok || f == nil || !f.In(p.arrays) || b.supplied[f.Index] || !p.take(':') {
			return false
		}
		b.supplied[f.Index] = true
		if f.Type == Array {
			return p.array(b, f)
		}
		kind, text, ok := p.scalar()
		v, is := f.parseJSON(kind, text, p.loc)
		b.set(f, v, text)
		return ok && is
	})
}

func (p *plainReader) array(b *Body, f *Field) bool {
	var lines []*Body
	var records []Record
	ok := p.each('[', ']', func() bool {
		line, ok := p.object(f.target)
		lines, records = append(lines, line), append(records, line.Record)
		return ok && len(lines) <= MaxElements
	})
	b.setLines(f, lines, records)
	return ok
}

func (p *plainReader) scalar() (kind jsontext.Kind, text string, ok bool) {
	if p.peek() == '"' {
		text, ok = p.quoted()
		return '"', text, ok
	}
	if rest, ok := strings.CutPrefix(p.rest, "null"); ok {
		p.rest = rest
		return 'n', "", true
	}
	n := 0
	for n < len(p.rest) && (p.rest[n] >= '0' && p.rest[n] <= '9' || p.rest[n] == '-' || p.rest[n] == '.') {
		n++
	}
	text, p.rest = p.rest[:n], p.rest[n:]
	return '0', text, true // parseJSON judges the form
}

// quoted reads a string without escapes.
func (p *plainReader) quoted() (s string, ok bool) {
	if !p.take('"') {
		return "", false
	}
	s, p.rest, ok = strings.Cut(p.rest, `"`)
	return s, ok && (isPlainASCII(s) || utf8.ValidString(s) && !strings.ContainsFunc(s, func(r rune) bool { return r < ' ' || r == '\\' }))
}
