package legacy

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"frontdesk/backend/sqlrecord/sqltest"
	"frontdesk/cmd/frontdesk/rig/await"
)

// script is a case of testdata/scripts, whose README says how they are written.
type script struct {
	name      string
	engines   []string
	encoding  string      // of the database in PostgreSQL; "" for UTF8
	dealerpak bool        // its sheet and tables are those of DEALERPAK
	lets      [][3]string // a word, its engines, and what stands for it
	buts      [][2]string // what stands in the sheet of as, and what does here
	parts     map[string][]string
	as        *script // a case before it; nil for none
}

// scripted is a case by its file and its name.
func scripted(t *testing.T, file, name string) *script {
	t.Helper()
	all := scriptsOf(t, file)
	at := slices.IndexFunc(all, func(s *script) bool { return s.name == name })
	require.GreaterOrEqual(t, at, 0, name)
	return all[at]
}

// TestScripts runs the cases of testdata/scripts, each on a database of its own.
func TestScripts(t *testing.T) {
	files, err := filepath.Glob("testdata/scripts/*.txt")
	require.NoError(t, err)
	require.NotEmpty(t, files)
	for engine := range engines { // the servers are everyone's
		run(t, engine, engines[engine](t))
	}
	leaks := goleak.IgnoreCurrent()
	t.Cleanup(func() { await.Goroutines(leaks) })
	for engine := range engines {
		t.Run(engine, func(t *testing.T) {
			t.Parallel()
			dsn := engines[engine](t)
			for _, file := range files {
				for _, s := range scriptsOf(t, filepath.Base(file)) {
					if s.engines == nil || slices.Contains(s.engines, engine) {
						t.Run(filepath.Base(file)+"/"+s.name, func(t *testing.T) { s.run(t, engine, dsn) })
					}
				}
			}
		})
	}
}

var (
	letLine    = regexp.MustCompile(`^let (\S+)(?: \[(.*?)\])?: ?(.*)$`)
	engineLine = regexp.MustCompile(`(?s)^\[(.*?)\] (.*)$`)
)

// scriptsOf are the cases of a file.
func scriptsOf(t *testing.T, file string) (all []*script) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("testdata", "scripts", file))
	require.NoError(t, err)
	var s *script
	part := ""
	for line := range strings.Lines(string(text)) {
		line = strings.ReplaceAll(strings.TrimRight(line, "\n"), `\x1a`, "\x1a")
		name, is := strings.CutPrefix(line, "=== ")
		switch {
		case is:
			s, part = &script{name: name, parts: map[string][]string{}}, "head"
			all = append(all, s)
		case strings.HasPrefix(line, "--- "):
			part = line[4:]
		case line == "" || strings.HasPrefix(line, "#"):
		case part != "head" && part != "sheet" && strings.HasPrefix(line, "  "): // it goes on with the one before
			s.parts[part][len(s.parts[part])-1] += "\n" + line
		case part != "head":
			s.parts[part] = append(s.parts[part], line)
		case strings.HasPrefix(line, "engines: "):
			s.engines = strings.Fields(line)[1:]
		case line == "dealerpak:":
			s.dealerpak = true
		case strings.HasPrefix(line, "encoding: "):
			s.encoding = line[10:]
		case strings.HasPrefix(line, "as: "):
			at := slices.IndexFunc(all, func(other *script) bool { return other.name == line[4:] })
			require.GreaterOrEqual(t, at, 0, line)
			s.as, s.lets, s.buts = all[at], slices.Clone(all[at].lets), slices.Clone(all[at].buts)
		case strings.HasPrefix(line, "but "):
			old, now, is := strings.Cut(line[4:], " => ")
			require.True(t, is, line)
			s.buts = append(s.buts, [2]string{old, now})
		default:
			found := letLine.FindStringSubmatch(line)
			require.NotNil(t, found, line)
			s.lets = append(s.lets, [3]string(found[1:]))
		}
	}
	return all
}

// all are the lines of a part. A case that is as another adds its own, or has its own steps and refusals.
func (s *script) all(part string) []string {
	own, ends := s.parts[part], part == "steps" || part == "refused"
	if s.as == nil || ends && len(s.parts["steps"])+len(s.parts["refused"]) > 0 {
		return own
	}
	if part == "sheet" {
		return slices.Concat(own, s.as.all(part))
	}
	return slices.Concat(s.as.all(part), own)
}

// of are the lines of a part for an engine.
func (s *script) of(part, engine string) (lines []string) {
	for _, line := range s.all(part) {
		if found := engineLine.FindStringSubmatch(line); found != nil {
			if !slices.Contains(strings.Fields(found[1]), engine) {
				continue
			}
			line = found[2]
		}
		lines = append(lines, line)
	}
	for i := range lines {
		for _, let := range slices.Backward(s.lets) { // the last that was said holds
			if let[1] == "" || slices.Contains(strings.Fields(let[1]), engine) {
				lines[i] = strings.ReplaceAll(lines[i], let[0], let[2])
			}
		}
	}
	return lines
}

// text is the sheet for an engine.
func (s *script) text(t *testing.T, engine string) string {
	t.Helper()
	text := strings.Join(s.of("sheet", engine), "\n") + "\n"
	for _, but := range s.buts {
		require.Contains(t, text, but[0])
		text = strings.Replace(text, but[0], but[1], 1)
	}
	return text
}

// open makes the tables in a database of their own, and opens them.
func (s *script) open(t *testing.T, engine string) *tables {
	t.Helper()
	if s.dealerpak {
		x, err := tryMade(t, engine, dealerpaks[engine](t), dealerpakSheet(t, engine))
		require.NoError(t, err)
		return x
	}
	if s.encoding != "" && engine == "postgres" {
		return s.openAt(t, engine, sqltest.PostgresIn(t, s.encoding))
	}
	return s.openAt(t, engine, engines[engine](t))
}

func (s *script) openAt(t *testing.T, engine, dsn string) *tables {
	t.Helper()
	run(t, engine, dsn, s.of("tables", engine)...)
	x, err := tryMade(t, engine, dsn, s.text(t, engine))
	refused := s.of("refused", engine)
	require.Equal(t, refused != nil, err != nil, "%v", err)
	for _, why := range refused {
		require.ErrorContains(t, err, why)
	}
	return x
}

// run plays the steps. A schema is made anew in PostgreSQL sooner than a database.
func (s *script) run(t *testing.T, engine, dsn string) {
	var x *tables
	if engine == "postgres" && s.encoding == "" && !s.dealerpak {
		run(t, engine, dsn, "DROP SCHEMA public CASCADE", "CREATE SCHEMA public")
		x = s.openAt(t, engine, dsn)
	} else {
		x = s.open(t, engine)
	}
	if x == nil { // it is refused
		return
	}
	p, steps := &play{tables: x, t: t, from: time.Now()}, s.of("steps", engine)
	require.NotEmpty(t, steps)
	for _, step := range steps {
		p.step(step)
	}
}
