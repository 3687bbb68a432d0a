package gateway

import (
	"net/http"
	"runtime"
	"strings"

	"github.com/gofiber/fiber/v2"
	"github.com/gofiber/fiber/v2/middleware/recover"
	"github.com/valyala/fasthttp"
	"go.uber.org/zap"

	"frontdesk/mapping"
)

// Handler returns what serves requests by a policy. A reload makes another one, and requests keep
// the one that they began with.
func (g *Gateway) Handler(p *Policy) fasthttp.RequestHandler { return handlerOf(g.app(p)) }

// app returns the handlers of the interface under a policy.
func (g *Gateway) app(p *Policy) *fiber.App {
	if g.o.Away != nil {
		return g.newApp(g.handleError, g.middleware(p), lastStage(StageSession, g.away))
	}
	return g.newApp(g.handleError, g.middleware(p),
		stageHandler(StageSession, g.session),
		stageHandler(StageAllowlist, g.allowlist),
		stageHandler(StageLimits, g.limits),
		stageHandler(StageQuery, g.query),
		stageHandler(StageBody, g.body),
		stageHandler(StageRecord, g.record),
		lastStage(StageServe, g.serve))
}

// middleware returns the handlers around the stages of every request, the outermost first.
func (g *Gateway) middleware(p *Policy) []fiber.Handler {
	return []fiber.Handler{
		recover.New(recover.Config{EnableStackTrace: true, StackTraceHandler: g.logStack}), // of panics in the middleware itself
		g.begin(p),
		g.withAccessLog,
		g.withMetrics,
		g.withTrace,
		g.withAnswer,
		recover.New(recover.Config{EnableStackTrace: true, StackTraceHandler: noteStack}),
		unambiguous,
		g.atBase,
	}
}

// newApp returns an app with a route for each operation of the endpoint table. Every request goes
// through the middleware, and one for an operation then through the stages.
func (g *Gateway) newApp(onError fiber.ErrorHandler, middleware []fiber.Handler, stages ...fiber.Handler) *fiber.App {
	app := fiber.New(fiber.Config{CaseSensitive: true, StrictRouting: true, DisableStartupMessage: true, ErrorHandler: onError})
	for _, h := range middleware {
		app.Use(h)
	}
	add := func(method, path string, at fiber.Handler) {
		app.Add(method, path, append([]fiber.Handler{at}, stages...)...)
	}
	table := g.routes.all()
	for _, e := range table {
		if strings.HasSuffix(e.Path, "/*") {
			continue
		}
		for _, method := range e.methods() {
			add(method, e.Path, atList(e, method))
		}
		if e.hides == nil {
			app.All(e.Path, atNone(e))
		}
	}
	// :item also matches the last part of /order/bulk, so these come after all fixed paths.
	for _, e := range table {
		for method, op := range e.item {
			add(method, trimStar(e.Path)+"/:item", atItem(e, op))
		}
		if e.item != nil {
			app.All(trimStar(e.Path)+"/:item", atItem(e, nil))
		}
	}
	app.Use(atNowhere)
	return app
}

// atBase routes a request by its path below the base path, which Fiber must get as it was sent: left
// alone, it cuts /order#5 at the #, and without a Host takes //order/5 for the path /5 of another host.
func (g *Gateway) atBase(c *fiber.Ctx) error {
	x := exchangeOf(c)
	switch front := g.routes.front; {
	case x.below && c.Path() == x.fullPath:
		c.Path(x.Path)
		return c.Next()
	case x.Path == front.Endpoint.Path && x.Method == front.Method && x.ofPerson():
		x.Endpoint, x.Operation = front.Endpoint, front
		return front.serve(x.ctx, x)
	default:
		return atNowhere(c)
	}
}

// stageHandler makes a handler of a stage. If the stage returns an error, that is the answer; otherwise
// the next handler follows.
func stageHandler(name string, take stage) fiber.Handler {
	return func(c *fiber.Ctx) error {
		x := exchangeOf(c)
		if err := take(x.ctx, x); err != nil {
			x.stopped = name
			return err
		}
		return c.Next()
	}
}

// lastStage is stageHandler for the last stage.
func lastStage(name string, take stage) fiber.Handler {
	return func(c *fiber.Ctx) error {
		x := exchangeOf(c)
		x.stopped = name
		return take(x.ctx, x)
	}
}

// atList begins the stages of a method at an endpoint's own path. GET of a resource is one record
// or a list, depending on whether an id is given.
func atList(e *Endpoint, method string) fiber.Handler {
	return func(c *fiber.Ctx) error {
		x := exchangeOf(c)
		x.Endpoint, x.Operation = e, e.list[method]
		if method == http.MethodGet && e.Resource != nil && hasID(x.rawQuery) {
			x.Operation = e.item[method]
		}
		switch op := x.Operation; {
		case op == nil:
			return mapping.Fail(mapping.MethodUnsupported, x.Method, x.Path)
		case op.forPeople != nil && x.ofPerson():
			x.Operation = op.forPeople
		}
		return c.Next()
	}
}

