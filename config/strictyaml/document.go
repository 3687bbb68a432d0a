package strictyaml

import (
	"fmt"
	"maps"
	"strconv"
	"strings"
)

// Document remembers where the values of a decoded file stood.
type Document struct {
	file    string
	places  map[string]position   // by path, without items of lists
	items   map[string][]position // of the items of lists, by the list's path
	broken  map[string]bool
	written map[string]string // the text of values that Expand changed
}

// position is a place in the file, both numbers from 1.
type position struct{ line, column int }

func (p position) String() string { return fmt.Sprintf("%d:%d", p.line, p.column) }

// At returns a Problem without a message, placed at the value of path or, when
// the file has no such value, at its nearest parent that is there. The value of
// a key that continues on the next lines is placed at its key.
func (d *Document) At(path string) Problem {
	p := Problem{File: d.file, Line: 1, Column: 1, Path: path}
	for at := path; ; at = parent(at) {
		if place, ok := d.place(at); ok {
			p.Line, p.Column = place.line, place.column
			return p
		}
		if at == "" {
			return p
		}
	}
}

// Outside returns the document without what is below a path.
func (d *Document) Outside(path string) *Document {
	isBelow := func(at string) bool { return strings.HasPrefix(at, path+"[") || strings.HasPrefix(at, path+".") }
	out := *d
	out.places, out.items, out.written = maps.Clone(d.places), maps.Clone(d.items), maps.Clone(d.written)
	maps.DeleteFunc(out.places, func(at string, _ position) bool { return isBelow(at) })
	maps.DeleteFunc(out.items, func(at string, _ []position) bool { return isBelow(at) || at == path })
	maps.DeleteFunc(out.written, func(at, _ string) bool { return isBelow(at) })
	return &out
}

// Has reports whether the file gives a value for path.
func (d *Document) Has(path string) bool {
	_, ok := d.place(path)
	return ok
}

// Lines returns the lines of the items of the list at path; nil if the file has no list
// there.
func (d *Document) Lines(path string) []int32 {
	items := d.items[path]
	if items == nil {
		return nil
	}
	lines := make([]int32, len(items))
	for i, at := range items {
		lines[i] = int32(at.line)
	}
	return lines
}

// place finds the position of path. Items of lists have no entry of their own, since lists
// may be long.
func (d *Document) place(path string) (position, bool) {
	if at, ok := d.places[path]; ok {
		return at, true
	}
	list, number, ok := strings.Cut(path[len(parent(path)):], "[")
	if !ok || list != "" {
		return position{}, false
	}
	i, err := strconv.ParseUint(strings.TrimSuffix(number, "]"), 10, 31)
	items := d.items[parent(path)]
	if err != nil || int(i) >= len(items) {
		return position{}, false
	}
	return items[i], true
}

// Written returns the text that the file has for path if Expand changed it, for messages that
// must not show the changed text.
func (d *Document) Written(path string) (text string, expanded bool) {
	text, expanded = d.written[path]
	return text, expanded
}

// Found quotes the text at path for a message, as it was written: the text that [Expand]
// returns may be secret.
func (d *Document) Found(path, text string) string {
	if written, expanded := d.Written(path); expanded {
		text = written
	}
	return Quote(text)
}

// Suggest is the function Suggest for the text at path; "" if Expand changed it.
func (d *Document) Suggest(path, seen string, known []string) string {
	if _, expanded := d.Written(path); expanded {
		return ""
	}
	return Suggest(seen, known)
}

// Fault returns a problem at path; none if decoding has already found one there.
func (d *Document) Fault(path, rule, message string) Problems {
	if d.Broken(path) {
		return nil
	}
	p := d.At(path)
	p.Message, p.Rule = message, rule
	return Problems{p}
}

// Broken reports whether decoding found a problem with the value of path or of one of its
// parents. The struct then does not hold the written value, and a further complaint would
// only add noise.
func (d *Document) Broken(path string) bool {
	for at := path; ; at = parent(at) {
		if d.broken[at] {
			return true
		}
		if at == "" {
			return false
		}
	}
}

// parent drops the last step of a path. A quoted key may contain dots or brackets; a cut
// inside it gives a path that does not exist, and the next cut continues.
func parent(path string) string {
	return path[:max(strings.LastIndexAny(path, ".["), 0)]
}

// Child returns the path of the last of keys, each of which is below the one before. It quotes keys
// that could be mistaken for a path: labels["a.b"].
func Child(path string, keys ...string) string {
	for _, key := range keys {
		switch {
		case key == "" || strings.ContainsFunc(key, unsafeInPath):
			path = fmt.Sprintf("%s[%q]", path, key)
		case path == "":
			path = key
		default:
			path += "." + key
		}
	}
	return path
}

func unsafeInPath(r rune) bool {
	return r <= ' ' || r == '.' || r == '[' || r == ']' || r == '"' || r == ':' || r >= 0x7f
}

// element returns the path of item i of the list at path.
func element(path string, i int) string { return path + "[" + strconv.Itoa(i) + "]" }
