package main

import (
	"testing"

	"github.com/alecthomas/kong"
	"github.com/stretchr/testify/require"
)

// TestSizeOfTheCommandLine: an operator has to find his way in it at night.
func TestSizeOfTheCommandLine(t *testing.T) {
	parser, err := kong.New(new(commands), kong.Vars{"demo_listen": demoListen})
	require.NoError(t, err)
	names, leaves, flags := len(parser.Model.Children), 0, 0
	for _, leaf := range parser.Model.Leaves(false) {
		leaves++
		for n := leaf; n.Type == kong.CommandNode; n = n.Parent {
			for _, flag := range n.Flags {
				flags++
				t.Logf("%s --%s", leaf.Path(), flag.Name)
			}
		}
	}
	t.Logf("%d names, %d commands, %d flags", names, leaves, flags)
	require.LessOrEqual(t, names, 19)
	require.LessOrEqual(t, leaves, 32)
	require.LessOrEqual(t, flags, 120)
}
