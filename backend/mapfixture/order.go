package mapfixture

import (
	"bytes"
	"encoding/json"
	"maps"
	"slices"
)

// members is a JSON object that keeps the order of its members.
type members struct {
	names  []string
	values map[string]any
}

// MarshalJSON implements json.Marshaler.
func (m members) MarshalJSON() ([]byte, error) {
	var b bytes.Buffer
	b.WriteByte('{')
	for i, name := range m.names {
		if i > 0 {
			b.WriteByte(',')
		}
		key, err := plain(name)
		if err != nil {
			return nil, err
		}
		value, err := plain(m.values[name])
		if err != nil {
			return nil, err
		}
		b.Write(key)
		b.WriteByte(':')
		b.Write(value)
	}
	b.WriteByte('}')
	return b.Bytes(), nil
}

// plain writes JSON with <, > and & as they are.
func plain(v any) ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	err := e.Encode(v)
	return bytes.TrimRight(b.Bytes(), "\n"), err
}

// inOrder puts the members of objects in the order that they have in a text of
// the same shape.
func inOrder(v any, like json.RawMessage) any {
	switch v := v.(type) {
	case map[string]any:
		names, values := membersOf(like)
		m := members{values: map[string]any{}}
		for _, name := range names {
			if inner, ok := v[name]; ok {
				m.names, m.values[name] = append(m.names, name), inOrder(inner, values[name])
			}
		}
		for _, name := range slices.Sorted(maps.Keys(v)) {
			if _, there := m.values[name]; !there {
				m.names, m.values[name] = append(m.names, name), inOrder(v[name], nil)
			}
		}
		return m
	case []any:
		var elements []json.RawMessage
		_ = json.Unmarshal(like, &elements) // where it is none, no order is known
		out := make([]any, len(v))
		for i, inner := range v {
			var of json.RawMessage
			if i < len(elements) {
				of = elements[i]
			}
			out[i] = inOrder(inner, of)
		}
		return out
	}
	return v
}

// membersOf are the members of an object in their order.
func membersOf(text json.RawMessage) (names []string, values map[string]json.RawMessage) {
	if json.Unmarshal(text, &values) != nil {
		return nil, nil
	}
	d := json.NewDecoder(bytes.NewReader(text))
	if _, err := d.Token(); err != nil {
		return nil, nil
	}
	for d.More() {
		name, err := d.Token()
		key, ok := name.(string)
		var skipped json.RawMessage
		if err != nil || !ok || d.Decode(&skipped) != nil {
			break
		}
		names = append(names, key)
	}
	return names, values
}
