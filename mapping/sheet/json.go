package sheet

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"sync"
	"unsafe"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/itchyny/gojq"

	"frontdesk/mapping"
)

// JSON is a value of an answer. Its Go form is made only on demand, since most values are read directly as
// values of the interface. The zero JSON is nothing. It is not safe for concurrent use.
type JSON struct {
	name string  // its name, if it is a member of an object
	text string  // a substring of the answer; "" for an object or a list
	in   *within // the contents of an object or a list
}

type within struct {
	object bool
	all    []JSON
	next   int // after the member that was found last: most members are found in the order of the answer
	read   any // its Go form, once it is made
}

type parser struct {
	json jsontext.Decoder
	in   bytes.Buffer
	text string
	room []JSON // the contents of the lists and objects that have not ended yet
}

var parsers = sync.Pool{New: func() any { return new(parser) }}

// ParseJSON reads an answer. It fails if that is not one JSON value, is nested deeper than MaxDepth, is
// not UTF-8, or has a member twice.
func ParseJSON(text string) (JSON, error) {
	p := parsers.Get().(*parser)
	p.text, p.in = text, *bytes.NewBuffer(unsafe.Slice(unsafe.StringData(text), len(text)))
	p.json.Reset(&p.in)
	v, err := p.value(0)
	if err == nil {
		if _, err = p.json.ReadToken(); errors.Is(err, io.EOF) {
			err = nil
		} else if err == nil {
			err = errors.New("more after its end")
		}
	}
	clear(p.room)
	p.text, p.in, p.room = "", bytes.Buffer{}, p.room[:0]
	p.json.Reset(&p.in)
	parsers.Put(p)
	if err != nil {
		return JSON{}, notJSON(err)
	}
	return v, nil
}

// ErrNotJSON says that an answer is not JSON.
var ErrNotJSON = errors.New("the answer is not JSON")

// MaxDepth is how deep an answer may be nested.
const MaxDepth = 64

// notJSON returns ErrNotJSON with the position. It drops the message of jsontext, which may show a value.
func notJSON(err error) error {
	var syntax *jsontext.SyntacticError
	switch {
	case errors.As(err, &syntax):
		return fmt.Errorf("%w: byte %d", ErrNotJSON, syntax.ByteOffset)
	case errors.Is(err, io.EOF):
		err = io.ErrUnexpectedEOF
	}
	return fmt.Errorf("%w: %w", ErrNotJSON, err)
}

func (p *parser) value(depth int) (JSON, error) {
	if depth > MaxDepth {
		return JSON{}, errors.New("nested too deep")
	}
	kind := p.json.PeekKind()
	if kind != '{' && kind != '[' {
		text, err := p.part()
		return JSON{text: text}, err
	}
	if _, err := p.json.ReadToken(); err != nil {
		return JSON{}, err
	}
	from, end := len(p.room), kind+2
	for next := p.json.PeekKind(); next != end && next != 0; next = p.json.PeekKind() { // 0 is an error, which the next read returns
		name := ""
		if kind == '{' {
			text, err := p.part()
			if err != nil {
				return JSON{}, err
			}
			name = unquoted(text)
		}
		v, err := p.value(depth + 1)
		if err != nil {
			return JSON{}, err
		}
		v.name = name
		p.room = append(p.room, v)
	}
	_, err := p.json.ReadToken()
	in := &within{object: kind == '{', all: slices.Clone(p.room[from:])}
	clear(p.room[from:])
	p.room = p.room[:from]
	return JSON{in: in}, err
}

// part returns the next value as a substring of the answer.
func (p *parser) part() (string, error) {
	raw, err := p.json.ReadValue()
	end := int(p.json.InputOffset())
	return p.text[end-len(raw) : end], err
}

// unquoted returns the text of a JSON string.
func unquoted(text string) string {
	if strings.IndexByte(text, '\\') < 0 {
		return text[1 : len(text)-1]
	}
	out, _ := jsontext.AppendUnquote(nil, text) // the decoder has validated the string
	return string(out)
}

