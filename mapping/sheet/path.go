package sheet

import (
	"context"
	"encoding/json"
	"errors"
	"strconv"
	"strings"
)

// Path leads to a value in JSON. Its steps are names of members, and numbers of elements; -1 is the last
// element.
type Path []string

// ParsePath reads a path such as a.b.0; nil for "".
func ParsePath(text string) Path {
	if text == "" {
		return nil
	}
	return strings.Split(text, ".")
}

func (p Path) String() string { return strings.Join(p, ".") }

// Of returns the value at the path; false if there is none. Every path within null leads to null.
func (p Path) Of(v any) (any, bool) {
	for _, name := range p {
		switch of := v.(type) {
		case map[string]any:
			found, ok := of[name]
			if !ok {
				return nil, false
			}
			v = found
		case []any:
			at, err := strconv.Atoi(name)
			if at < 0 {
				at += len(of)
			}
			if err != nil || at < 0 || at >= len(of) {
				return nil, false
			}
			v = of[at]
		case nil:
			return nil, true
		default:
			return nil, false
		}
	}
	return v, true
}

// Find is Of for the JSON of an answer.
func (p Path) Find(v JSON) (JSON, bool) {
	at := &v
	for _, name := range p {
		if at.in == nil {
			return JSON{}, at.IsNull()
		}
		if at = at.in.member(name); at == nil {
			return JSON{}, false
		}
	}
	return *at, true
}

// Put sets the value at the path within an object, and makes missing objects on the way. It changes the
// objects within into, which must be the caller's own.
func (p Path) Put(into map[string]any, v any) {
	for _, name := range p[:len(p)-1] {
		next, ok := into[name].(map[string]any)
		if !ok {
			next = map[string]any{}
			into[name] = next
		}
		into = next
	}
	into[p[len(p)-1]] = v
}

// IsZero reports whether s is the zero Spot.
func (s Spot) IsZero() bool { return s.Path == nil && s.JQ == nil }

// Find returns the value at the spot; false if there is none.
func (s Spot) Find(ctx context.Context, v JSON) (JSON, bool, error) {
	if s.JQ == nil {
		found, ok := s.Path.Find(v)
		return found, ok && s.Path != nil, nil
	}
	made, there, err := s.Of(ctx, v)
	if !there || err != nil {
		return JSON{}, false, err
	}
	found, err := JSONOf(made)
	return found, err == nil, err
}

// Of is Find, but returns the Go form of the value.
func (s Spot) Of(ctx context.Context, v JSON) (any, bool, error) {
	if s.JQ == nil {
		found, ok, _ := s.Find(ctx, v)
		return found.Read(), ok, nil
	}
	found, err := s.JQ.First(ctx, v.Read())
	if errors.Is(err, ErrNothing) {
		return nil, false, nil
	}
	return found, err == nil, err
}

// String names the spot in messages.
func (s Spot) String() string {
	if s.JQ != nil {
		return s.JQ.String()
	}
	return s.Path.String()
}

// KeyText returns the text of a key for KeyRef.Key, which keeps the JSON types of its parts. A single text
// stands for itself, unless it could be read as JSON; several parts are a JSON list.
func KeyText(parts ...any) string {
	var v any = parts
	if len(parts) == 1 {
		v = parts[0]
	}
	switch v := v.(type) {
	case json.Number:
		return v.String()
	case string:
		if !readsAsJSON(v) {
			return v
		}
	}
	return string(AppendJSON(nil, v))
}

// KeyParts is the inverse of KeyText; numbers are json.Number.
func KeyParts(text string) []any {
	if isWhole(text) {
		return []any{json.Number(text)}
	}
	var v any
	d := json.NewDecoder(strings.NewReader(text))
	d.UseNumber()
	if !json.Valid([]byte(text)) || d.Decode(&v) != nil {
		return []any{text}
	}
	if parts, several := v.([]any); several {
		return parts
	}
	return []any{v}
}

// isWhole reports whether a text is a number of only digits, as most keys are.
func isWhole(text string) bool {
	return text != "" && text[0] != '0' && strings.Trim(text, "0123456789") == ""
}

// readsAsJSON reports whether a text is JSON, or begins like a JSON string or list.
func readsAsJSON(text string) bool {
	return strings.HasPrefix(text, `"`) || strings.HasPrefix(text, "[") || json.Valid([]byte(text))
}
