package script

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"frontdesk/cmd/frontdesk/rig"
)

// served is a desk that a script starts with serve, on its frontdesk.yaml.
type served struct {
	*rig.Kept
	t      *testing.T
	tokens map[string]string // of sessions, by the name that login gives them
	asked  string            // the last request
}

// deskKey has the desk of a script in its values.
type deskKey struct{}

func deskOf(s *testscript.TestScript) *served { return s.Value(deskKey{}).(*served) }

// servedCommands are those of scripts that need a desk. Answers are printed; $ID is that of the last record
// that was written, $OPS the address for operators.
var servedCommands = Commands{
	"serve": func(s *testscript.TestScript, _ []string) {
		d := deskOf(s)
		d.Kept = rig.StartKept(d.t, s.MkAbs("frontdesk.yaml"), s.ReadFile("frontdesk.yaml"), false)
		s.Defer(d.Shutdown)
		s.Setenv("OPS", d.Ops)
		s.Setenv("ADDRESS", strings.TrimPrefix(d.Base, "http://"))
		files, err := filepath.Glob(s.MkAbs("*.yaml"))
		s.Check(err)
		for _, file := range files {
			s.Check(os.WriteFile(file, []byte(strings.ReplaceAll(s.ReadFile(file), "OPS", d.Ops)), 0o600))
		}
	},
	"stopped": func(s *testscript.TestScript, _ []string) { deskOf(s).Shutdown() },
	"hangup": func(s *testscript.TestScript, args []string) { // with another configuration
		deskOf(s).Write(s.ReadFile(args[0]))
		deskOf(s).HangUp()
	},
	"login": func(s *testscript.TestScript, args []string) { // NAME KEY USER
		d := deskOf(s)
		d.tokens[args[0]] = d.Login(map[string]string{"full": rig.FullKey, "orders": rig.OrdersKey, "plain": rig.ArrayKey(0)}[args[1]], args[2])
	},
	"call": func(s *testscript.TestScript, args []string) { // STATUS WHO METHOD PATH [BODY]
		d := deskOf(s)
		a := d.Call(args[2], args[3], d.tokens[args[1]], strings.Join(args[4:], " "))
		fmt.Fprintf(s.Stdout(), "%s", a.Body)
		if strconv.Itoa(a.Status) != args[0] {
			s.Fatalf("status %d: %s", a.Status, a.Body)
		}
		d.asked = a.Header.Get("X-Request-Id")
		var made struct{ Data struct{ ID int } }
		if json.Unmarshal(a.Body, &made) == nil && made.Data.ID > 0 {
			s.Setenv("ID", strconv.Itoa(made.Data.ID))
		}
	},
	"log": func(s *testscript.TestScript, files []string) { // as several gateways wrote it, and printed
		d := deskOf(s)
		d.Accessed(d.asked)
		parts, n := make([]string, len(files)), 0
		for line := range strings.Lines(d.Log.String()) {
			parts[n%len(files)] += line
			n++
		}
		for i, file := range files {
			s.Check(os.WriteFile(s.MkAbs(file), []byte(parts[i]), 0o600))
		}
		_, _ = s.Stdout().Write([]byte(d.Log.String()))
	},
}
