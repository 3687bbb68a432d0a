// Package recipes follows the recipes of docs/development.md ("How to add …"): it makes
// the changes that they name, and no other, in a copy of the tree, and looks whether
// each addition works. What is added is in testdata, a folder a recipe: new files as they
// are, changes of others as diffs.
package recipes

import (
	"os"
	"testing"

	"frontdesk/cmd/frontdesk/rig"
)

func TestMain(m *testing.M) { os.Exit(rig.Main(m)) }
