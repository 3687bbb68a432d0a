// Package siege plays attacks on a frontdesk that serves, each from a process of its
// own, beside a client that behaves and never stops, and holds what comes of it to the
// aims of docs/reliability.md. Its long form is make siege.
package siege

import (
	"flag"
	"os"
	"testing"
	"time"

	"frontdesk/cmd/frontdesk/rig"
)

var (
	long   = flag.Bool("long", false, "measure: one attack after the other, each after a quiet run, judged by its times too")
	length = flag.Duration("for", 20*time.Second, "how long an attack lasts in the long form")
)

// TestMain is also where the process of an attacker begins.
func TestMain(m *testing.M) {
	if name := os.Getenv(attackVariable); name != "" {
		os.Exit(attackAs(name, os.Stdin, os.Stdout))
	}
	os.Exit(rig.Main(m))
}
