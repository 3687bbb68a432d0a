package rows

import (
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"frontdesk/cmd/frontdesk/desk"
	"frontdesk/cmd/frontdesk/rig"
)

// script runs a section of testdata/contract.txt. Its lines are
//
//	201 [Header: value] @session METHOD target body -> name   a request, and the name of the ID that is answered
//	409 METHOD target body => message                         each => is a message of an error, in order
//	== {…}, ~~ {…}                                            what the answer is as JSON, and what it has, where "/…/" is a pattern
//	ids 1 2, ids -                                            the IDs of a list
//	  is, isnot, has, not TEXT, empty, errors N               the answer's text, and how many errors it tells
//	  Name: value, !value, /pattern/, -                       a header of the answer
//	  name := .data.field, ETag, body                         keeps a value, a header, or the answer
//	set, login, plate, number, group, upper, …                values for $name, and what is done behind the desk's back
//
// What is expected may follow its request in lines that begin with blanks. ⟨a|b⟩ has a request asked once with each, «a*9»
// repeats (# is the number of the repetition), and «\x00» is such a character.
type script struct {
	*rig.Practice
	vars  map[string]string
	last  rig.Answer
	wants []string // messages that the last answer has to have
}

// section is one of the file, line by line.
type section struct {
	name  string
	lines []string
}

func readContract(t *testing.T) (before []string, all []section) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("testdata", "contract.txt"))
	require.NoError(t, err)
	for line := range strings.Lines(string(text)) {
		line = strings.TrimSuffix(line, "\n")
		name, begins := strings.CutPrefix(line, "## ")
		switch {
		case begins:
			all = append(all, section{name: name})
		case line == "" || line[0] == '#':
		case len(all) == 0:
			before = append(before, line)
		default:
			all[len(all)-1].lines = append(all[len(all)-1].lines, line)
		}
	}
	return before, all
}

func newScript(p *rig.Practice) *script {
	return &script{Practice: p, vars: map[string]string{"full": rig.FullKey, "base": p.Base, "version": desk.Version(), "demo": p.Token, "none": ""}}
}

// run runs lines; those that begin with blanks belong to the request before them.
func (s *script) run(lines []string) {
	for i := 0; i < len(lines); {
		n := i + 1
		for n < len(lines) && strings.HasPrefix(lines[n], "  ") {
			n++
		}
		if lines[i][0] < '0' || lines[i][0] > '9' {
			s.direct(lines[i])
		} else {
			s.request(lines[i], lines[i+1:n])
		}
		i = n
	}
}

// direct does what is no request.
func (s *script) direct(line string) {
	what, rest, _ := strings.Cut(line, " ")
	name, value, _ := strings.Cut(rest, " ")
	switch value = s.fill(value); what {
	case "set":
		s.vars[name] = strings.TrimPrefix(value, "= ")
	case "login":
		key, user, _ := strings.Cut(value, " ")
		s.vars[name] = s.Login(map[string]string{
			"full": rig.FullKey, "orders": rig.OrdersKey, "slow": rig.SlowKey, "changes": rig.ChangesKey, "vehicles": rig.VehiclesKey, "nothing": rig.TinyKey,
		}[key], user)
	case "plate":
		s.vars[name] = s.Plate()
	case "number":
		s.vars[name] = fmt.Sprint(s.Next())
	case "group":
		s.vars[name] = fmt.Sprint(s.Group(value))
	case "upper":
		s.vars[name] = strings.ToUpper(value)
	case "undashed":
		s.vars[name] = strings.ToLower(strings.ReplaceAll(value, "-", ""))
	case "unquoted":
		s.vars[name] = strings.Trim(value, `"`)
	case "alter":
		s.Alter("%s", s.fill(rest))
	case "describes":
		s.Faults.Describes(rest)
	case "fails":
		s.Faults.Set(rig.Fails)
	case "works":
		s.Faults.None()
	default:
		s.T.Fatalf("what is this? %s", line)
	}
}