// JSONOf returns the JSON of a value as jq has them.
func JSONOf(v any) (JSON, error) { return ParseJSON(string(AppendJSON(nil, v))) }

// Read returns the Go form, which jq takes: nil, bool, json.Number, string, []any or map[string]any. The
// caller must not change the last two.
func (j JSON) Read() any {
	switch {
	case j.in == nil:
		return j.scalar()
	case j.in.read != nil:
	case j.in.object:
		all := make(map[string]any, len(j.in.all))
		for _, v := range j.in.all {
			all[v.name] = v.Read()
		}
		j.in.read = all
	default:
		all := make([]any, len(j.in.all))
		for i, v := range j.in.all {
			all[i] = v.Read()
		}
		j.in.read = all
	}
	return j.in.read
}

func (j JSON) scalar() any {
	switch {
	case j.IsNull():
		return nil
	case j.text[0] == '"':
		return unquoted(j.text)
	case j.text == "true", j.text == "false":
		return j.text == "true"
	default:
		return json.Number(j.text)
	}
}

// IsNull reports whether it is null, or nothing.
func (j JSON) IsNull() bool { return j.in == nil && (j.text == "" || j.text == "null") }

// IsEmpty reports whether it is null, or an empty text.
func (j JSON) IsEmpty() bool { return j.IsNull() || j.text == `""` }

// IsObject reports whether it is an object.
func (j JSON) IsObject() bool { return j.in != nil && j.in.object }

// Object returns the members of an object, which the caller must not change; nil if it is no object.
func (j JSON) Object() map[string]any {
	if !j.IsObject() {
		return nil
	}
	return j.Read().(map[string]any)
}

// List returns the elements of a list; false if it is no list.
func (j JSON) List() ([]JSON, bool) {
	if j.in == nil || j.in.object {
		return nil, false
	}
	return j.in.all, true
}

// With returns the object with one more member.
func (j JSON) With(name string, v JSON) JSON {
	v.name = name
	j.in = &within{object: true, all: append(slices.Clip(j.in.all), v)}
	return j
}

// member returns a member of an object, or an element of a list; nil for none.
func (w *within) member(name string) *JSON {
	n := len(w.all)
	if w.object {
		for i := range n {
			if i += w.next; i >= n {
				i -= n
			}
			if w.all[i].name == name {
				w.next = i + 1
				return &w.all[i]
			}
		}
		return nil
	}
	at, err := strconv.Atoi(name)
	if at < 0 {
		at += n
	}
	if err != nil || at < 0 || at >= n {
		return nil
	}
	return &w.all[at]
}

// AppendJSON appends the JSON of a value of jq, with the members of objects sorted by name. For the usual
// types it is faster than gojq.Marshal, which writes byte by byte.
func AppendJSON(dst []byte, v any) []byte {
	switch v := v.(type) {
	case nil:
		return append(dst, "null"...)
	case bool:
		return strconv.AppendBool(dst, v)
	case string:
		return mapping.AppendJSONString(dst, v)
	case json.Number:
		return append(dst, v...)
	case []any:
		dst = append(dst, '[')
		for i, e := range v {
			if i > 0 {
				dst = append(dst, ',')
			}
			dst = AppendJSON(dst, e)
		}
		return append(dst, ']')
	case map[string]any:
		var room [32]string
		names := room[:0]
		for name := range v {
			names = append(names, name)
		}
		slices.Sort(names)
		dst = append(dst, '{')
		for i, name := range names {
			if i > 0 {
				dst = append(dst, ',')
			}
			dst = AppendJSON(append(mapping.AppendJSONString(dst, name), ':'), v[name])
		}
		return append(dst, '}')
	default:
		text, _ := gojq.Marshal(v) // never fails
		return append(dst, text...)
	}
}
