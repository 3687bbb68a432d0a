package main

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

// scriptedDesk is a desk that a script starts with serve, on its frontdesk.yaml.
type scriptedDesk struct {
	*rig.Kept
	t      *testing.T
	tokens map[string]string // of sessions, by the name that login gives them
	asked  string            // the last request
}

// servedCommands are those of scripts that need a desk. Answers are printed; $ID is that of the last record
// that was written, $OPS the address for operators.
var servedCommands = map[string]func(s *testscript.TestScript, d *scriptedDesk, args []string){
	"serve": func(s *testscript.TestScript, d *scriptedDesk, _ []string) {
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
	"stopped": func(_ *testscript.TestScript, d *scriptedDesk, _ []string) { d.Shutdown() },
	"hangup": func(s *testscript.TestScript, d *scriptedDesk, args []string) { // with another configuration
		d.Write(s.ReadFile(args[0]))
		d.HangUp()
	},
	"login": func(_ *testscript.TestScript, d *scriptedDesk, args []string) { // NAME KEY USER
		d.tokens[args[0]] = d.Login(map[string]string{"full": rig.FullKey, "orders": rig.OrdersKey, "plain": rig.ArrayKey(0)}[args[1]], args[2])
	},
	"call": func(s *testscript.TestScript, d *scriptedDesk, args []string) { // STATUS WHO METHOD PATH [BODY]
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
	"log": func(s *testscript.TestScript, d *scriptedDesk, files []string) { // as several gateways wrote it, and printed
		accessed(d.t, &d.Desk, d.asked)
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

// deskKey has the desk of a script in its values.
type deskKey struct{}

// withServed adds the commands that need a desk to others.
func withServed(all map[string]func(*testscript.TestScript, bool, []string)) map[string]func(*testscript.TestScript, bool, []string) {
	for name, does := range servedCommands {
		all[name] = func(s *testscript.TestScript, _ bool, args []string) {
			does(s, s.Value(deskKey{}).(*scriptedDesk), args)
		}
	}
	return all
}
