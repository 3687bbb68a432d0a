package mapfixture

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/go-json-experiment/json/jsontext"
)

// The texts that stand for what varies.
const (
	anyValue  = "<any>"
	anyID     = "<id>"
	anyMoment = "<timestamp>"
)

// parse reads JSON with its numbers as they are written.
func parse(text string) (v any, err error) {
	d := json.NewDecoder(strings.NewReader(text))
	d.UseNumber()
	err = d.Decode(&v)
	return v, err
}

// differences are where what was answered is not what is expected, line by line:
// the path, what was expected and what was seen.
func differences(path string, expected, seen any) []string {
	if text, ok := expected.(string); ok && stands(text, seen) {
		return nil
	}
	switch e := expected.(type) {
	case map[string]any:
		if s, ok := seen.(map[string]any); ok {
			return memberDifferences(path, e, s)
		}
	case []any:
		if s, ok := seen.([]any); ok {
			return elementDifferences(path, e, s)
		}
	case json.Number:
		if s, ok := seen.(json.Number); ok && sameNumber(e, s) {
			return nil
		}
	default:
		if expected == seen {
			return nil
		}
	}
	return []string{"- " + path + ": " + shown(expected), "+ " + path + ": " + shown(seen)}
}

func memberDifferences(path string, expected, seen map[string]any) (all []string) {
	names := maps.Clone(expected)
	maps.Copy(names, seen)
	for _, name := range slices.Sorted(maps.Keys(names)) {
		at := name
		if path != "" {
			at = path + "." + name
		}
		e, wanted := expected[name]
		s, there := seen[name]
		switch {
		case !there:
			all = append(all, "- "+at+": "+shown(e))
		case !wanted:
			all = append(all, "+ "+at+": "+shown(s))
		default:
			all = append(all, differences(at, e, s)...)
		}
	}
	return all
}

func elementDifferences(path string, expected, seen []any) (all []string) {
	for i := range max(len(expected), len(seen)) {
		at := fmt.Sprintf("%s[%d]", path, i)
		switch {
		case i >= len(seen):
			all = append(all, "- "+at+": "+shown(expected[i]))
		case i >= len(expected):
			all = append(all, "+ "+at+": "+shown(seen[i]))
		default:
			all = append(all, differences(at, expected[i], seen[i])...)
		}
	}
	return all
}

func sameNumber(a, b json.Number) bool {
	if a == b {
		return true
	}
	x, err := a.Float64()
	y, fault := b.Float64()
	return err == nil && fault == nil && x == y
}

// stands tells whether a placeholder stands for a value.
func stands(placeholder string, v any) bool {
	switch placeholder {
	case anyValue:
		return true
	case anyID:
		n, ok := v.(json.Number)
		id, err := strconv.ParseInt(n.String(), 10, 32)
		return ok && err == nil && id > 0
	case anyMoment:
		text, ok := v.(string)
		_, err := time.Parse("2006-01-02T15:04:05.000Z", text)
		return ok && err == nil
	}
	return false
}

const longestShown = 70

func shown(v any) string {
	text := plain(v)
	if s := []rune(text); len(s) > longestShown {
		return string(s[:longestShown]) + "…"
	}
	return text
}

// plain writes what was read as JSON, with <, > and & as they are.
func plain(v any) string {
	var b strings.Builder
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if e.Encode(v) != nil { // which nothing that was read makes happen
		return "?"
	}
	return strings.TrimSuffix(b.String(), "\n")
}

// recorded is an answer as it is written into a fixture, in the order that it has:
// with the placeholders that stood there and still hold, and of a new answer with
// those of what is never the same twice. created tells that the record was made by
// the request.
func recorded(expected any, answer jsontext.Value, name string, created bool) jsontext.Value {
	seen, err := parse(string(answer))
	if text, ok := expected.(string); err == nil && ok && stands(text, seen) {
		return jsontext.Value(plain(text))
	}
	switch seen.(type) {
	case map[string]any:
		e, _ := expected.(map[string]any)
		return rewritten(answer, func(name string, _ int, v jsontext.Value) jsontext.Value {
			return recorded(e[name], v, name, created)
		})
	case []any:
		e, _ := expected.([]any)
		return rewritten(answer, func(_ string, i int, v jsontext.Value) jsontext.Value {
			var was any
			if i < len(e) {
				was = e[i]
			}
			return recorded(was, v, "", created)
		})
	}
	switch {
	case name == "request_id" || name == "token":
		return jsontext.Value(plain(anyValue))
	case name == "id" && created && stands(anyID, seen):
		return jsontext.Value(plain(anyID))
	case (name == "created_at" || name == "modified_at") && stands(anyMoment, seen):
		return jsontext.Value(plain(anyMoment))
	}
	return answer
}

// rewritten is an object or a list, which is valid, with what f makes of its values.
func rewritten(of jsontext.Value, f func(name string, i int, v jsontext.Value) jsontext.Value) jsontext.Value {
	var b bytes.Buffer
	in, out := jsontext.NewDecoder(bytes.NewReader(of)), jsontext.NewEncoder(&b)
	begin, _ := in.ReadToken()
	_ = out.WriteToken(begin)
	for i := 0; in.PeekKind() != '}' && in.PeekKind() != ']'; i++ {
		name := ""
		if of.Kind() == '{' {
			member, _ := in.ReadToken()
			name = member.String()
			_ = out.WriteToken(jsontext.String(name))
		}
		v, _ := in.ReadValue()
		_ = out.WriteValue(f(name, i, v))
	}
	end, _ := in.ReadToken()
	_ = out.WriteToken(end)
	return b.Bytes()
}
