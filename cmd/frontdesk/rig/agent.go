package rig

import (
	"encoding/json"
	"time"

	"github.com/stretchr/testify/require"
)

// AgentsPath is where agents call their tools.
const AgentsPath = "/mcp"

// Told is what a tool answered.
type Told struct {
	Status    int
	Headers   map[string]string
	Body      json.RawMessage
	Help      []struct{ Reason, Cause, Cure string }
	Ticket    string
	Expires   time.Time
	NotJudged string `json:"not_judged"`
}

// ToolCall is the message that calls a tool.
func ToolCall(tool string, arguments any) string {
	text, err := json.Marshal(map[string]any{"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": map[string]any{"name": tool, "arguments": arguments}})
	if err != nil {
		panic(err) // a test's own arguments
	}
	return string(text)
}

// Tool calls a tool, which must answer in the protocol; arguments are an object, as Go or as JSON.
func (d *Desk) Tool(token, tool string, arguments any) (told Told) {
	d.T.Helper()
	if text, ok := arguments.(string); ok {
		arguments = json.RawMessage(text)
	}
	a := d.Gets(200, "POST", AgentsPath, token, ToolCall(tool, arguments))
	var message struct {
		Result struct {
			StructuredContent Told
			IsError           bool
			Content           []struct{ Text string }
		}
	}
	require.NoError(d.T, json.Unmarshal(a.Body, &message))
	answer := message.Result
	told = answer.StructuredContent
	require.NotZero(d.T, told.Status, "%s", a.Body)
	require.Equal(d.T, answer.IsError, told.Status >= 400, "%s", a.Body)
	require.Equal(d.T, answer.IsError, len(told.Help) > 0, "%s", a.Body)
	var text Told
	require.NoError(d.T, json.Unmarshal([]byte(answer.Content[0].Text), &text))
	require.Equal(d.T, told, text, "what is structured is the text, too")
	return told
}

// Rehearse rehearses a change that nothing is wrong with.
func (d *Desk) Rehearse(token string, arguments any) Told {
	d.T.Helper()
	told := d.Tool(token, "rehearse", arguments)
	require.Equal(d.T, 200, told.Status, "%s", told.Body)
	require.NotEmpty(d.T, told.Ticket)
	return told
}

// Commit commits a ticket.
func (d *Desk) Commit(token, ticket string) Told {
	d.T.Helper()
	return d.Tool(token, "commit", map[string]string{"ticket": ticket})
}
