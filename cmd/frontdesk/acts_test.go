package main

import (
	"bytes"
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"

	"frontdesk/backend/reference"
	"frontdesk/cmd/frontdesk/desk"
	"frontdesk/cmd/frontdesk/desk/ledger"
	"frontdesk/cmd/frontdesk/terminal"
	"frontdesk/mapping"
)

// TestActsAreSafeForATerminal: of what cannot be seen nothing gets to a terminal, and programs
// read it all the same.
func TestActsAreSafeForATerminal(t *testing.T) {
	const whom = "user \u009b31mjan\u202e\U000e0001 é <b>"
	var out bytes.Buffer
	require.NoError(t, terminal.WriteJSON(&out, actsJSON([]ledger.Act{{Whom: whom}})))
	require.True(t, mapping.IsPlain(string(bytes.ReplaceAll(out.Bytes(), []byte("\n"), nil))), "%q", out.String())
	require.Contains(t, out.String(), "é <b>")
	var read []actJSON
	require.NoError(t, json.Unmarshal(out.Bytes(), &read))
	require.Equal(t, whom, read[0].Whom)
	require.ErrorContains(t, restoreCommand{Client: "Garage\u202e"}.Run(desk.Program{}), reference.ErrName.Error())
}
