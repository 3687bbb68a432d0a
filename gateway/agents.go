package gateway

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"strings"

	"github.com/gofiber/fiber/v2"
	"github.com/gofiber/fiber/v2/middleware/recover"
	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/valyala/fasthttp"

	"frontdesk/mapping"
)

// Agents call the interface by the tools of the Model Context Protocol, at POST /mcp. Such a request
// goes through the stages like any other. Its tool then makes a request of the same session, which goes
// through the stages too (toolHandler). Nothing is kept between two requests, so that any gateway can
// serve the next one. The tools are in agent_tools.go.

const (
	agentsPath = "/mcp"
	// mostMessage is the largest message, in bytes: a ticket for the largest record that is rehearsed.
	mostMessage = 2 * mostRehearsed
	// agentPageLimit is how many bytes of texts a page for an agent has at most.
	agentPageLimit = 1 << 20
	// copies is how many copies of a message or an answer are in memory at once, at most.
	copies = 8
)

// agentsRoute puts the endpoint of agents into the table. A resource of the same name takes
// precedence.
func (g *Gateway) agentsRoute(r *routes) {
	if r.endpoints[agentsPath] == nil {
		r.on(r.add(agentsPath, nil), http.MethodPost, &Operation{ownBody: true, serve: g.serveAgent})
	}
}

// agentKey is the key of the Exchange of /mcp in the context of its tools.
type agentKey struct{}

// protocolHandler is the server of the protocol, without sessions of its own.
func (g *Gateway) protocolHandler() http.Handler {
	s := mcp.NewServer(&mcp.Implementation{Name: "frontdesk", Version: g.o.Version}, &mcp.ServerOptions{
		Instructions: agentInstructions,
		Capabilities: &mcp.ServerCapabilities{Tools: &mcp.ToolCapabilities{}},
	})
	g.addTools(s)
	s.AddReceivingMiddleware(onlyTools)
	return mcp.NewStreamableHTTPHandler(func(*http.Request) *mcp.Server { return s }, &mcp.StreamableHTTPOptions{
		Stateless: true, JSONResponse: true, MaxRequestBodyBytes: -1, // the body stage has bounded it
	})
}

// onlyTools refuses methods that are not about tools: one of them would wait for events.
func onlyTools(next mcp.MethodHandler) mcp.MethodHandler {
	return func(ctx context.Context, method string, r mcp.Request) (mcp.Result, error) {
		switch method {
		case "initialize", "notifications/initialized", "notifications/cancelled", "ping", "server/discover", "tools/list", "tools/call":
			return next(ctx, method, r)
		default:
			return nil, &jsonrpc.Error{Code: jsonrpc.CodeMethodNotFound, Message: "method not found"}
		}
	}
}

// serveAgent answers one message of the protocol. It refuses a list of messages, which would be many
// requests for the price of one.
func (g *Gateway) serveAgent(ctx context.Context, x *Exchange) error {
	if !bytes.HasPrefix(bytes.TrimSpace(x.sent), []byte{'{'}) || !json.Valid(x.sent) {
		return mapping.Fail(mapping.BodyNotJSON)
	}
	if err := x.hold(copies * len(x.sent)); err != nil {
		return err
	}
	// The tool uses the exchange, so the handler must wait for it even after ctx has ended.
	ctx = context.WithValue(context.WithoutCancel(ctx), agentKey{}, x)
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, agentsPath, bytes.NewReader(x.sent))
	if err != nil {
		return err
	}
	for name, value := range x.request.Header.All() {
		if strings.HasPrefix(strings.ToLower(string(name)), "mcp-") {
			r.Header.Add(string(name), string(value))
		}
	}
	r.Header.Set("Content-Type", jsonType)
	r.Header.Set("Accept", jsonType+", text/event-stream")
	w := &protocolAnswer{header: http.Header{}, status: http.StatusOK}
	g.protocol().ServeHTTP(w, r)
	if w.status >= http.StatusBadRequest {
		if w.header.Get("Content-Type") != jsonType {
			return mapping.Fail(mapping.RequestMalformed).Because(errors.New(w.body.String()))
		}
		w.status = http.StatusOK // the error is in the message: answers of 400 and above have the one shape of errors
	}
	x.answer(w.status, jsonType, func(dst []byte) []byte { return append(dst, w.body.Bytes()...) })
	return nil
}

// protocolAnswer takes what the server of the protocol answers.
type protocolAnswer struct {
	header http.Header
	status int
	body   bytes.Buffer
}

func (a *protocolAnswer) Header() http.Header         { return a.header }
func (a *protocolAnswer) WriteHeader(status int)      { a.status = status }
func (a *protocolAnswer) Write(b []byte) (int, error) { return a.body.Write(b) }

// toolHandler returns the handlers for the request of a tool: session, limits and body are those of the
// request to /mcp.
func (g *Gateway) toolHandler() fasthttp.RequestHandler {
	return handlerOf(g.newApp(g.answerToolError,
		[]fiber.Handler{
			g.withAccessLog, g.withMetrics, g.withAnswer,
			recover.New(recover.Config{EnableStackTrace: true, StackTraceHandler: noteStack}), g.atBase,
		},
		stageHandler(StageAllowlist, g.allowlist),
		stageHandler(StageEndpoint, g.inDirectForm), // a tool has nobody to call back
		stageHandler(StageQuery, g.query),
		stageHandler(StageBody, g.body),
		stageHandler(StageRecord, g.record),
		lastStage(StageServe, g.serve)))
}

// answerToolError answers an error as to any request, and keeps it for its help.
func (g *Gateway) answerToolError(c *fiber.Ctx, err error) error {
	x := exchangeOf(c)
	g.answerError(x, err)
	x.err = err
	return nil
}

// toolExchange makes the exchange of a tool's request, on behalf of the request to /mcp. The caller
// releases it.
func (g *Gateway) toolExchange(of *Exchange, a toolRequest) (*fasthttp.RequestCtx, *Exchange) {
	rc, x := g.innerExchange(a.method, g.o.BasePath+a.path+"?"+a.query.Encode(), a.body)
	for name, value := range a.headers {
		if value != "" {
			rc.Request.Header.Set(name, value)
		}
	}
	x.ctx, x.conn, x.policy, x.peer, x.Address, x.RequestID, x.span = of.ctx, of.conn, of.policy, of.peer, of.Address, of.RequestID, of.span
	x.Session, x.Key, x.keyHash, x.keyName, x.client = of.Session, of.Key, of.keyHash, of.keyName, of.client
	x.sent, x.tool, x.rehearsal = a.body, of.tool, a.rehearsal
	x.prepare()
	return rc, x
}
