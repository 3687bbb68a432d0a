package rows

import (
	"encoding/base64"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"frontdesk/cmd/frontdesk/rig"
	"frontdesk/cmd/frontdesk/rig/must"
)

// contractAgentProtocol is what is answered at /mcp itself.
func contractAgentProtocol(t *testing.T, p *rig.Practice) {
	const list = `{"jsonrpc":"2.0","id":1,"method":"tools/list"}`
	tools := p.Gets(200, "POST", rig.AgentsPath, p.Token, list).Body
	require.LessOrEqual(t, len(tools), 6<<10)
	listed := must.JSON[struct {
		Result struct{ Tools []struct{ Name string } }
	}](t, tools)
	require.Equal(t, []struct{ Name string }{{"changes"}, {"commit"}, {"describe"}, {"get"}, {"list"}, {"rehearse"}}, listed.Result.Tools)

	begun := p.Gets(200, "POST", rig.AgentsPath, p.Token, `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"x","version":"1"}}}`)
	require.Contains(t, string(begun.Body), `"protocolVersion":"2025-06-18"`)
	require.Empty(t, begun.Header.Get("Mcp-Session-Id"))
	require.Empty(t, p.Gets(202, "POST", rig.AgentsPath, p.Token, `{"jsonrpc":"2.0","method":"notifications/initialized"}`).Body)
	require.Contains(t, string(p.Gets(200, "POST", rig.AgentsPath, p.Token, rig.ToolCall("lst", nil)).Body), `"code":-32602`)
	require.Contains(t, string(p.Gets(200, "POST", rig.AgentsPath, p.Token, rig.ToolCall("get", map[string]any{"resource": "contact"})).Body), `"isError":true`)

	for _, other := range []string{"subscriptions/listen", "resources/list", "logging/setLevel"} { // the first would wait without an end
		const newest = `"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientInfo":{"name":"x","version":"1"},"io.modelcontextprotocol/clientCapabilities":{}}`
		a := p.Gets(200, "POST", rig.AgentsPath, p.Token, `{"jsonrpc":"2.0","id":1,"method":"`+other+`","params":{`+newest+`,"level":"info","notifications":{"toolsListChanged":true}}}`,
			"Mcp-Protocol-Version", "2026-07-28", "Mcp-Method", other)
		require.Contains(t, string(a.Body), `"code":-32601`, other)
	}

	vehicles, slow := p.Login(rig.VehiclesKey, "demo"), p.Login(rig.SlowKey, "demo")
	p.Call("POST", rig.AgentsPath, slow, list) // what another test may have left of its rate
	for _, refused := range []struct {
		status                    int
		method, path, token, body string
		message                   string
	}{
		{401, "POST", "/mcp", "", list, "Not authorized"},
		{400, "POST", "/mcp", vehicles, list, "Invalid endpoint: /mcp"},
		{429, "POST", "/mcp", slow, list, "Too many requests"},
		{400, "GET", "/mcp", p.Token, "", "Method: GET not supported for endpoint: /mcp"},
		{400, "POST", "/mcp/", p.Token, list, "Invalid endpoint: /mcp/"},
		{400, "POST", "/mcp?x=1", p.Token, list, "Invalid request, query parameter is not supported: x"},
		{400, "POST", "/mcp", p.Token, "[" + list + "," + list + "]", "Body is not valid JSON"},
		{400, "POST", "/mcp", p.Token, list + list, "Body is not valid JSON"},
		{400, "POST", "/mcp", p.Token, "", "Body is not valid JSON"},
		{400, "POST", "/mcp", p.Token, "{}", "Invalid request"},
		{413, "POST", "/mcp", p.Token, rig.ToolCall("get", strings.Repeat("x", 128<<10)), "Body is too large"},
	} {
		a := p.Gets(refused.status, refused.method, refused.path, refused.token, refused.body)
		require.Equal(t, refused.message, a.Failure(t).Message)
	}
	require.NotContains(t, string(p.Gets(200, "GET", "/openapi.json?api_key="+rig.FullKey, "", "").Body), `"/mcp"`)
}

