package play

import (
	"encoding/json"
	"fmt"
	"net/http"
	"regexp"
	"strconv"
	"strings"

	"github.com/stretchr/testify/require"

	"frontdesk/cmd/frontdesk/rig"
)

// expect holds the last answer to one expectation, or keeps something of it.
func (s *Script) expect(line, e string) {
	s.T.Helper()
	if m := keepsThis.FindStringSubmatch(e); m != nil {
		s.Vars[m[1]] = s.part(m[2])
		return
	}
	e = spell(s.fill(e))
	if m := headerIs.FindStringSubmatch(e); m != nil {
		s.expectHeader(line, m[1], m[2])
		return
	}
	what, text, _ := strings.Cut(e, " ")
	body := string(s.last.Body)
	switch what {
	case "=>":
		s.wants = append(s.wants, text)
	case "->":
		s.Vars[text] = fmt.Sprint(s.last.ID(s.T))
	case "==":
		require.JSONEq(s.T, text, body, line)
	case "~~":
		var want, got any
		require.NoError(s.T, json.Unmarshal([]byte(text), &want), text)
		require.NoError(s.T, json.Unmarshal(s.last.Body, &got), line)
		require.True(s.T, has(got, want), "%s: %s\nis not %s", line, body, text)
	case "ids":
		require.Equal(s.T, strings.Trim(text, "-"), strings.Trim(fmt.Sprint(s.ids()), "[]"), "%s: %s", line, body)
	case "is":
		require.Equal(s.T, text, body, line)
	case "isnot":
		require.NotEqual(s.T, text, body, line)
	case "has":
		require.Contains(s.T, body, text, line)
	case "not":
		require.NotContains(s.T, body, text, line)
	case "empty":
		require.Empty(s.T, body, line)
	case "limited":
		cause, longest, _ := strings.Cut(text, " ")
		n, err := strconv.Atoi(longest)
		require.NoError(s.T, err, e)
		s.RequireLimited(s.last, cause, n)
	case "cause":
		told := s.Accessed(s.last.Header.Get("X-Request-Id"))
		require.Equal(s.T, text, strings.Join([]string{told.Key, told.Cause, told.Address}, " "), line)
	case "errors":
		require.Equal(s.T, text, strconv.Itoa(len(s.messages())), line)
	default:
		s.T.Fatalf("what is this? %s", e)
	}
}

// ids are those of the records of a list.
func (s *Script) ids() []int {
	var page rig.Page
	require.NoError(s.T, json.Unmarshal(s.last.Body, &page))
	return rig.Ids(page)
}

func (s *Script) expectHeader(line, name, want string) {
	got := s.last.Header.Get(name)
	pattern, isPattern := strings.CutPrefix(want, "/")
	pattern, ends := strings.CutSuffix(pattern, "/")
	other, isOther := strings.CutPrefix(want, "!")
	switch {
	case want == "-":
		require.Empty(s.T, got, "%s: %s", line, name)
	case isOther:
		require.NotEqual(s.T, other, got, "%s: %s", line, name)
	case isPattern && ends:
		require.Regexp(s.T, pattern, got, "%s: %s", line, name)
	default:
		require.Equal(s.T, want, got, "%s: %s", line, name)
	}
}

// part is a header, a value, or all of the last answer.
func (s *Script) part(of string) string {
	switch {
	case of == "body":
		return string(s.last.Body)
	case of[0] != '.':
		require.Contains(s.T, s.last.Header, http.CanonicalHeaderKey(of))
		return s.last.Header.Get(of)
	}
	var v any
	require.NoError(s.T, json.Unmarshal(s.last.Body, &v))
	for name := range strings.SplitSeq(of[1:], ".") {
		require.Contains(s.T, v, name)
		v = v.(map[string]any)[name]
	}
	return fmt.Sprint(v)
}

// has reports whether a value has all that is wanted: members, the same elements, or what fits a pattern.
func has(got, want any) bool {
	switch w := want.(type) {
	case map[string]any:
		g, ok := got.(map[string]any)
		for name, value := range w {
			v, there := g[name]
			ok = ok && there && has(v, value)
		}
		return ok
	case []any:
		g, ok := got.([]any)
		ok = ok && len(g) == len(w)
		for i := 0; ok && i < len(w); i++ {
			ok = has(g[i], w[i])
		}
		return ok
	case string:
		if len(w) > 1 && w[0] == '/' && w[len(w)-1] == '/' && got != nil {
			return regexp.MustCompile(w[1 : len(w)-1]).MatchString(fmt.Sprint(got))
		}
	}
	return got == want
}
