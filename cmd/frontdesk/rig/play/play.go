// Package play asks a desk what a text says, a request a line, and holds it to the answers that follow. It is
// for tests, and for requests alone: command lines are testscript's.
package play

import (
	"cmp"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"frontdesk/cmd/frontdesk/desk"
	"frontdesk/cmd/frontdesk/rig"
)

// Script plays lines, one after the other, on one desk:
//
//	201 [Header: value] @session METHOD target body -> name   a request, and the name of the ID that is answered
//	409 METHOD target body => message                         each => is a message of an error, in order
//	== {…}, ~~ {…}                                            what the answer is as JSON, and what it has, where "/…/" is a pattern
//	ids 1 2, ids -                                            the IDs of a list
//	  is, isnot, has, not TEXT, empty, errors N               the answer's text, and how many errors it tells
//	  Name: value, !value, /pattern/, -                       a header of the answer
//	  limited CAUSE SECONDS, cause KEY CAUSE ADDRESS          who refused it, as the access log has it
//	  name := .data.field, ETag, body                         keeps a value, a header, or the answer
//	set, login, plate, number, group, upper, …                values for $name, and what is done behind the desk's back
//
// What is expected may follow its request in lines that begin with blanks. ⟨a|b⟩ has a request asked once with each, «a*9»
// repeats (# is the number of the repetition), and «\x00» is such a character.
type Script struct {
	*rig.Practice
	Vars  map[string]string // by the names that lines have for them
	last  rig.Answer
	wants []string // messages that the last answer has to have
}

// Section is one of a file, line by line.
type Section struct {
	Name  string
	Lines []string
}

// Read reads a file: what stands before its sections is for each of them. An empty line, and one that begins with #, says nothing.
func Read(t testing.TB, file string) (before []string, all []Section) {
	t.Helper()
	for line := range strings.Lines(rig.Read(t, file)) {
		line = strings.TrimSuffix(line, "\n")
		name, begins := strings.CutPrefix(line, "## ")
		switch {
		case begins:
			all = append(all, Section{Name: name})
		case line == "" || line[0] == '#':
		case len(all) == 0:
			before = append(before, line)
		default:
			all[len(all)-1].Lines = append(all[len(all)-1].Lines, line)
		}
	}
	return before, all
}

// New is a script for that desk, whose session is that of the practice.
func New(p *rig.Practice) *Script {
	return &Script{Practice: p, Vars: map[string]string{"full": rig.FullKey, "base": p.Base, "version": desk.Version(), "demo": p.Token, "none": ""}}
}

// Part plays a section of a file on a desk, with further values by name.
func Part(d *rig.Desk, file, section string, named map[string]string) {
	d.T.Helper()
	s := New(&rig.Practice{Desk: d, T: d.T, Token: d.Login(rig.FullKey, "demo")})
	maps.Copy(s.Vars, named)
	before, all := Read(d.T, file)
	at := slices.IndexFunc(all, func(one Section) bool { return one.Name == section })
	require.GreaterOrEqual(d.T, at, 0, "%s has no section %s", file, section)
	s.Run(append(before, all[at].Lines...))
}

// Run plays lines; those that begin with blanks belong to the request before them.
func (s *Script) Run(lines []string) {
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
func (s *Script) direct(line string) {
	what, rest, _ := strings.Cut(line, " ")
	name, value, _ := strings.Cut(rest, " ")
	switch value = s.fill(value); what {
	case "set":
		s.Vars[name] = strings.TrimPrefix(value, "= ")
	case "login":
		key, user, _ := strings.Cut(value, " ")
		s.Vars[name] = s.Login(cmp.Or(map[string]string{
			"full": rig.FullKey, "orders": rig.OrdersKey, "slow": rig.SlowKey, "changes": rig.ChangesKey, "vehicles": rig.VehiclesKey, "nothing": rig.TinyKey,
		}[key], key), user)
	case "plate":
		s.Vars[name] = s.Plate()
	case "number":
		s.Vars[name] = fmt.Sprint(s.Next())
	case "group":
		s.Vars[name] = fmt.Sprint(s.Group(value))
	case "upper":
		s.Vars[name] = strings.ToUpper(value)
	case "undashed":
		s.Vars[name] = strings.ToLower(strings.ReplaceAll(value, "-", ""))
	case "unquoted":
		s.Vars[name] = strings.Trim(value, `"`)
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
func (s *Script) fill(text string) string {
	return variable.ReplaceAllStringFunc(text, func(name string) string {
		value, ok := s.Vars[strings.Trim(name, "${}")]
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
func (s *Script) request(line string, expectations []string) {
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
		} else if known, ok := s.Vars[b[3]]; ok {
			token = known
		} else {
			token = b[3]
		}
	}
	if strings.HasPrefix(m[4], "/changes") {
		s.Settled()
	}
	s.last, s.wants = s.Call(m[3], spell(m[4]), token, spell(m[5]), headers...), nil
	require.Equal(s.T, m[1], strconv.Itoa(s.last.Status), "%s: %s", line, s.last.Body)
	s.Vars["target"], _, _ = strings.Cut(m[4], "?")
	for _, e := range append([]string{inline}, expectations...) {
		if e != "" {
			s.expect(line, strings.TrimPrefix(e, "  "))
		}
	}
	delete(s.Vars, "target")
	if s.wants != nil {
		require.Equal(s.T, s.wants, s.messages(), line)
	}
}

// messages are those of all errors of the last answer.
func (s *Script) messages() (all []string) {
	e := s.last.Failure(s.T)
	for _, one := range e.Errors {
		all = append(all, one.Message)
	}
	if all == nil {
		all = []string{e.Message}
	}
	return all
}
