package gateway

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"frontdesk/backend"
	"frontdesk/mapping"
)

// recordRoutes adds the operations that every resource has.
func (g *Gateway) recordRoutes(r *routes, resource *mapping.Resource) {
	if !slices.ContainsFunc(mapping.RecordOperations(), func(op mapping.Scope) bool { return g.o.Offer.Has(resource, op) }) {
		return
	}
	e := r.add("/"+resource.Name, resource)
	offer := func(method string, does mapping.Scope, op *Operation) {
		if !g.o.Offer.Has(resource, does) {
			return
		}
		op.scopes, op.deprecated = []mapping.Scope{does}, resource.OperationDeprecated(does)
		if does == mapping.OpCreate || does == mapping.OpList {
			r.on(e, method, op)
			return
		}
		if r.onItem(e, method, "id", op); does != mapping.OpGet {
			e.list[method] = op
		}
	}
	offer("POST", mapping.OpCreate, &Operation{
		about: aboutCreate(resource), form: resource, idempotent: true, serve: g.idempotently(g.create, g.keptNew),
		check: func(x *Exchange) mapping.Violations { return x.Body.CheckCreate() },
	})
	offer("GET", mapping.OpList, &Operation{about: aboutList(resource), params: listParams(resource), parse: g.parseList, serve: g.list})
	offer("GET", mapping.OpGet, &Operation{
		about: aboutGet(resource), params: []param{idParam(resource.Name), fieldsParam(resource)}, parse: parseGet, serve: g.get,
	})
	offer("PUT", mapping.OpUpdate, &Operation{
		about: aboutUpdate(resource), params: []param{idParam(resource.Name)}, parse: parseItem, form: resource, check: checkUpdate,
		conditional: true, serve: g.idempotently(g.update, g.keptChanged),
	})
	offer("DELETE", mapping.OpDelete, &Operation{
		about: aboutDelete(resource), params: []param{idParam(resource.Name)}, parse: parseDelete, conditional: true,
		serve: g.idempotently(g.delete, keptDone),
	})
	g.bulkRoutes(r, e)
}

// parseItem finds the primary ID in path and query; if they differ, it is invalid.
func parseItem(x *Exchange) mapping.Violations {
	for _, s := range [...]string{x.Item, x.Param("id")} {
		if s == "" {
			continue
		}
		id, ok := parseID(s)
		if !ok || x.ID != 0 && x.ID != id {
			return mapping.Violations{mapping.Fail(mapping.PrimaryIDInvalid)}
		}
		x.ID = id
	}
	return nil
}

func parseGet(x *Exchange) mapping.Violations {
	if x.Item == "" && x.Param("id") == "" {
		return required(x, "id")
	}
	v := parseItem(x)
	fields, unknown := parseFields(x)
	x.Query.Fields = fields
	return append(v, unknown...)
}

func parseDelete(x *Exchange) mapping.Violations {
	if v := parseItem(x); v != nil {
		return v
	}
	if x.ID == 0 {
		return mapping.Violations{mapping.Fail(mapping.PrimaryIDMissing)}
	}
	return nil
}

// fieldsName is the parameter that chooses fields.
const fieldsName = "fields"

// parseFields parses the parameter fields into positions in model order; nil if it is not
// given.
func parseFields(x *Exchange) ([]int, mapping.Violations) {
	value := x.Param(fieldsName)
	if value == "" {
		return nil, nil
	}
	var positions []int
	var v mapping.Violations
	for name := range strings.SplitSeq(value, ",") {
		f := x.Endpoint.Resource.Field(name)
		if f == nil || f.Type == mapping.Array && !x.readsOrSends(f, arrayRead) {
			v = append(v, mapping.Fail(mapping.FieldNotInModel, name))
			continue
		}
		x.namesField(f)
		positions = append(positions, f.Index)
	}
	slices.Sort(positions)
	return slices.Compact(positions), v
}

// checkUpdate judges the body of an update alone, if there is one, and settles the record's ID,
// which the body may hold, too.
func checkUpdate(x *Exchange) mapping.Violations {
	if x.Body == nil {
		return nil
	}
	v := x.Body.CheckUpdate()
	resource := x.Body.Record.Resource
	if id := x.Body.Record.Values[resource.ID]; x.Body.Supplied(resource.ID) && id.Kind() != mapping.KindNull {
		v = slices.DeleteFunc(v, func(e *mapping.Error) bool {
			return e.Reason == mapping.Int4Invalid && e.Args[0] == resource.Fields[resource.ID].Name
		})
		if id.Int() < 1 || x.ID != 0 && int64(x.ID) != id.Int() {
			return append(v, mapping.Fail(mapping.PrimaryIDInvalid))
		}
		x.ID = int32(id.Int())
	}
	if x.ID == 0 {
		v = append(v, mapping.Fail(mapping.PrimaryIDMissing))
	}
	return v
}

func (g *Gateway) get(ctx context.Context, x *Exchange) error {
	x.Query.Client, x.Query.ID, x.Query.Tagged, x.Query.Copy = x.user().Client, x.ID, true, g.copyFor(x)
	fields := x.Query.Fields
	if modified := x.Endpoint.Resource.ModifiedAt; fields != nil && !slices.Contains(fields, modified) {
		x.Query.Fields = append(slices.Clip(fields), modified) // for the entity tag
	}
	rec, err := g.backend.Get(ctx, x.Endpoint.Resource, x.Query)
	if err == nil {
		err = x.hold(rec.Bytes())
	}
	if err != nil {
		return err
	}
	x.setAge()
	etag := g.etag(rec)
	if etag != "" && etagMatches(x.header("If-None-Match"), etag, true) {
		x.notModified(etag)
		return nil
	}
	if fields == nil {
		fields = rec.Resource.RecordFields()
	}
	x.answerRecord(http.StatusOK, rec, fields, etag)
	return nil
}