// atItem begins the stages of an operation at the path with one more part; nil for none of the method.
func atItem(e *Endpoint, op *Operation) fiber.Handler {
	return func(c *fiber.Ctx) error {
		x := exchangeOf(c)
		item := x.Path[strings.LastIndexByte(x.Path, '/')+1:]
		if !isPart(item) {
			return mapping.Fail(mapping.EndpointUnknown, x.Path)
		}
		if x.Endpoint = e; op == nil {
			return mapping.Fail(mapping.MethodUnsupported, x.Method, x.Path)
		}
		x.Operation, x.Item = op, item
		return c.Next()
	}
}

// atNone answers a method that an endpoint does not have.
func atNone(e *Endpoint) fiber.Handler {
	return func(c *fiber.Ctx) error {
		x := exchangeOf(c)
		x.Endpoint = e
		return mapping.Fail(mapping.MethodUnsupported, x.Method, x.Path)
	}
}

// atNowhere answers a path that is no endpoint.
func atNowhere(c *fiber.Ctx) error {
	return mapping.Fail(mapping.EndpointUnknown, exchangeOf(c).Path)
}

// begin makes the Exchange of a request, which the other handlers find by exchangeOf.
func (g *Gateway) begin(p *Policy) fiber.Handler {
	return func(c *fiber.Ctx) error {
		x := g.newExchange(c.Context())
		defer g.release(x)
		defer c.Locals(exchangeKey{}, nil)
		x.policy = p
		x.RequestID = requestID(x.request.Header.Peek("X-Request-Id"))
		x.Method = sentMethod(c)
		x.takeURI(g, x.request.Header.RequestURI())
		x.prepare()
		if x.conn != nil {
			if !x.conn.readSince { // a pipelined request never blocks, so other connections go first
				runtime.Gosched()
			}
			x.conn.readSince, x.conn.idle = false, false
			x.incoming.begin(c.Context(), x.conn)
			defer x.endBody()
		}
		defer g.giveBack(x.ctx, x)
		return c.Next()
	}
}

// withAnswer turns an error into the answer.
func (g *Gateway) withAnswer(c *fiber.Ctx) error {
	x := exchangeOf(c)
	err := c.Next()
	if x.err != nil {
		x.reset()
		err = x.err
	}
	if err != nil {
		_ = c.App().ErrorHandler(c, err) // now, so that the middleware around sees the answer
		g.recognise(x.ctx, x)
		g.noteRefusal(x, err)
		x.noteFields(err)
	}
	x.setRateLimits()
	x.setDeprecation()
	return nil
}

// logStack logs a panic of a request that has no Exchange any more.
func (g *Gateway) logStack(_ *fiber.Ctx, p any) {
	g.o.Log.Error("request failed", zap.Error(panicked(p)))
}

// noteStack notes a panic, with its stack, in the Exchange.
func noteStack(c *fiber.Ctx, p any) { exchangeOf(c).err = panicked(p) }

// noteError is the ErrorHandler of handlers whose caller answers the error.
func noteError(c *fiber.Ctx, err error) error {
	exchangeOf(c).err = err
	return nil
}

// unknownMethod holds the method of a request that Fiber would answer by itself, because HTTP has
// no such method.
type unknownMethod struct{}

// routeUnknownAsTrace has Fiber route a request whatever its method: one that it does not know goes
// as TRACE, which no endpoint has.
func routeUnknownAsTrace(rc *fasthttp.RequestCtx) {
	switch method := rc.Method(); string(method) {
	case http.MethodGet, http.MethodPost, http.MethodPut, http.MethodDelete, http.MethodHead, http.MethodOptions, http.MethodPatch, http.MethodConnect, http.MethodTrace:
	default:
		rc.SetUserValue(unknownMethod{}, string(method))
		rc.Request.Header.SetMethod(fiber.MethodTrace)
	}
}

// sentMethod returns the method of a request as it was sent.
func sentMethod(c *fiber.Ctx) string {
	if method, ok := c.Locals(unknownMethod{}).(string); ok {
		return method
	}
	return methodName(c.Context().Method())
}

// exchangeKey is where the Exchange of a request is kept in its context.
type exchangeKey struct{}

// exchangeOf returns the Exchange of a request; nil if the request could not be read.
func exchangeOf(c *fiber.Ctx) *Exchange {
	x, _ := c.Locals(exchangeKey{}).(*Exchange)
	return x
}

// handlerOf returns what serves the requests of an app, whatever their methods.
func handlerOf(app *fiber.App) fasthttp.RequestHandler {
	serve := app.Handler()
	return func(rc *fasthttp.RequestCtx) {
		routeUnknownAsTrace(rc)
		serve(rc)
	}
}
