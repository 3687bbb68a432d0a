package gateway

import (
	"cmp"
	"reflect"
	"slices"
	"strings"

	"frontdesk/auth"
	"frontdesk/gateway/openapi"
	"frontdesk/gateway/testpage"
	"frontdesk/mapping"
)

// describer makes the description for one api_key.
type describer struct {
	g           *Gateway
	key         *auth.Key
	doc         *openapi.Document
	rows        map[*mapping.Entry]bool // rows that an operation refers to
	wordings    []*mapping.Entry        // the first row of each wording, in the order of the tables
	usedHeaders map[string]bool
	limited     bool // the operation that is described counts against limits of the key
	aging       bool // its answers may say that something is deprecated
}

func (g *Gateway) newDescriber(key *auth.Key) *describer {
	d := &describer{g: g, key: key, rows: map[*mapping.Entry]bool{}, usedHeaders: map[string]bool{}, doc: &openapi.Document{
		OpenAPI: openapi.Version31,
		Info: openapi.Info{
			Title: "Business Administration REST Service Interface", Version: "2.0.0",
			Summary:     "The interface of " + g.vendor() + " as the api_key " + key.Name + " may use it.",
			Description: g.worded(introduction),
			Contact:     &openapi.Contact{Name: g.vendor() + " servicedesk"},
		},
		Servers:  []openapi.Server{{URL: g.o.PublicURL}},
		Docs:     openapi.Docs{Description: "The guide, with every step as commands and programs. Each reason of an error, with cause and cure, is at " + g.o.PublicURL + testpage.ErrorsPath + ".", URL: g.o.PublicURL + testpage.GuidePath},
		Security: []map[string][]string{{tokenScheme: {}}},
	}}
	// The first wording of a reason is that of the first table.
	for _, e := range g.catalogue.Entries() {
		d.worded(g.catalogue.Lookup(e.Reason, e.Scope))
	}
	return d
}

// worded returns a text of the description with the vendor and the lifetime of this gateway.
func (g *Gateway) worded(text string) string {
	return strings.NewReplacer("<vendor>", g.vendor(), "<lifetime>", testpage.Lifetime(g.o.SessionTTL)).Replace(text)
}

func (g *Gateway) vendor() string { return cmp.Or(g.o.Vendor, "the provider") }

// tokenScheme is what the description calls the session token.
const tokenScheme = "token"

const introduction = `This is the interface as your api_key may use it: what is here can be called, and what is not here is answered like an endpoint that does not exist.

**Log in** with ` + "`GET /authenticate`" + `, and send the token of the answer in the header ` + "`token`" + ` of every further call. It is valid for <lifetime>; then log in again.

**Errors** have one shape everywhere. ` + "`message`" + ` is the documented text, ` + "`reason`" + ` a stable code to decide by, ` + "`field`" + ` the field that is meant, and ` + "`errors`" + ` lists every violation where there are several. With ` + "`Accept: application/problem+json`" + ` the same facts come as RFC 9457. In the templates of messages ` + "`<x>`" + ` stands for the value concerned. Of each answer, ` + "`x-reasons`" + ` lists the reasons that the operation gives with that status; the schema ` + "`Reason`" + ` has the message of each. Every answer has ` + "`X-Request-Id`" + `, a request's own (1 to 128 of A-Z a-z 0-9 . _ : -) or a new one, and where nothing else is described ` + "`Cache-Control: no-store`" + `. A header of more than 16 KiB is answered 431 ` + "`Request header is too large`" + `, a body that is too large 413 ` + "`Body is too large`" + `, one that is packed 415 ` + "`Content-Encoding: <x> not supported`" + `. A request that is no HTTP is answered 400 ` + "`Invalid request`" + `, an unknown path or method 400 ` + "`Invalid endpoint: <x>`" + ` or ` + "`Method: <x> not supported for endpoint: <x>`" + `. Where there is no room for one more connection, or for another large body or answer, the answer is 503 ` + "`Server is busy`" + ` with ` + "`Retry-After`" + `, and nothing was done.

**Timestamps** are ISO 8601 with a zone, or a date alone; they are answered in UTC with milliseconds. **A field that is left out** of an update keeps its value; null empties it.

**Repeating safely**: a POST with an ` + "`Idempotency-Key`" + ` that is sent again with the same body is answered as before, and done once. **Not overwriting others**: ` + "`If-Match`" + ` with the ETag of the record that was read.

Questions are answered by the <vendor> servicedesk.`

// document describes everything the key may call.
func (d *describer) document() *openapi.Document {
	d.addErrors()
	paths := map[string][]string{} // by module
	var modules []string
	for op := range d.g.routes.operations {
		if !d.may(op) {
			continue
		}
		d.addOperation(op)
		module, path := op.about.module, trimStar(op.Endpoint.Path)
		if paths[module] == nil {
			modules = append(modules, module)
		}
		if !slices.Contains(paths[module], path) {
			paths[module] = append(paths[module], path)
		}
	}
	for _, name := range modules {
		d.doc.Tags = append(d.doc.Tags, openapi.Tag{Name: name, Description: cmp.Or(moduleTexts[name], "The module "+name+": "+strings.Join(paths[name], ", ")+".")})
	}
	d.addMessages()
	d.addHeaders()
	d.doc.Components.SecuritySchemes.Add(tokenScheme, openapi.SecurityScheme{
		Type: "apiKey", Name: "token", In: "header",
		Description: d.g.worded("The token that GET /authenticate answers, valid for <lifetime>."),
	})
	return d.doc
}

// may reports whether the description holds an operation. A download is described to those
// who can get an address of one, and an operation that requires a resource that can be
// followed to those who may follow one.
func (d *describer) may(op *Operation) bool {
	switch {
	case op.page || op.ownBody: // for people, and for agents, which have a protocol of their own
		return false
	case op.about.answers.form == fileForm:
		hook := d.g.routes.endpoints["/webhook"]
		return hook != nil && d.key.May(hook.list["GET"].Number)
	case len(d.followable()) == 0 && slices.ContainsFunc(op.params, func(p param) bool { return p.followable && p.Required }):
		return false
	default:
		return permit(d.key, op) == ""
	}
}

// moduleTexts describe the modules without resources.
var moduleTexts = map[string]string{
	sessionModule:  "Sessions: logging in and out, and what the session may do.",
	serviceModule:  "The service itself: where it runs, and its model.",
	changesModule:  "Copies that stay true: what has changed, and sums to compare a copy with.",
	callbackModule: "Work that takes longer than a client waits: its result comes by callback.",
}

// component adds a schema once and refers to it.
func (d *describer) component(name string, build func() *openapi.Schema) *openapi.Schema {
	if _, there := d.doc.Components.Schemas.Get(name); !there {
		d.doc.Components.Schemas.Add(name, nil) // so that a schema that holds itself finds its name taken
		at := len(d.doc.Components.Schemas) - 1
		schema := build()
		d.doc.Components.Schemas[at].Value = schema
	}
	return openapi.Ref(name)
}

// keep adds a component unless its name is taken, and reports whether the name now stands for an
// equal one.
func keep[V any](components *openapi.Map[V], name string, one V) bool {
	kept, there := components.Get(name)
	if !there {
		components.Add(name, one)
	}
	return !there || reflect.DeepEqual(kept, one)
}