// contractAgentReads is what tools read: it is what the requests that they stand for answer.
func contractAgentReads(t *testing.T, p *rig.Practice) {
	follower := p.Login(rig.ChangesKey, "demo")
	p.Gets(400, "POST", rig.AgentsPath, follower, rig.ToolCall("list", map[string]any{"resource": "contact"}))
	for _, same := range []struct {
		tool      string
		arguments map[string]any
		path      string
	}{
		{"list", map[string]any{"resource": "contact"}, "/contact"},
		{"list", map[string]any{"resource": "order", "query": map[string]any{"page_size": 2, "sort": "-id", "total": 1, "order_status[in]": "open,invoiced"}}, "/order?order_status[in]=open,invoiced&page_size=2&sort=-id&total=1"},
		{"list", map[string]any{"resource": "contact", "query": map[string]any{"note": ""}}, "/contact?note="},
		{"list", map[string]any{"resource": "contact", "query": map[string]any{"colour": "red"}}, "/contact?colour=red"},
		{"list", map[string]any{"resource": "orderline"}, "/orderline"},
		{"get", map[string]any{"resource": "contact", "id": 1}, "/contact/1"},
		{"get", map[string]any{"resource": "order", "id": 1, "fields": "id,orderlines"}, "/order/1?fields=id,orderlines"},
		{"get", map[string]any{"resource": "contact", "id": -1}, "/contact/-1"},
		{"get", map[string]any{"resource": "contact", "id": 99999999}, "/contact/99999999"},
		{"list", map[string]any{"resource": "nothing"}, "/nothing"},
		{"changes", map[string]any{"after": "x"}, "/changes?after=x"},
		{"changes", map[string]any{"resource": "contact,nothing", "page_size": 5, "records": 1}, "/changes?page_size=5&records=1&resource=contact,nothing"},
	} {
		told, asked := p.Tool(p.Token, same.tool, same.arguments), p.Call("GET", same.path, p.Token, "")
		require.Equal(t, asked.Status, told.Status, same.path)
		require.Equal(t, asked.Header.Get("ETag"), told.Headers["ETag"])
		want, got := must.JSON[map[string]any](t, asked.Body), must.JSON[map[string]any](t, told.Body)
		delete(want, "request_id")
		delete(got, "request_id")
		delete(want, "next") // its parameters come in another order
		delete(got, "next")
		require.Equal(t, want, got, same.path)
	}
	for _, resource := range []string{"", "authenticate/logout", "contact/bulk", "vehicle/publishstart", "../authenticate", "contact?x=", "contact/1", "webhook", "authenticate"} {
		told := p.Tool(p.Token, "list", map[string]any{"resource": resource})
		require.Equal(t, 400, told.Status)
		require.Equal(t, "Invalid endpoint: /"+resource, must.JSON[rig.ErrorBody](t, told.Body).Message)
	}
	p.Gets(200, "GET", "/contact/1", p.Token, "")
	help := p.Tool(p.Token, "list", map[string]any{"resource": "contact", "query": map[string]any{"page_sise": 1}}).Help
	require.Len(t, help, 1)
	require.Equal(t, "Did you mean page_size? Names are exact.", help[0].Cure)
	require.NotEmpty(t, help[0].Cause)

	described := must.JSON[struct {
		Data []struct {
			Name       string
			Operations []string
			Fields     []map[string]any
		}
	}](t, p.Tool(p.Token, "describe", map[string]any{}).Body).Data
	require.Len(t, described, 16)
	require.Nil(t, described[0].Fields)
	order := must.JSON[struct {
		Data []struct{ Fields []map[string]any }
	}](t, p.Tool(p.Token, "describe", map[string]any{"resource": "order"}).Body).Data[0].Fields
	require.Contains(t, order, map[string]any{"name": "orderlines", "datatype": "orderline", "reference": "orderline", "array": true})
	require.Len(t, order, len(p.Model("order")))
	require.Equal(t, 400, p.Tool(p.Token, "describe", map[string]any{"resource": "secret"}).Status)
}

