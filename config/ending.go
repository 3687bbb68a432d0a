package config

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"

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
	e := editor{lines: strings.SplitAfter(string(t.Text), "\n")}
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
	if len(e.edits) > 0 {
		t.Text = []byte(e.text())
	}
	return nil
}

// edit puts text in the place of what is between two columns of a line, both numbers from 0.
type edit struct {
	line, from, to int
	text           string
}

// editor changes a text in several places.
type editor struct {
	lines []string
	edits []edit
}

var (
	hashForm   = regexp.MustCompile(`^("[0-9a-fA-F]{64}"|'[0-9a-fA-F]{64}'|[0-9a-fA-F]{64})[ \t]*([^ \t\r\n]?)`)
	momentForm = regexp.MustCompile(`^("[^"\n]*"|'[^'\n]*'|[0-9][0-9TtZz:.+-]*)`)
)

// end gives the hash at path an end, in whichever form it is written: alone, or as a mapping.
func (e *editor) end(doc *strictyaml.Document, path, end string) bool {
	if doc.Has(path + ".expires") {
		at := doc.At(path + ".expires")
		written := momentForm.FindString(e.from(at))
		return written != "" && e.replace(at, len(written), end)
	}
	item, at := doc.At(path), doc.At(path)
	mapping := doc.Has(path + ".hash")
	if mapping {
		at = doc.At(path + ".hash")
	}
	found := hashForm.FindStringSubmatch(e.from(at))
	switch {
	case found == nil:
		return false
	case !mapping:
		return e.replace(at, len(found[1]), "{hash: "+found[1]+", expires: "+end+"}")
	case found[2] == "," || found[2] == "}":
		return e.replace(at, len(found[1]), found[1]+", expires: "+end)
	default: // a block: its keys stand below each other
		eol := "\n"
		if strings.HasSuffix(e.lines[item.Line-1], "\r\n") {
			eol = "\r\n"
		}
		return e.replace(item, 0, "expires: "+end+eol+strings.Repeat(" ", item.Column-1))
	}
}

// from is the rest of the line from there.
func (e *editor) from(at strictyaml.Problem) string {
	if at.Line > len(e.lines) {
		return ""
	}
	line := []rune(e.lines[at.Line-1])
	return string(line[min(at.Column-1, len(line)):])
}

// replace puts text in the place of so many bytes there.
func (e *editor) replace(at strictyaml.Problem, length int, text string) bool {
	from := len(e.lines[at.Line-1]) - len(e.from(at))
	e.edits = append(e.edits, edit{at.Line - 1, from, from + length, text})
	return true
}

// text is the whole, changed from the end on, so that each place is still where it was.
func (e *editor) text() string {
	slices.SortFunc(e.edits, func(a, b edit) int { return cmp.Or(b.line-a.line, b.from-a.from) })
	for _, one := range e.edits {
		line := e.lines[one.line]
		e.lines[one.line] = line[:one.from] + one.text + line[one.to:]
	}
	return strings.Join(e.lines, "")
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

// EndOf is when one of the key's hashes ends: at its own end, or at that of the key.
func (k *Key) EndOf(h KeyHash) Expiry { return h.Expires.Soonest(k.Expires) }

// Soonest is the earlier of two ends.
func (e Expiry) Soonest(other Expiry) Expiry {
	if e.IsZero() || !other.IsZero() && other.Before(e.Time) {
		return other
	}
	return e
}
