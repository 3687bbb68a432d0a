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
	text, err := plain(v)
	if err != nil {
		return "?"
	}
	if s := []rune(string(text)); len(s) > longestShown {
		return string(s[:longestShown]) + "…"
	}
	return string(text)
}

// recorded is an answer as it is written into a fixture: with the placeholders
// that stood there and still hold, and of a new answer with those of what is
// never the same twice. created tells that the record was made by the request.
func recorded(expected, seen any, name string, created bool) any {
	if text, ok := expected.(string); ok && stands(text, seen) {
		return expected
	}
	switch s := seen.(type) {
	case map[string]any:
		e, _ := expected.(map[string]any)
		out := map[string]any{}
		for key, v := range s {
			out[key] = recorded(e[key], v, key, created)
		}
		return out
	case []any:
		e, _ := expected.([]any)
		out := make([]any, len(s))
		for i, v := range s {
			var was any
			if i < len(e) {
				was = e[i]
			}
			out[i] = recorded(was, v, "", created)
		}
		return out
	}
	switch {
	case name == "request_id" || name == "token":
		return anyValue
	case name == "id" && created && stands(anyID, seen):
		return anyID
	case (name == "created_at" || name == "modified_at") && stands(anyMoment, seen):
		return anyMoment
	}
	return seen
}

// indented writes JSON for people, with members in the order of the answer.
func indented(v any, like []byte) string {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	if e.Encode(inOrder(v, like)) != nil {
		return string(like)
	}
	return b.String()
}