// contractAgentWrites rehearses and commits.
func contractAgentWrites(t *testing.T, p *rig.Practice) {
	create := p.Rehearse(p.Token, `{"operation":"create","resource":"contact","record":{"kind":"person","name":"Rehearsed"}}`)
	would := must.JSON[struct {
		Create map[string]any `json:"would_create"`
	}](t, create.Body).Create
	require.Equal(t, "Rehearsed", would["name"])
	require.NotContains(t, would, "id")
	require.Contains(t, string(p.Gets(200, "GET", "/contact?name=Rehearsed", p.Token, "").Body), `"data":[]`)
	require.WithinDuration(t, time.Now().Add(10*time.Minute), create.Expires, time.Minute)

	for _, record := range []string{`{"kind":"person","name":"a","name":"b"}`, `{"kind":"person","name":"a","payment_days":90071992547409930001}`} {
		told, asked := p.Tool(p.Token, "rehearse", `{"operation":"create","resource":"contact","record":`+record+`}`), p.Call("POST", "/contact", p.Token, record)
		require.Equal(t, asked.Status, told.Status, record)
		require.Equal(t, asked.Failure(t).Message, must.JSON[rig.ErrorBody](t, told.Body).Message)
	}

	made := p.Commit(p.Token, create.Ticket)
	require.Equal(t, 201, made.Status)
	again := p.Commit(p.Token, create.Ticket)
	require.Equal(t, "true", again.Headers["Idempotent-Replayed"])
	require.JSONEq(t, string(made.Body), string(again.Body))
	id := must.JSON[struct{ Data struct{ ID int } }](t, made.Body).Data.ID
	was := p.Gets(200, "GET", fmt.Sprint("/contact/", id), p.Token, "")

	update := fmt.Sprintf(`{"operation":"update","resource":"contact","id":%d,"record":{"note":"x","name":"Rehearsed"}}`, id)
	first, second := p.Rehearse(p.Token, update), p.Rehearse(p.Token, strings.Replace(update, `"x"`, `"y"`, 1))
	require.JSONEq(t, `{"would_update":{"before":{"note":null},"after":{"note":"x"}}}`, string(first.Body))
	require.Equal(t, was.Body, p.Gets(200, "GET", fmt.Sprint("/contact/", id), p.Token, "").Body, "nothing has changed")
	require.Equal(t, 200, p.Commit(p.Token, first.Ticket).Status)
	require.Equal(t, 412, p.Commit(p.Token, second.Ticket).Status, "it is not what was rehearsed any more")
	require.Equal(t, "true", p.Commit(p.Token, first.Ticket).Headers["Idempotent-Replayed"])
	require.Equal(t, 412, p.Tool(p.Token, "rehearse", fmt.Sprintf(`{"operation":"update","resource":"contact","id":%d,"record":{},"if_match":%q}`, id, was.Header.Get("ETag"))).Status)

	other := p.Login(rig.FullKey, "demo")
	remove := p.Rehearse(p.Token, fmt.Sprintf(`{"operation":"delete","resource":"contact","id":%d}`, id))
	require.Contains(t, string(remove.Body), `{"would_delete":{"id":`)
	letter := "A"
	if remove.Ticket[0] == 'A' {
		letter = "B"
	}
	for _, bad := range []struct{ token, ticket string }{
		{other, remove.Ticket}, {p.Token, remove.Ticket + "A"}, {p.Token, letter + remove.Ticket[1:]}, {p.Token, remove.Ticket[4:]}, {p.Token, ""}, {p.Token, "no ticket"},
	} {
		told := p.Commit(bad.token, bad.ticket)
		require.Equal(t, 403, told.Status)
		require.Equal(t, "custom_validation_failed", told.Help[0].Reason)
		require.Contains(t, told.Help[0].Cure, "Rehearse")
	}
	require.Equal(t, 200, p.Commit(strings.ToUpper(p.Token), remove.Ticket).Status)
	require.JSONEq(t, `{"successCode":200}`, string(p.Commit(p.Token, remove.Ticket).Body))
	p.Gets(404, "GET", fmt.Sprint("/contact/", id), p.Token, "")

	for arguments, message := range map[string]string{
		`{"operation":"merge","resource":"contact","id":1}`:                                                         "Field: operation has an invalid value: merge for validation: create|update|delete",
		`{"operation":"update","resource":"contact","record":{"note":"x"}}`:                                         "No Primary ID provided",
		`{"operation":"create","resource":"contact","id":3,"record":{"kind":"person","name":"N"}}`:                  "Method: POST not supported for endpoint: /contact/3",
		`{"operation":"create","resource":"contact"}`:                                                               "Empty body",
		`{"operation":"create","resource":"contact","record":{"kind":"person","name":"N","colour":1}}`:              "Field: colour not found in model",
		`{"operation":"create","resource":"contact/bulk","record":{"records":[]}}`:                                  "Invalid endpoint: /contact/bulk",
		`{"operation":"delete","resource":"contact","id":1}`:                                                        "Field: id in use at: contactaddress",
		`{"operation":"update","resource":"contact","id":1,"record":{"note":"` + strings.Repeat("x", 70000) + `"}}`: "Body is too large",
	} {
		told := p.Tool(p.Token, "rehearse", arguments)
		require.Equal(t, message, must.JSON[rig.ErrorBody](t, told.Body).Message, arguments)
		require.Empty(t, told.Ticket)
		require.NotEmpty(t, told.Help[0].Cure)
	}
	all := must.JSON[rig.ErrorBody](t, p.Tool(p.Token, "rehearse", `{"operation":"create","resource":"order","record":{"orderlines":[{}]}}`).Body)
	require.Greater(t, len(all.Errors), 4, "every violation at once")
}

