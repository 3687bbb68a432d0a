package remotetest

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"strings"
)

// call is one request about the records of a tenant.
type call struct {
	*ledger // of the tenant, locked until the call is answered
	r       *http.Request
	body    []byte
	skin    *skin
	entity  *entity
}

// route registers the endpoints.
func (g *JSON) route() {
	g.mux.HandleFunc("POST /oauth/token", g.issue)
	g.mux.HandleFunc("POST /v3/users/verify", g.users(g.verify))
	g.mux.HandleFunc("GET /v3/users/{login}", g.users(g.findUser))
	g.handle("GET /v3/{collection}", g.list)
	for collection := range g.skins {
		g.handle("GET /v3/"+collection+"/count", g.countRecords)
	}
	g.handle("POST /v3/{collection}", g.create)
	g.handle("GET /v3/{collection}/{id}", g.read)
	g.handle("PATCH /v3/{collection}/{id}", g.patch)
	g.handle("DELETE /v3/{collection}/{id}", g.remove)
	g.handle("GET /v3/orders/{order}/lines", g.listLines)
	g.handle("POST /v3/orders/{order}/lines", g.create)
	g.handle("GET /v3/orders/{order}/lines/{id}", g.read)
	g.handle("PATCH /v3/orders/{order}/lines/{id}", g.patch)
	g.handle("DELETE /v3/orders/{order}/lines/{id}", g.remove)
	g.mux.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) {
		failure(http.StatusNotFound, "NO_SUCH_ENDPOINT", "", "%s %s", r.Method, r.URL.Path).write(w)
	})
}

// handle answers the requests of a pattern with f.
func (g *JSON) handle(pattern string, f func(*call) answer) {
	g.mux.HandleFunc(pattern, func(w http.ResponseWriter, r *http.Request) {
		g.count(pattern)
		if a, ok := g.authorize(r); !ok {
			a.write(w)
			return
		}
		body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, 32<<20))
		if err != nil {
			failure(http.StatusRequestEntityTooLarge, "TOO_LARGE", "", "The body is too large").write(w)
			return
		}
		g.serve(r, body, f).write(w)
	})
}

func (g *JSON) serve(r *http.Request, body []byte, f func(*call) answer) answer {
	collection := strings.Split(r.URL.Path, "/")[2]
	if r.PathValue("order") != "" {
		collection = "lines"
	}
	s := g.skins[collection]
	if s == nil || s.entity == "orderline" && r.PathValue("order") == "" {
		return failure(http.StatusNotFound, "NO_SUCH_ENDPOINT", "", "%s %s", r.Method, r.URL.Path)
	}
	tenant := r.Header.Get("X-Tenant")
	if tenant == "" {
		return failure(http.StatusBadRequest, "TENANT_REQUIRED", "", "The header X-Tenant is required")
	}
	var out answer
	known := g.admin.withLedger(tenant, func(l *ledger) {
		c := &call{ledger: l, r: r, body: body, skin: s, entity: l.entities[s.entity]}
		switch {
		case s.entity == "orderline" && l.living("order", r.PathValue("order")) == nil:
			out = failure(http.StatusNotFound, "NOT_FOUND", "", "No orders %s", r.PathValue("order"))
		case c.entity.system && r.Method != http.MethodGet:
			out = failure(http.StatusForbidden, "READ_ONLY", "", "%s cannot be changed", s.collection)
		default:
			out = f(c)
		}
	})
	if !known {
		return failure(http.StatusForbidden, "TENANT_FORBIDDEN", "", "No access to tenant %s", tenant)
	}
	return out
}

// object returns the body, or an error answer if it is not one JSON object.
func (c *call) object() (object, *answer) {
	var o object
	dec := json.NewDecoder(bytes.NewReader(c.body))
	dec.UseNumber()
	err := dec.Decode(&o)
	if err == nil && o != nil {
		if _, err = dec.Token(); err == io.EOF {
			return o, nil
		}
	}
	a := failure(http.StatusBadRequest, "MALFORMED_JSON", "", "The body is not a JSON object")
	return nil, &a
}

// target finds the record in the path; a line must belong to the order in the path.
func (c *call) target() (*row, *answer) {
	r := c.row(c.skin.entity, c.r.PathValue("id"))
	if r == nil || c.skin.entity == "orderline" && r.values.text("order") != c.r.PathValue("order") {
		a := failure(http.StatusNotFound, "NOT_FOUND", "", "No %s %s", c.skin.collection, c.r.PathValue("id"))
		return nil, &a
	}
	return r, nil
}

