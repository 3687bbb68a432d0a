package remote

import (
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"frontdesk/cmd/frontdesk/rig/must"
)

// exchange is what the service is asked, and what it answers.
type exchange struct {
	asked  string // method, address and body
	heads  []string
	status int
	kind   string // of the body, "" for none
	body   string
	lost   bool // it is not answered
}

// scriptStep is a step of a case of testdata/connector, whose README says how they are written.
type scriptStep struct {
	line      string
	exchanges []exchange
	want      []string
}

type scriptCase struct {
	name, sheet string
	steps       []scriptStep
}

var bodyKinds = map[string]string{"html": "text/html", "json": "application/json", "xml": "text/xml; charset=utf-8", "none": ""}

// TestConnector plays the cases of testdata/connector: what a connector is asked, what it asks the service,
// what it is answered, and what it makes of that.
func TestConnector(t *testing.T) {
	files := must.Have(filepath.Glob("testdata/connector/*.txt"))(t)
	require.NotEmpty(t, files)
	for _, file := range files {
		sheets, cases := scriptIn(t, file)
		for _, of := range cases {
			t.Run(filepath.Base(file)+"/"+of.name, func(t *testing.T) {
				t.Parallel()
				require.Contains(t, sheets, strings.TrimSuffix(of.sheet, ", front"))
				s := &scripted{t: t}
				p := &play{T: t, who: noord, known: map[string]taken{}, owners: map[int32]int64{}, texts: map[int64]string{}}
				if name, front := strings.CutSuffix(of.sheet, ", front"); front {
					p.d = fronted(t, sheets[name], s)
					p.front = patient(t, p.d)
				} else {
					p.c = speaking(t, sheets[of.sheet], s)
					p.c.owners = p.ownersOf
				}
				for _, step := range of.steps {
					s.begins(step)
					p.step(step)
					require.Empty(t, s.left, "%s: not asked", step.line)
				}
			})
		}
	}
}

// scriptIn reads the sheets and the cases of a file.
func scriptIn(t *testing.T, file string) (sheets map[string]string, cases []scriptCase) {
	t.Helper()
	text := must.Have(os.ReadFile(file))(t)
	sheets = map[string]string{}
	var lets []string
	within := "" // the sheet that lines are of
	for line := range strings.Lines(string(text)) {
		line = strings.TrimSuffix(line, "\n")
		head, isHead := strings.CutPrefix(line, "=== ")
		let, isLet := strings.CutPrefix(line, "let ")
		name, isSheet := strings.CutPrefix(head, "sheet ")
		switch {
		case isHead && isSheet:
			within = name
		case isHead:
			name, of, _ := strings.Cut(strings.TrimSuffix(head, ")"), " (")
			within = ""
			cases = append(cases, scriptCase{name: name, sheet: of})
		case within != "":
			sheets[within] += line + "\n"
		case isLet:
			word, stands, _ := strings.Cut(let, " = ")
			lets = append(lets, word, strings.NewReplacer(lets...).Replace(stands))
		case line != "" && line[0] != '#':
			last := &cases[len(cases)-1]
			last.steps = lineOf(t, last.steps, strings.NewReplacer(lets...).Replace(line))
		}
	}
	return sheets, cases
}

// lineOf adds a line to the steps, or to the last of them.
func lineOf(t *testing.T, steps []scriptStep, line string) []scriptStep {
	t.Helper()
	mark, rest, _ := strings.Cut(line, " ")
	if !strings.Contains("> >> < = !", mark) {
		return append(steps, scriptStep{line: line})
	}
	step := &steps[len(steps)-1]
	last := len(step.exchanges) - 1
	switch mark {
	case ">":
		step.exchanges = append(step.exchanges, exchange{asked: rest})
	case ">>":
		step.exchanges[last].heads = append(step.exchanges[last].heads, rest)
	case "<":
		e := &step.exchanges[last]
		if e.lost = rest == "lost"; e.lost {
			break
		}
		status, body, _ := strings.Cut(rest, " ")
		kind, text, _ := strings.Cut(body, " ")
		var err error
		e.status, err = strconv.Atoi(status)
		require.NoError(t, err, line)
		if of, said := bodyKinds[kind]; said {
			e.kind, e.body = of, text
		} else {
			e.kind, e.body = bodyKinds["json"], body
		}
	default:
		step.want = append(step.want, line)
	}
	return steps
}

// scripted is the service of a script: it answers what it is to be asked next.
type scripted struct {
	t    *testing.T
	left []exchange
}

func (s *scripted) begins(step scriptStep) { s.left = slices.Clone(step.exchanges) }

func (s *scripted) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	in, _ := io.ReadAll(r.Body)
	asked := strings.TrimSpace(r.Method + " " + r.RequestURI + " " + strings.ReplaceAll(string(in), "\n", " "))
	if len(s.left) == 0 {
		assert.Fail(s.t, "asked once more", asked)
		return
	}
	e := s.left[0]
	s.left = s.left[1:]
	assert.Equal(s.t, e.asked, asked)
	for _, head := range e.heads {
		name, value, _ := strings.Cut(head, ": ")
		assert.Equal(s.t, value, strings.Join(r.Header.Values(name), ", "), "%s: %s", asked, name)
	}
	if e.lost {
		panic(http.ErrAbortHandler)
	}
	w.Header().Set("Content-Type", e.kind)
	w.WriteHeader(e.status)
	_, _ = fmt.Fprint(w, e.body)
}