// TestAgentsAreLogged has the access log tell of a tool, and of the request that it stands for.
func TestAgentsAreLogged(t *testing.T) {
	t.Parallel()
	d := rig.Start(t, rig.Options{DSN: rig.Engines[0].DSN(t)})
	token := d.Login(rig.FullKey, "demo")
	a := d.Gets(200, "POST", rig.AgentsPath, token, rig.ToolCall("get", map[string]any{"resource": "contact", "id": 7}))
	d.Told(`"endpoint":"/mcp"`)
	var lines []string
	for line := range strings.Lines(d.Log.String()) {
		if strings.Contains(line, a.Header.Get("X-Request-Id")) {
			told := must.JSON[struct{ Method, Endpoint, Tool, Key, Client, User string }](t, line)
			lines = append(lines, fmt.Sprint(told))
		}
	}
	require.Equal(t, []string{"{GET /contact/{id} get full Demo Garage demo}", "{POST /mcp get full Demo Garage demo}"}, lines)
}

// TestAgentsGetSmallPages has a page for an agent end before it has more than it can take in.
func TestAgentsGetSmallPages(t *testing.T) {
	t.Parallel()
	d := rig.Start(t, rig.Options{DSN: rig.Engines[0].DSN(t)})
	token, content := d.Login(rig.FullKey, "demo"), base64.StdEncoding.EncodeToString(make([]byte, 180<<10))
	for range 6 {
		d.Create(token, "document", fmt.Sprintf(`{"resource":"contact","resource_id":20,"name":"Large","content":%q}`, content))
	}
	of := map[string]any{"resource": "contact", "resource_id": 20, "name": "Large", "fields": "id,content", "after": 0}
	told := d.Tool(token, "list", map[string]any{"resource": "document", "query": of})
	require.Equal(t, 5, len(must.JSON[struct{ Data []any }](t, told.Body).Data), "they have 1 MiB at most")
	require.Contains(t, string(told.Body[len(told.Body)-300:]), `"next":"/webservice_v2/document?`)
	delete(of, "after")
	told = d.Tool(token, "list", map[string]any{"resource": "document", "query": of})
	require.Equal(t, "Page is too large, ask for fewer records or by after", must.JSON[rig.ErrorBody](t, told.Body).Message)
}

// TestAgentsAreNotCalledBack: a tool waits for what answers by callback otherwise, and a rehearsal of it
// makes no job.
func TestAgentsAreNotCalledBack(t *testing.T) {
	t.Parallel()
	d := rig.Start(t, rig.Options{DSN: rig.Engines[0].DSN(t), Extra: "callbacks: [\"GET /contact\", \"POST /contact\"]\n"})
	token := d.Login(rig.FullKey, "demo")
	d.Gets(403, "POST", "/contact", token, rig.NewContact)
	told := d.Tool(token, "rehearse", `{"operation":"create","resource":"contact","record":{"kind":"person","name":"N","webhook_url":"https://receiver.invalid"}}`)
	require.Equal(t, "Field: webhook_url not found in model", must.JSON[rig.ErrorBody](t, told.Body).Message)
	require.Equal(t, 201, d.Commit(token, d.Rehearse(token, `{"operation":"create","resource":"contact","record":`+rig.NewContact+`}`).Ticket).Status)
	require.Equal(t, 200, d.Tool(token, "list", `{"resource":"contact"}`).Status)
}

// TestTicketsEnd has a ticket be good for ten minutes.
func TestTicketsEnd(t *testing.T) {
	rig.InBubble(t, rig.Options{DSN: "sqlite:frontdesk.db"}, func(t *testing.T, d *rig.Desk) {
		token := d.Login(rig.FullKey, "demo")
		ticket := d.Rehearse(token, `{"operation":"update","resource":"contact","id":1,"record":{"note":"x"}}`).Ticket
		old := d.Rehearse(token, `{"operation":"update","resource":"contact","id":2,"record":{"note":"x"}}`).Ticket
		time.Sleep(10*time.Minute - time.Second)
		require.Equal(t, 200, d.Commit(token, ticket).Status)
		time.Sleep(time.Second)
		require.Equal(t, 403, d.Commit(token, old).Status)
	})
}
