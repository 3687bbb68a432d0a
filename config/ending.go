package config

import (
	"bytes"
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"frontdesk/config/strictyaml"
)

// WithEnds returns the texts with these ends of hashes written in, and everything else, comments
// included, as it was. The error says where a hash is written in a way that only people can
// change. Whoever calls it compares what the texts mean then with what was meant.
func WithEnds(texts []Text, ends map[Digest]Expiry) ([]Text, error) {
	edited := slices.Clone(texts)
	for i := range edited {
		if err := edited[i].end(ends); err != nil {
			return nil, err
		}
	}
	return edited, nil
}

// end writes the ends of those hashes that the file has.
func (t *Text) end(ends map[Digest]Expiry) error {
	var file includedFile
	doc, _ := strictyaml.Decode(t.Path, t.Text, &file) // the other sections of the main file are no problem here
	e := newTextEditor(t.Text)
	for i, key := range file.APIKeys {
		for j, hash := range key.Hashes {
			end, ok := ends[hash.Hash]
			if !ok {
				continue
			}
			if !e.end(doc, hashPath(i, j), end.String()) {
				at := doc.At(hashPath(i, j))
				return fmt.Errorf("%s:%d: this hash has to get its end by hand, expires: %s", t.Path, at.Line, end)
			}
		}
	}
	t.Text = e.edited()
	return nil
}

var (
	hashForm   = regexp.MustCompile(`^("[0-9a-fA-F]{64}"|'[0-9a-fA-F]{64}'|[0-9a-fA-F]{64})[ \t]*([^ \t\r\n]?)`)
	momentForm = regexp.MustCompile(`^("[^"\n]*"|'[^'\n]*'|[0-9][0-9TtZz:.+-]*)`)
)

// end gives the hash at path an end, in whichever form it is written: alone, or as a mapping.
func (e *textEditor) end(doc *strictyaml.Document, path, end string) bool {
	place := func(path string) int { return e.at(doc.At(path).Line, doc.At(path).Column) }
	if doc.Has(path + ".expires") {
		from := place(path + ".expires")
		written := len(momentForm.Find(e.src[from:]))
		e.edit(from, from+written, end)
		return written > 0
	}
	item, hash := place(path), place(path)
	mapping := doc.Has(path + ".hash")
	if mapping {
		hash = place(path + ".hash")
	}
	found := hashForm.FindSubmatch(e.src[hash:])
	if found == nil {
		return false
	}
	behind := hash + len(found[1])
	switch next := string(found[2]); {
	case !mapping:
		e.edit(hash, behind, "{hash: "+string(found[1])+", expires: "+end+"}")
	case next == "," || next == "}":
		e.edit(behind, behind, ", expires: "+end)
	default: // a block: its keys stand below each other
		e.edit(item, item, "expires: "+end+e.eol()+strings.Repeat(" ", doc.At(path).Column-1))
	}
	return true
}

// EndsIn returns the hashes that a file has on its own, with their ends. listed tells whether it
// has a list of api_keys, and broken whether it may have said more than could be read.
func EndsIn(t Text, zone *time.Location) (ends map[Digest]Expiry, listed, broken bool) {
	var file includedFile
	doc, problems := strictyaml.Decode(t.Path, t.Text, &file)
	ends, listed = map[Digest]Expiry{}, doc.Lines("api_keys") != nil
	for _, p := range problems {
		broken = broken || p.Path == "" || strings.HasPrefix(p.Path, "api_keys")
	}
	for _, key := range file.APIKeys {
		key.Expires.resolve(zone)
		for _, hash := range key.Hashes {
			hash.Expires.resolve(zone)
			ends[hash.Hash] = key.EndOf(hash)
		}
	}
	return ends, listed, broken
}

// textEditor changes a text in several places.
type textEditor struct {
	src   []byte
	lines []int // where each line begins
	edits []textEdit
}

// textEdit puts another text in place of a part.
type textEdit struct {
	from, to int
	text     string
}

func (e *textEditor) edit(from, to int, text string) {
	e.edits = append(e.edits, textEdit{from, to, text})
}

func (e *textEditor) edited() []byte {
	slices.SortStableFunc(e.edits, func(a, b textEdit) int { return cmp.Compare(a.from, b.from) })
	var out bytes.Buffer
	at := 0
	for _, edit := range e.edits {
		out.Write(e.src[at:edit.from])
		out.WriteString(edit.text)
		at = edit.to
	}
	out.Write(e.src[at:])
	return out.Bytes()
}

// eol is how the lines of the file end.
func (e *textEditor) eol() string {
	if bytes.Contains(e.src, []byte("\r\n")) {
		return "\r\n"
	}
	return "\n"
}

// at is where a line has a column, both counted from 1; columns are characters.
func (e *textEditor) at(line, column int) int {
	if line > len(e.lines) {
		return len(e.src)
	}
	at := e.lines[line-1]
	for range column - 1 {
		_, size := utf8.DecodeRune(e.src[at:])
		at += size
	}
	return at
}

func newTextEditor(src []byte) textEditor {
	lines := []int{0}
	for i, b := range src {
		if b == '\n' && i+1 < len(src) {
			lines = append(lines, i+1)
		}
	}
	return textEditor{src: src, lines: lines}
}
