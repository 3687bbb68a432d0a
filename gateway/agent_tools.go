package gateway

import (
	"cmp"
	"context"
	"encoding/json"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"frontdesk/backend"
	"frontdesk/mapping"
)

const agentInstructions = "Records of a business administration. Call describe first. A change is rehearsed, then committed: rehearse changes nothing and answers a ticket, which commit takes. " +
	"A status of 400 or more is a refusal: help says what to do about it."

// toolRequest is the request that a tool stands for.
type toolRequest struct {
	method, path string
	query        url.Values
	headers      map[string]string // a header with an empty value is not sent
	body         []byte
	rehearsal    *backend.Rehearsal
	err          error // why there is no request
}

// toolAnswer is the answer to the request.
type toolAnswer struct {
	Status    int               `json:"status"`
	Headers   map[string]string `json:"headers,omitempty"`
	Body      json.RawMessage   `json:"body"`
	Help      []toolHelp        `json:"help,omitempty"`
	Ticket    string            `json:"ticket,omitempty"`
	Expires   *time.Time        `json:"expires,omitempty"`
	NotJudged string            `json:"not_judged,omitempty"`
}

// toolHelp is about violations of a reason.
type toolHelp struct {
	Reason string `json:"reason"`
	Cause  string `json:"cause"`
	Cure   string `json:"cure"`
}

// toolHeaders are the headers of an answer that an agent gets.
var toolHeaders = [...]string{"ETag", "Age", "Retry-After", "Idempotent-Replayed", "Deprecation", "Sunset"}

// answerTool does the request of a tool.
func (g *Gateway) answerTool(of *Exchange, a toolRequest) toolAnswer {
	rc, x := g.toolExchange(of, a)
	defer g.release(x)
	if x.err = a.err; x.err == nil {
		g.tools()(rc)
	} else {
		x.Endpoint, x.Operation = of.Endpoint, of.Operation
		g.answerError(x, x.err)
	}
	of.mustHave(copies * len(rc.Response.Body()))
	answer := toolAnswer{Status: rc.Response.StatusCode(), Body: slices.Clone(rc.Response.Body())}
	for _, name := range toolHeaders {
		if value := rc.Response.Header.Peek(name); len(value) > 0 {
			if answer.Headers == nil {
				answer.Headers = map[string]string{}
			}
			answer.Headers[name] = string(value)
		}
	}
	if x.err != nil {
		answer.Help = g.helpWith(x)
	}
	return answer
}

// helpWith returns the cause and the cure of each violation, once where several have the same.
func (g *Gateway) helpWith(x *Exchange) (all []toolHelp) {
	for _, e := range violationsOf(x.err) {
		row := g.catalogue.Lookup(e.Reason, x.scopes()...)
		help := toolHelp{string(e.Reason), row.Cause, cmp.Or(g.cure(x, e), row.Cure)}
		if !slices.Contains(all, help) {
			all = append(all, help)
		}
	}
	return all
}

