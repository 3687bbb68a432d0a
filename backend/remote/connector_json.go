package remote

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"sync"
	"unsafe"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/itchyny/gojq"

	"frontdesk/mapping"
)

// decoder makes of a JSON text what jq knows: nil, bool, json.Number, string, []any and
// map[string]any. Numbers and texts without escapes are parts of the text.
type decoder struct {
	json jsontext.Decoder
	in   bytes.Buffer
	text string
	// widths are how many members the last object of each depth had. The next one will have as
	// many, in a list of records.
	widths [maxDepth + 1]int
}

var decoders = sync.Pool{New: func() any { return new(decoder) }}

// decodeJSON reads an answer. It refuses what is not one JSON value, is nested deeper than
// maxDepth, is no UTF-8, or names a member twice.
func decodeJSON(text string) (any, error) {
	d := decoders.Get().(*decoder)
	d.text, d.in = text, *bytes.NewBuffer(unsafe.Slice(unsafe.StringData(text), len(text)))
	d.json.Reset(&d.in, jsontext.AllowDuplicateNames(true))
	v, err := d.value(0)
	if err == nil {
		if _, err = d.json.ReadToken(); errors.Is(err, io.EOF) {
			err = nil
		} else if err == nil {
			err = errors.New("more after its end")
		}
	}
	if err != nil {
		err = notJSON(err)
	}
	d.text, d.in = "", bytes.Buffer{}
	d.json.Reset(&d.in)
	decoders.Put(d)
	return v, err
}

var errNotJSON = errors.New("the answer is not JSON")

// maxDepth is how deep an answer may be nested.
const maxDepth = 64

// notJSON says where an answer is none. The error of jsontext may show a value.
func notJSON(err error) error {
	var syntax *jsontext.SyntacticError
	if errors.As(err, &syntax) {
		return fmt.Errorf("%w: byte %d", errNotJSON, syntax.ByteOffset)
	}
	return fmt.Errorf("%w: %w", errNotJSON, truncated(err))
}

func (d *decoder) value(depth int) (any, error) {
	if depth > maxDepth {
		return nil, errors.New("nested too deep")
	}
	switch kind := d.json.PeekKind(); kind {
	case '{', '[':
		if _, err := d.json.ReadToken(); err != nil {
			return nil, err
		}
		var v any
		var err error
		if kind == '{' {
			v, err = d.object(depth)
		} else {
			v, err = d.list(depth)
		}
		if err == nil {
			_, err = d.json.ReadToken()
		}
		return v, err
	case '"':
		return d.string()
	case '0':
		raw, err := d.json.ReadValue()
		return json.Number(d.part(len(raw))), err
	default:
		token, err := d.json.ReadToken()
		if err != nil || kind == 'n' {
			return nil, err
		}
		return token.Bool(), nil
	}
}

func (d *decoder) object(depth int) (map[string]any, error) {
	n, width := 0, 0
	if d.json.PeekKind() != '}' {
		width = d.widths[depth]
	}
	all := make(map[string]any, width)
	for ; d.json.PeekKind() == '"'; n++ {
		name, err := d.string()
		if err != nil {
			return nil, err
		}
		if all[name], err = d.value(depth + 1); err != nil {
			return nil, err
		}
		if len(all) == n {
			return nil, errors.New("a member that comes twice")
		}
	}
	d.widths[depth] = n
	return all, nil
}

func (d *decoder) list(depth int) ([]any, error) {
	all := []any{}
	for {
		if kind := d.json.PeekKind(); kind == ']' || kind == 0 {
			return all, nil // what is wrong the next token tells
		}
		v, err := d.value(depth + 1)
		if err != nil {
			return nil, err
		}
		all = append(all, v)
	}
}

func (d *decoder) string() (string, error) {
	raw, err := d.json.ReadValue()
	if err != nil {
		return "", err
	}
	if bytes.IndexByte(raw, '\\') < 0 {
		text := d.part(len(raw))
		return text[1 : len(text)-1], nil
	}
	text, err := jsontext.AppendUnquote(nil, raw)
	return string(text), err
}

// part is the end of what was read, of the text itself.
func (d *decoder) part(length int) string {
	end := int(d.json.InputOffset())
	return d.text[end-length : end]
}

// appendJSON appends what jq or JSON has, with the members of objects in the order of their names. It
// is gojq.Marshal, which writes byte by byte, for what most of a record is.
func appendJSON(dst []byte, v any) []byte {
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
			dst = appendJSON(dst, e)
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
			dst = appendJSON(append(mapping.AppendJSONString(dst, name), ':'), v[name])
		}
		return append(dst, '}')
	default:
		text, _ := gojq.Marshal(v) // never fails
		return append(dst, text...)
	}
}