var (
	variable  = regexp.MustCompile(`\$[A-Za-z_]\w*|\$\{\w+\}`)
	choice    = regexp.MustCompile(`⟨([^⟩]*)⟩`)
	macro     = regexp.MustCompile(`«([^»]*)»`)
	asked     = regexp.MustCompile(`^(\d{3}) ((?:\[[^]]*\] |@\S+ )*)([A-Z]+) (\S+)(?: ((?s).*))?$`)
	with      = regexp.MustCompile(`\[([\w-]+): ?([^]]*)\]|@(\S+)`)
	expected  = regexp.MustCompile(` (=>|==|~~|->|ids) `)
	headerIs  = regexp.MustCompile(`^([A-Z][\w-]*):(?: (.*))?$`)
	keepsThis = regexp.MustCompile(`^(\w+) := (\S+)$`)
)

// fill puts values in the places of their names.
func (s *script) fill(text string) string {
	return variable.ReplaceAllStringFunc(text, func(name string) string {
		value, ok := s.vars[strings.Trim(name, "${}")]
		if !ok && name != "$target" {
			s.T.Fatalf("nothing is called %s", name)
		} else if !ok {
			return name
		}
		return value
	})
}

// spell writes out what is repeated or cannot be written.
func spell(text string) string {
	return macro.ReplaceAllStringFunc(text, func(m string) string {
		m = strings.NewReplacer("«", "", "»", "").Replace(m)
		if at := strings.LastIndexByte(m, '*'); at > 0 {
			if n, err := strconv.Atoi(m[at+1:]); err == nil {
				var all strings.Builder
				for i := range n {
					all.WriteString(strings.ReplaceAll(m[:at], "#", strconv.Itoa(i)))
				}
				return all.String()
			}
		}
		plain, err := strconv.Unquote(`"` + m + `"`)
		if err != nil {
			panic(m)
		}
		return plain
	})
}

// request asks once with each of the choices in a line.
func (s *script) request(line string, expectations []string) {
	line = s.fill(line)
	if at := choice.FindStringSubmatchIndex(line); at != nil {
		for one := range strings.SplitSeq(line[at[2]:at[3]], "|") {
			s.request(line[:at[0]]+one+line[at[1]:], expectations)
		}
		return
	}
	var inline string
	if at := expected.FindStringIndex(line); at != nil {
		line, inline = line[:at[0]], line[at[0]+1:]
	}
	m := asked.FindStringSubmatch(line)
	require.NotNil(s.T, m, line)
	token, headers := s.Token, []string{}
	for _, b := range with.FindAllStringSubmatch(m[2], -1) {
		if b[3] == "" {
			headers = append(headers, b[1], spell(b[2]))
		} else if known, ok := s.vars[b[3]]; ok {
			token = known
		} else {
			token = b[3]
		}
	}
	s.last, s.wants = s.Call(m[3], spell(m[4]), token, spell(m[5]), headers...), nil
	require.Equal(s.T, m[1], strconv.Itoa(s.last.Status), "%s: %s", line, s.last.Body)
	s.vars["target"], _, _ = strings.Cut(m[4], "?")
	for _, e := range append([]string{inline}, expectations...) {
		if e != "" {
			s.expect(line, strings.TrimPrefix(e, "  "))
		}
	}
	delete(s.vars, "target")
	if s.wants != nil {
		require.Equal(s.T, s.wants, s.messages(), line)
	}
}

// messages are those of all errors of the last answer.
func (s *script) messages() (all []string) {
	e := s.last.Failure(s.T)
	for _, one := range e.Errors {
		all = append(all, one.Message)
	}
	if all == nil {
		all = []string{e.Message}
	}
	return all
}

// expect holds the last answer to one expectation, or keeps something of it.
func (s *script) expect(line, e string) {
	s.T.Helper()
	if m := keepsThis.FindStringSubmatch(e); m != nil {
		s.vars[m[1]] = s.part(m[2])
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
		s.vars[text] = fmt.Sprint(s.last.ID(s.T))
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
	case "errors":
		require.Equal(s.T, text, strconv.Itoa(len(s.messages())), line)
	default:
		s.T.Fatalf("what is this? %s", e)
	}
}

// ids are those of the records of a list.
func (s *script) ids() []int {
	var page rig.Page
	require.NoError(s.T, json.Unmarshal(s.last.Body, &page))
	return rig.Ids(page)
}

func (s *script) expectHeader(line, name, want string) {
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
func (s *script) part(of string) string {
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

// has tells whether a value has all that is wanted: members, the same elements, or what fits a pattern.
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
