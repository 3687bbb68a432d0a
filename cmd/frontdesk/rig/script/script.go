// Package script runs scripts of command lines, as operators type them, against programs and a desk that a script may
// have serve (testscript, https://pkg.go.dev/github.com/rogpeppe/go-internal/testscript). It is for tests.
package script

import (
	"fmt"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"frontdesk/cmd/frontdesk/rig"
)

// Program runs a command line with that standard input, to its end.
type Program func(t testing.TB, input string, args ...string) (code int, stdout, stderr string)

// Commands are what a script may do beside, by name.
type Commands map[string]func(s *testscript.TestScript, args []string)

// Options are what scripts are about.
type Options struct {
	Dir      string
	Update   bool // writes what is compared anew
	Programs map[string]Program
	Commands Commands
	Setup    func(t *testing.T, env *testscript.Env) // in the folder of the script
	Inherit  []string                                // variables of a script that programs see
}

// Run runs all scripts of a folder, one after the other: each in its folder, which is the process's own. A line that begins
// with exit1 or exit2 expects that exit code of a program, another one 0. In what programs print HERE is the script's
// folder; $REPOSITORY is this repository, $SESSION
// a session that was listed last.
func Run(t *testing.T, o Options) {
	commands := map[string]func(*testscript.TestScript, bool, []string){}
	for _, some := range []Commands{o.Commands, filesCommands, servedCommands} {
		for name, does := range some {
			commands[name] = func(s *testscript.TestScript, _ bool, args []string) { does(s, args) }
		}
	}
	for name := range o.Programs {
		commands[name] = func(s *testscript.TestScript, _ bool, args []string) { o.run(s, name, 0, args) }
	}
	for code := 1; code <= 2; code++ {
		commands[fmt.Sprint("exit", code)] = func(s *testscript.TestScript, _ bool, args []string) { o.run(s, args[0], code, args[1:]) }
	}
	repository := rig.Repository(t)
	testscript.RunT(oneByOne{t}, testscript.Params{Dir: o.Dir, UpdateScripts: o.Update, Cmds: commands, Setup: func(env *testscript.Env) error {
		t := env.T().(oneByOne).T
		env.Setenv("REPOSITORY", repository)
		t.Chdir(env.WorkDir)
		env.Values[deskKey{}] = &served{t: t, tokens: map[string]string{}}
		if o.Setup != nil {
			o.Setup(t, env)
		}
		return nil
	}})
}

// Of is the test that a script is.
func Of(s *testscript.TestScript) *testing.T { return deskOf(s).t }

// oneByOne has scripts run one after the other.
type oneByOne struct{ *testing.T }

func (oneByOne) Parallel()     {}
func (oneByOne) Verbose() bool { return testing.Verbose() }

func (o oneByOne) Run(name string, script func(testscript.T)) {
	o.T.Run(name, func(t *testing.T) { script(oneByOne{t}) })
}

var anySession = regexp.MustCompile(`(?m)^[0-9a-f]{12}`) // in the list of those that are open

// run runs a program, with the file behind < as its standard input.
func (o Options) run(s *testscript.TestScript, program string, want int, args []string) {
	run := o.Programs[program]
	if run == nil {
		s.Fatalf("what program is %s?", program)
	}
	input := ""
	if last := len(args) - 1; last >= 0 && strings.HasPrefix(args[last], "<") {
		input, args = s.ReadFile(args[last][1:]), args[:last]
	}
	s.Check(os.Chdir(s.MkAbs(".")))
	for _, name := range o.Inherit {
		if value := s.Getenv(name); value != "" {
			s.Check(os.Setenv(name, value))
			defer os.Unsetenv(name)
		}
	}
	code, stdout, stderr := run(Of(s), input, args...)
	if id := anySession.FindString(stdout); id != "" {
		s.Setenv("SESSION", id)
	}
	here := strings.NewReplacer(s.Getenv("WORK"), "HERE")
	_, _ = here.WriteString(s.Stdout(), stdout)
	_, _ = here.WriteString(s.Stderr(), stderr)
	if code != want {
		s.Fatalf("exit code %d, expected %d\n%s%s", code, want, stdout, stderr)
	}
}

// filesCommands look at files, and change them.
var filesCommands = Commands{
	"mode": func(s *testscript.TestScript, args []string) { // MODE FILE
		info, err := os.Stat(s.MkAbs(args[1]))
		s.Check(err)
		if mode := fmt.Sprintf("0%o", info.Mode().Perm()); mode != args[0] {
			s.Fatalf("%s has mode %s", args[1], mode)
		}
	},
	"ls": func(s *testscript.TestScript, _ []string) {
		entries, err := os.ReadDir(s.MkAbs("."))
		s.Check(err)
		for _, e := range entries {
			fmt.Fprintln(s.Stdout(), e.Name())
		}
	},
	"replace": func(s *testscript.TestScript, args []string) { // OLD NEW FILE
		text := s.ReadFile(args[2])
		if !strings.Contains(text, args[0]) {
			s.Fatalf("%s has no %s", args[2], args[0])
		}
		s.Check(os.WriteFile(s.MkAbs(args[2]), []byte(strings.ReplaceAll(text, args[0], args[1])), 0o600))
	},
}
