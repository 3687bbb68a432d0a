package config

import (
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

// EndOf is when one of the key's hashes ends: at its own end, or at that of the key.
func (k *Key) EndOf(h KeyHash) Expiry { return h.Expires.Soonest(k.Expires) }

// Soonest is the earlier of two ends.
func (e Expiry) Soonest(other Expiry) Expiry {
	if e.IsZero() || !other.IsZero() && other.Before(e.Time) {
		return other
	}
	return e
}
