// Package pages tries the pages in a real browser.
package pages

import (
	"os"
	"testing"

	"frontdesk/cmd/frontdesk/rig"
)

func TestMain(m *testing.M) { os.Exit(rig.Main(m, endBrowser)) }