// addTools gives the server of the protocol its tools.
func (g *Gateway) addTools(s *mcp.Server) {
	addTool(g, s, "describe", "Without a resource: which resources you may use, and how. With one: its fields.", func(_ context.Context, x *Exchange, in struct {
		Resource string `json:"resource,omitempty"`
	}) toolAnswer {
		return g.describeTool(x, in.Resource)
	})
	addTool(g, s, "list", "List records of a resource, page by page.", func(_ context.Context, x *Exchange, in struct {
		Resource string         `json:"resource"`
		Query    map[string]any `json:"query,omitempty" jsonschema:"filters as field or field[operator]: see describe; page_size, page or after (an id), sort (-field), fields (a,b), total=1, modified_since"`
	}) toolAnswer {
		return g.answerTool(x, g.toRecords(in.Resource, toolRequest{method: http.MethodGet, query: queryOf(in.Query)}))
	})
	addTool(g, s, "get", "Get one record, with its ETag.", func(_ context.Context, x *Exchange, in struct {
		Resource string `json:"resource"`
		ID       int32  `json:"id"`
		Fields   string `json:"fields,omitempty" jsonschema:"a,b; arrays come only if named"`
	}) toolAnswer {
		query := url.Values{"id": {strconv.Itoa(int(in.ID))}}
		setGiven(query, fieldsName, in.Fields)
		return g.answerTool(x, g.toRecords(in.Resource, toolRequest{method: http.MethodGet, query: query}))
	})
	addTool(g, s, "rehearse", "Judge a change as if it were done. Nothing is changed. Answers all that is wrong, or what would change and a ticket for commit.", g.rehearse)
	addTool(g, s, "commit", "Do what was rehearsed, once. 412 if the record has changed since: get it and rehearse again.", func(ctx context.Context, x *Exchange, in struct {
		Ticket string `json:"ticket" jsonschema:"as rehearse answered it, at most 10 minutes ago"`
	}) toolAnswer {
		return g.answerTool(x, g.opened(ctx, x, in.Ticket))
	})
	addTool(g, s, "changes", "Which records have changed since a cursor. Without after: the cursor of now.", func(_ context.Context, x *Exchange, in struct {
		After    string `json:"after,omitempty"`
		Resource string `json:"resource,omitempty" jsonschema:"a,b"`
		PageSize int32  `json:"page_size,omitempty"`
		Records  int32  `json:"records,omitempty" jsonschema:"1 for each record as it is now"`
	}) toolAnswer {
		query := url.Values{}
		setGiven(query, "after", in.After)
		setGiven(query, "resource", in.Resource)
		setGiven(query, "page_size", strconv.Itoa(int(in.PageSize)))
		setGiven(query, "records", strconv.Itoa(int(in.Records)))
		return g.answerTool(x, toolRequest{method: http.MethodGet, path: changesPath, query: query})
	})
}

// addTool adds a tool, whose arguments are the fields of In.
func addTool[In any](g *Gateway, s *mcp.Server, name, description string, do func(context.Context, *Exchange, In) toolAnswer) {
	t := &mcp.Tool{Name: name, Description: description, Annotations: &mcp.ToolAnnotations{ReadOnlyHint: name != "commit"}}
	mcp.AddTool(s, t, func(ctx context.Context, call *mcp.CallToolRequest, in In) (*mcp.CallToolResult, any, error) {
		x := ctx.Value(agentKey{}).(*Exchange)
		x.tool, x.toolArguments = name, call.Params.Arguments
		answer := g.recovered(x, func() toolAnswer { return do(ctx, x, in) })
		return &mcp.CallToolResult{IsError: answer.Status >= http.StatusBadRequest}, answer, nil
	})
}

// recovered returns the answer of do, or the answer to a panic of do: the protocol runs it in a goroutine
// that nothing else recovers.
func (g *Gateway) recovered(x *Exchange, do func() toolAnswer) (answer toolAnswer) {
	defer func() {
		if p := recover(); p != nil {
			answer = g.answerTool(x, toolRequest{err: panicked(p)})
		}
	}()
	return do()
}

// toRecords addresses a request to the endpoint of a resource, which may not exist.
func (g *Gateway) toRecords(resource string, a toolRequest) toolRequest {
	a.path = "/" + resource + a.path
	if e := g.routes.endpoints["/"+resource]; e == nil || e.Resource == nil || e.hides != nil {
		a.err = mapping.Fail(mapping.EndpointUnknown, "/"+resource)
	}
	return a
}

// setGiven sets a parameter that has a value.
func setGiven(query url.Values, name, value string) {
	if value != "" && value != "0" {
		query.Set(name, value)
	}
}

// queryOf returns the query of the parameters that an agent gave.
func queryOf(given map[string]any) url.Values {
	query := url.Values{}
	for name, value := range given {
		text, ok := value.(string)
		if !ok {
			text = string(appendJSON(nil, value))
		}
		query.Set(name, text)
	}
	return query
}

