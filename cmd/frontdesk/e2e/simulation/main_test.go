// Package simulation lives a day in a minute: a gateway with clients that read, write, copy and
// try again, a system behind it that fails and changes, kills, stops, reloads, and hours in which
// nothing happens. All of it is in one synctest bubble, so that time passes when all wait; what a
// seed draws is drawn again by it.
package simulation

import (
	"os"
	"testing"

	"frontdesk/cmd/frontdesk/rig"
)

func TestMain(m *testing.M) {
	rig.KeepDate()
	os.Exit(rig.Main(m))
}