// changeable finds the record in the path, and refuses a deleted one, and one whose
// version is not that of If-Match.
func (c *call) changeable() (*row, *answer) {
	r, missing := c.target()
	if missing != nil {
		return nil, missing
	}
	var a answer
	match := c.r.Header.Get("If-Match")
	switch {
	case !r.alive():
		a = failure(http.StatusGone, "DELETED", "", "%s was deleted", r.id)
	case match != "" && match != "*" && match != etag(r):
		a = failure(http.StatusPreconditionFailed, "VERSION_CONFLICT", "version", "The current version is %d", r.version)
	default:
		return r, nil
	}
	return nil, &a
}

func etag(r *row) string { return `"v` + strconv.Itoa(r.version) + `"` }

// read answers one record, even if it is deleted.
func (g *JSON) read(c *call) answer {
	r, missing := c.target()
	if missing != nil {
		return *missing
	}
	return answer{status: http.StatusOK, body: g.item(c, *r), header: map[string]string{"ETag": etag(r)}}
}

func (g *JSON) listLines(c *call) answer {
	return answer{status: http.StatusOK, body: object{"items": g.lines(c, c.r.PathValue("order"))}}
}

// create adds a record, once per idempotency key.
func (g *JSON) create(c *call) answer {
	key := c.r.Header.Get("Idempotency-Key")
	if key == "" {
		return g.insert(c)
	}
	key = c.tenant + " " + key
	g.mu.Lock()
	earlier, done := g.created[key]
	g.mu.Unlock()
	if done {
		return earlier.with("Idempotent-Replayed", "true")
	}
	a := g.insert(c)
	if a.status == http.StatusCreated {
		g.mu.Lock()
		g.created[key] = a
		g.mu.Unlock()
	}
	return a
}

func (g *JSON) insert(c *call) answer {
	body, bad := c.object()
	if bad != nil {
		return *bad
	}
	lines, hasLines := body["lines"]
	if hasLines && c.skin.entity == "order" {
		delete(body, "lines")
	}
	v, p := c.skin.take(c.entity, body, "")
	if p != nil {
		return g.refuse(c.skin, p, "")
	}
	if c.skin.entity == "orderline" {
		v["order"] = c.r.PathValue("order")
	}
	undo := c.snapshot("order", "orderline")
	r, p := c.ledger.insert(c.skin.entity, v)
	if p != nil {
		return g.refuse(c.skin, p, "")
	}
	if c.skin.entity == "order" && lines != nil {
		if a := g.insertLines(c, r.id, lines); a != nil {
			undo()
			return *a
		}
	}
	return answer{status: http.StatusCreated, body: g.item(c, *r), header: map[string]string{
		"ETag": etag(r), "Location": c.r.URL.Path + "/" + r.id,
	}}
}

// insertLines adds the lines of a new order.
func (g *JSON) insertLines(c *call, orderID string, lines any) *answer {
	list, ok := lines.([]any)
	if !ok {
		a := failure(http.StatusUnprocessableEntity, "INVALID", "lines", "lines is not an array")
		return &a
	}
	s := g.skins["lines"]
	for i, line := range list {
		o, _ := line.(object)
		v, p := s.take(c.entities["orderline"], o, "")
		if p == nil {
			v["order"] = orderID
			_, p = c.ledger.insert("orderline", v)
		}
		if p != nil {
			a := g.refuse(s, p, fmt.Sprintf("lines[%d].", i))
			return &a
		}
	}
	return nil
}

// snapshot returns a function that restores entities to their present state.
func (l *ledger) snapshot(entities ...string) (undo func()) {
	counter, rows := maps.Clone(l.counter), map[string][]*row{}
	for _, name := range entities {
		rows[name] = slices.Clone(l.rows[name])
	}
	return func() {
		l.counter = counter
		maps.Copy(l.rows, rows)
	}
}

func (g *JSON) patch(c *call) answer {
	r, bad := c.changeable()
	if bad != nil {
		return *bad
	}
	body, bad := c.object()
	if bad != nil {
		return *bad
	}
	if _, has := body["lines"]; has && c.skin.entity == "order" {
		return failure(http.StatusUnprocessableEntity, "READ_ONLY", "lines", "Lines are changed at /v3/orders/%s/lines", r.id)
	}
	v, p := c.skin.take(c.entity, body, "")
	if p == nil && len(v) > 0 {
		p = c.update(c.skin.entity, r, v)
	}
	if p != nil {
		return g.refuse(c.skin, p, "")
	}
	return answer{status: http.StatusOK, body: g.item(c, *r), header: map[string]string{"ETag": etag(r)}}
}

func (g *JSON) remove(c *call) answer {
	r, bad := c.changeable()
	if bad != nil {
		return *bad
	}
	if p := c.ledger.remove(c.skin.entity, r); p != nil {
		return g.refuse(c.skin, p, "")
	}
	return answer{status: http.StatusNoContent}
}