// rehearsed is what a tool rehearses.
type rehearsed struct {
	Operation string         `json:"operation" jsonschema:"create, update or delete"`
	Resource  string         `json:"resource"`
	ID        int32          `json:"id,omitempty" jsonschema:"of the record to update or delete"`
	Record    map[string]any `json:"record,omitempty" jsonschema:"the fields to write; an update keeps the others"`
	IfMatch   string         `json:"if_match,omitempty" jsonschema:"an ETag that the record must still have"`
}

// rehearse judges a write, and answers a ticket for it.
func (g *Gateway) rehearse(ctx context.Context, x *Exchange, in rehearsed) toolAnswer {
	a := toolRequest{headers: map[string]string{"If-Match": in.IfMatch}, rehearsal: new(backend.Rehearsal)}
	if in.ID != 0 {
		a.path = "/" + strconv.Itoa(int(in.ID))
	}
	switch in.Operation {
	case "create":
		a.method = http.MethodPost
	case "update":
		a.method = http.MethodPut
	case "delete":
		a.method = http.MethodDelete
	default:
		a.err = mapping.Fail(mapping.ValidationFailed, mapping.Literal("operation"), in.Operation, mapping.Literal("create|update|delete"))
	}
	if a.method != http.MethodDelete {
		var given struct{ Record json.RawMessage } // as it was sent: with all digits of numbers, and with repeated names
		if err := json.Unmarshal(x.toolArguments, &given); err != nil {
			a.err = mapping.Fail(mapping.BodyNotJSON).Because(err)
		}
		a.body = given.Record
	}
	if len(a.body) > mostRehearsed {
		a.err = mapping.Fail(mapping.BodyTooLarge)
	}
	if a.err == nil {
		a = g.toRecords(in.Resource, a)
	}
	answer := g.answerTool(x, a)
	if answer.Status != http.StatusOK {
		return answer
	}
	etag := cmp.Or(answer.Headers["ETag"], in.IfMatch)
	ticket, expires, err := g.sealed(ctx, x, a, etag)
	if err != nil {
		return g.answerTool(x, toolRequest{err: err})
	}
	answer.Ticket, answer.Expires = ticket, &expires
	if !g.o.Backend.RehearsesAll() {
		answer.NotJudged = "What the system behind judges itself when it is written: it was asked for what it has, and sent nothing."
	}
	if etag == "" && a.method != http.MethodPost {
		answer.NotJudged += " Whether the record has changed since: it has no ETag."
	}
	return answer
}

// answerRehearsed answers what a write would do, with the present tag of the record.
func (g *Gateway) answerRehearsed(x *Exchange, rec mapping.Record) {
	before := x.rehearsal.Before
	if before.Resource != nil {
		x.tag([]byte(g.etag(before)))
	}
	x.answer(http.StatusOK, jsonType, func(dst []byte) []byte {
		switch x.Method {
		case http.MethodPost:
			r := rec.Resource
			fields := slices.DeleteFunc(slices.Clone(r.RecordFields()), func(i int) bool { return i == r.ID || i == r.CreatedAt || i == r.ModifiedAt })
			return append(rec.AppendJSON(append(dst, `{"would_create":`...), fields), '}')
		case http.MethodPut:
			fields := slices.DeleteFunc(slices.Clone(rec.Resource.RecordFields()), func(i int) bool {
				return i == rec.Resource.ModifiedAt || rec.Values[i] == before.Values[i]
			})
			dst = before.AppendJSON(append(dst, `{"would_update":{"before":`...), fields)
			return append(rec.AppendJSON(append(dst, `,"after":`...), fields), "}}"...)
		default:
			fields := []int{before.Resource.ID} // without the right to read, a rehearsal shows nothing else
			if get := x.Endpoint.item["GET"]; get != nil && permit(x.Key, get) == "" {
				fields = before.Resource.RecordFields()
			}
			return append(before.AppendJSON(append(dst, `{"would_delete":`...), fields), '}')
		}
	})
}