func (g *Gateway) list(ctx context.Context, x *Exchange) error {
	x.Query.Client, x.Query.Room, x.Query.Copy, x.Query.Unversioned = x.user().Client, g.pageRoom(x), g.copyFor(x), true // a list has no entity tags
	page, err := g.backend.List(ctx, x.Endpoint.Resource, x.Query)
	if err != nil {
		return err
	}
	x.setAge()
	x.answerPage(page, g.nextPage(x, page))
	return nil
}

func (g *Gateway) create(ctx context.Context, x *Exchange, w backend.Write) (mapping.Record, error) {
	rec, err := g.backend.Create(ctx, x.user().Client, x.Body, w)
	if err == nil {
		x.ID = rec.ID() // for the access log
	}
	return rec, err
}

func (g *Gateway) update(ctx context.Context, x *Exchange, w backend.Write) (mapping.Record, error) {
	return g.backend.Update(ctx, x.user().Client, x.ID, x.Body, w)
}

func (g *Gateway) delete(ctx context.Context, x *Exchange, w backend.Write) (mapping.Record, error) {
	w.Room = nil // the record is not answered
	return mapping.Record{}, g.backend.Delete(ctx, x.user().Client, x.Endpoint.Resource, x.ID, w)
}

// keptNew is keptAnswer for a new record, keptChanged for one that was changed.
func (g *Gateway) keptNew(rec mapping.Record) []byte {
	return g.keptAnswer(g.publicPath+"/"+rec.Resource.Name+"/"+strconv.Itoa(int(rec.ID())), rec)
}

func (g *Gateway) keptChanged(rec mapping.Record) []byte { return g.keptAnswer("", rec) }

// precondition returns the condition of If-Match on the stored record. An empty list fits no
// record.
func (g *Gateway) precondition(x *Exchange) backend.Write {
	value, sent := x.headerSent("If-Match")
	if !sent {
		return backend.Write{}
	}
	match := string(value)
	return backend.Write{Precondition: func(rec mapping.Record) bool { return unchanged(match, g.etag(rec)) }}
}

// maxIdempotencyKey is the longest Idempotency-Key, in characters.
const maxIdempotencyKey = 255

// checkIdempotencyKey judges the key of an operation that takes one. A ticket of an agent has one,
// whatever it does.
func checkIdempotencyKey(x *Exchange) error {
	if !x.Operation.idempotent && x.tool == "" {
		return nil
	}
	key, sent := x.headerSent("Idempotency-Key")
	if !sent {
		return nil
	}
	if len(key) == 0 || len(key) > maxIdempotencyKey || bytes.ContainsFunc(key, func(r rune) bool { return r < '!' || r > '~' }) {
		return mapping.Fail(mapping.IdempotencyInvalid)
	}
	x.idempotencyKey = string(key)
	return nil
}

// write does the write of a request. It returns the record; a deleted one is the zero Record.
type write func(ctx context.Context, x *Exchange, w backend.Write) (mapping.Record, error)

// idempotently returns the stage that does a write, and answers what render makes of its record. Under
// the request's Idempotency-Key, or the key of the job whose work it is, a repetition gets the same
// answer.
func (g *Gateway) idempotently(do write, render func(mapping.Record) []byte) stage {
	return func(ctx context.Context, x *Exchange) error {
		if err := x.writeRoom(); err != nil {
			return err
		}
		w := g.precondition(x)
		w.Room, w.Rehearsal = x.hold, x.rehearsal
		under := func(request *backend.Idempotency) error {
			w.Idempotency = request
			rec, err := do(ctx, x, w)
			if err != nil {
				return err
			}
			x.mustHave(rec.Bytes())
			if x.rehearsal != nil {
				g.answerRehearsed(x, rec)
				return nil
			}
			if r := rec.Resource; r != nil {
				x.holdsFields(r, r.RecordFields())
			}
			x.answerKept(render(rec))
			return nil
		}
		if x.idempotencyKey == "" {
			return under(nil)
		}
		return g.once(x, func(request *backend.Idempotency) error {
			request.Answer, request.Begun = render, x.begun
			return under(request)
		})
	}
}

// once does a write under its idempotency key, unless another request of this process does so
// right now, or repeats the stored answer.
func (g *Gateway) once(x *Exchange, do func(*backend.Idempotency) error) error {
	key := x.keyName + " " + x.idempotencyKey // neither holds a blank; PostgreSQL takes no NUL
	running := x.client + "\x00" + key
	if _, taken := g.running.LoadOrStore(running, true); taken {
		return mapping.Fail(mapping.IdempotencyInUse)
	}
	defer g.running.Delete(running)

	sum := sha256.New()
	sum.Write([]byte(x.Method + " " + x.Path + "\n"))
	sum.Write(x.sent)
	sum.Write([]byte(x.rights.String())) // an answer with fields that are hidden by now must not be replayed
	err := do(&backend.Idempotency{Key: key, Sum: [32]byte(sum.Sum(nil)), Life: x.answerLife})
	var replay *backend.Replay
	if !errors.As(err, &replay) {
		return err
	}
	if err := x.hold(len(replay.Answer)); err != nil {
		return err
	}
	x.response.Header.Set("Idempotent-Replayed", "true")
	x.answerKept(replay.Answer)
	return nil
}
