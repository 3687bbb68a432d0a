package gateway

import (
	"context"
	"crypto/aes"
	"crypto/cipher"
	"crypto/hkdf"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"frontdesk/backend"
	"frontdesk/cmd/frontdesk/rig/must"
	"frontdesk/mapping"
)

// tool calls a tool; arguments are JSON.
func (c visitor) tool(name, arguments string) (told toolAnswer) {
	c.h.t.Helper()
	a := c.ask("POST", agentsPath, fmt.Sprintf(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":%q,"arguments":%s}}`, name, arguments))
	require.Equal(c.h.t, 200, a.status, a.body)
	return decode[struct {
		Result struct {
			StructuredContent toolAnswer `json:"structuredContent"`
		}
	}](c.h.t, a).Result.StructuredContent
}

// TestForgedTickets: who has a session knows all that a ticket is sealed with, and cannot make or change one.
func TestForgedTickets(t *testing.T) {
	t.Parallel()
	h := newLongFixture(t).fixture
	c := h.as("demo")
	seal := made(cipher.NewGCMWithRandomNonce(made(aes.NewCipher(made(hkdf.Key(sha256.New, []byte(c.token), nil, "frontdesk ticket", 32))))))
	commit := func(t ticket) int {
		return c.tool("commit", `{"ticket":"`+base64.RawURLEncoding.EncodeToString(seal.Seal(nil, nil, appendJSON(nil, t), nil))+`"}`).Status
	}
	forged := ticket{Method: "POST", Path: "/contact", Body: json.RawMessage(`{"kind":"person","name":"Forged"}`), Once: "x", Expires: h.clock.Now().Add(time.Minute)}
	require.Equal(t, 403, commit(forged))

	own := c.tool("rehearse", `{"operation":"create","resource":"contact","record":{"kind":"person","name":"Own"}}`).Ticket
	var real ticket
	require.NoError(t, json.Unmarshal(must.Have(seal.Open(nil, nil, must.Have(base64.RawURLEncoding.DecodeString(own))(t), nil))(t), &real))
	for _, change := range []func(*ticket){
		func(t *ticket) { t.Once += "1" },
		func(t *ticket) { t.Path = "/contact/bulk" },
		func(t *ticket) { t.Expires = t.Expires.Add(time.Hour) },
		func(t *ticket) { t.Body = forged.Body },
		func(t *ticket) { t.Match = "x" },
		func(t *ticket) { t.Signed = "" },
	} {
		changed := real
		change(&changed)
		require.Equal(t, 403, commit(changed))
	}
	require.Equal(t, 201, commit(real))
}

// TestDeletingTellsNothing: who may delete a record and not read it is shown nothing of it by a rehearsal.
func TestDeletingTellsNothing(t *testing.T) {
	t.Parallel()
	h := newLongFixture(t).fixture
	const deleter = "33333333-3333-4333-8333-333333333333"
	granted := slices.DeleteFunc(slices.Clone(h.Grants()), func(g Grant) bool { return g.Path == "/contact" && g.Method != "DELETE" })
	h.setKeys(keyOf(keyAll, "all", h.Grants()...), keyOf(deleter, "deleter", granted...))
	id := fmt.Sprint(decode[struct{ Data struct{ ID int } }](t, h.as("demo").ask("POST", "/contact", `{"kind":"person","name":"N"}`)).Data.ID)
	c := visitor{h, h.session(deleter, "demo")}
	require.Equal(t, `{"would_delete":{"id":`+id+`}}`, string(c.tool("rehearse", `{"operation":"delete","resource":"contact","id":`+id+`}`).Body))
	require.NotContains(t, string(c.tool("describe", `{"resource":"contact"}`).Body), `"fields"`)
}

// TestAgentsMeetTheirFields: an agent whose api_key may not use all fields is told of no others, nor by
// what it rehearses.
func TestAgentsMeetTheirFields(t *testing.T) {
	t.Parallel()
	h := newLongFixture(t).fixture
	const narrow = "22222222-2222-4222-8222-222222222222"
	key := keyOf(narrow, "narrow", h.Grants()...)
	key.Rights = mapping.Rights{"contact": {Reads: []string{"note"}, Creates: []string{"note"}, Updates: []string{"note", "language"}}}
	h.setKeys(keyOf(keyAll, "all", h.Grants()...), key)
	all, c := h.as("demo"), visitor{h, h.session(narrow, "demo")}
	id := fmt.Sprint(decode[struct{ Data struct{ ID int } }](t, all.ask("POST", "/contact", `{"kind":"person","name":"N","note":"hidden"}`)).Data.ID)

	seen := func(told toolAnswer) toolAnswer {
		t.Helper()
		text, err := json.Marshal(told)
		require.NoError(t, err)
		require.NotContains(t, string(text), "hidden")
		require.NotContains(t, string(text), `"note"`)
		return told
	}
	require.Equal(t, 200, seen(c.tool("describe", `{"resource":"contact"}`)).Status)
	require.Contains(t, string(all.tool("describe", `{"resource":"contact"}`).Body), `"note"`)
	got := seen(c.tool("get", `{"resource":"contact","id":`+id+`}`))
	require.Equal(t, 200, seen(c.tool("list", `{"resource":"contact"}`)).Status)
	require.Equal(t, 400, c.tool("list", `{"resource":"contact","query":{"note":"hidden"}}`).Status)

	update := seen(c.tool("rehearse", `{"operation":"update","resource":"contact","id":`+id+`,"record":{"name":"O"}}`))
	require.Equal(t, `{"would_update":{"before":{"name":"N"},"after":{"name":"O"}}}`, string(update.Body))
	require.Equal(t, got.Headers["ETag"], update.Headers["ETag"])
	require.Equal(t, 200, all.ask("PUT", "/contact/"+id, `{"note":"hidden still"}`).status)
	require.Equal(t, 200, seen(c.tool("commit", `{"ticket":"`+update.Ticket+`"}`)).Status, "what it sees has not changed")
	require.Equal(t, "Field: note not found in model", decode[struct{ Message string }](t, answered{body: string(
		c.tool("rehearse", `{"operation":"update","resource":"contact","id":`+id+`,"record":{"note":"x"}}`).Body)}).Message)
	require.Equal(t, 200, seen(c.tool("rehearse", `{"operation":"delete","resource":"contact","id":`+id+`}`)).Status)
	require.Equal(t, 200, seen(c.tool("rehearse", `{"operation":"create","resource":"contact","record":{"kind":"person","name":"P"}}`)).Status)
	require.Contains(t, all.ask("GET", "/contact/"+id, "").body, `"note":"hidden still"`)
}

// brokenDriver breaks off, or fails.
type brokenDriver struct{ backend.Driver }

func (brokenDriver) List(context.Context, *mapping.Resource, backend.Query) (backend.Page, error) {
	panic("broken off")
}

func (brokenDriver) Get(context.Context, *mapping.Resource, backend.Query) (mapping.Record, error) {
	return mapping.Record{}, errors.New("away")
}

// TestAgentsAndFailures: what breaks off, and what fails, is answered as to any request, and logged.
func TestAgentsAndFailures(t *testing.T) {
	t.Parallel()
	h := newFixture(t, onDriver(func(h *fixture) backend.Driver { return brokenDriver{h.store} }))
	c := h.as("demo")
	for _, tool := range []string{"list", "get"} {
		told := c.tool(tool, map[string]string{"list": `{"resource":"contact"}`, "get": `{"resource":"contact","id":1}`}[tool])
		require.Equal(t, 500, told.Status)
		require.NotContains(t, string(told.Body), "broken off")
		require.NotEmpty(t, told.Help)
	}
	require.Equal(t, 2, h.lines.FilterMessage("request failed").Len())
}

// FuzzAgents: whatever an agent sends, it is answered by a message or an error, and the process lives: what
// reads messages has goroutines of its own.
func FuzzAgents(f *testing.F) {
	for _, seed := range []string{
		`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"x","version":"1"}}}`,
		`{"jsonrpc":"2.0","method":"notifications/initialized"}`, `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}`,
		`{"jsonrpc":"2.0","id":"a","method":"tools/list","params":{"cursor":"x"}}`, `{"jsonrpc":"2.0","id":1,"result":{}}`, `{"jsonrpc":"2.0","id":1,"method":"tools/call"}`,
		`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"get","arguments":{"resource":"contact","id":1},"_meta":{"progressToken":1}}}`,
		`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"rehearse","arguments":{"resource":"contact","operation":"create","record":{"kind":"person","name":"N","x":[null,1e9]}}}}`,
		`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"list","arguments":{"resource":"order","query":{"page":1,"sort":null}}}}`,
	} {
		f.Add(seed, "2026-07-28", "tools/call", "get")
		f.Add(seed, "", "", "")
	}
	h := newFixture(f)
	c := h.as("demo")
	f.Fuzz(func(t *testing.T, body, version, method, name string) {
		a := c.ask("POST", agentsPath, body, "Mcp-Protocol-Version", version, "Mcp-Method", method, "Mcp-Name", name)
		require.Contains(t, []int{200, 202, 400, 413}, a.status, a.body)
		require.True(t, a.body == "" || json.Valid([]byte(a.body)), a.body)
	})
}
