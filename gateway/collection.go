package gateway

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"frontdesk/auth"
	"frontdesk/gateway/openapi"
	"frontdesk/gateway/postman"
	"frontdesk/mapping"
)

// collectionPath is where the collection for Postman is.
const collectionPath = "/postman.json"

// collectionRoute puts it into the endpoint table, like the description.
func (g *Gateway) collectionRoute(r *routes) {
	if r.endpoints[collectionPath] != nil {
		return
	}
	e := &Endpoint{Path: collectionPath, Template: collectionPath, list: map[string]*Operation{}}
	r.endpoints[collectionPath] = e
	r.on(e, "GET", &Operation{open: true, secretQuery: true, params: []param{named("api_key", "", "").must()}, serve: g.answerCollection})
}

func (g *Gateway) answerCollection(_ context.Context, x *Exchange) error {
	return g.answerForKey(x, "postman", g.Collect)
}

// Collect writes the collection for Postman of what a key may call: a folder that reads, and
// one that makes, uses and deletes records of its own.
func (g *Gateway) Collect(key *auth.Key) ([]byte, error) {
	d := g.newDescriber(key)
	c := &collector{describer: d, paths: d.document().Paths, done: map[*Operation]bool{}}
	folders := []*postman.Item{c.reading()}
	if writing := c.writing(); writing != nil {
		folders = append(folders, writing)
	}
	collection := &postman.Collection{
		Info: postman.Info{Name: "frontdesk, as " + key.Name + " may use it", Schema: postman.Schema, Description: fmt.Sprintf(collectionText, g.vendor(), c.left())},
		Variables: []postman.Variable{
			{Key: "base_url", Value: g.o.PublicURL},
			{Key: "api_key", Description: "Keep it, the username and the password in an environment of your own, which is not shared."},
			{Key: "username"}, {Key: "password"}, {Key: "token", Description: "Set by Log in."},
			{Key: "write", Value: "no", Description: "yes to let the folder Writing send what it has."},
		},
		Items: folders,
	}
	return collection.JSON()
}

const collectionText = "The interface of %s as requests to send. Fill in api_key, username and password.\n\n" +
	"**Reading** runs from top to bottom and changes nothing. **Writing** makes records of its own, uses them and deletes them: run the folder by hand, with the variable write set to yes. " +
	"Without that it sends nothing.\n\n%s"

// collector makes a collection.
type collector struct {
	*describer
	paths openapi.Map[*openapi.PathItem]
	done  map[*Operation]bool // what is in the collection
}

// left tells what is not in the collection.
func (c *collector) left() string {
	var names []string
	for op := range c.g.routes.operations {
		if c.may(op) && !c.done[op] {
			names = append(names, op.Method+" "+op.Template)
		}
	}
	if len(names) == 0 {
		return "Everything that the api_key may call is in it."
	}
	return "What takes more than that is in the OpenAPI description alone: " + strings.Join(names, ", ") + "."
}

// operation is what the key may call of a resource; nil if it may not, or if it is answered by
// a callback, which needs a server to receive it.
func (c *collector) operation(r *mapping.Resource, method string, item bool) *Operation {
	e := c.g.routes.endpoints["/"+r.Name]
	if e == nil {
		return nil
	}
	op := e.list[method]
	if item {
		op = e.item[method]
	}
	if op == nil || op.direct != nil || !c.may(op) {
		return nil
	}
	return op
}

// item makes the request of an operation. id is what stands in its path.
func (c *collector) item(op *Operation, name, id string, query ...postman.Pair) *postman.Item {
	c.done[op] = true
	path := op.Template
	if before, _, ok := strings.Cut(path, "{"); ok {
		path = before + id
	}
	item := &postman.Item{Name: name, Request: &postman.Request{
		Method: op.Method, URL: postman.At("{{base_url}}", path, query...), Description: op.about.summary + ".",
	}}
	if !op.open {
		item.Request.Headers = append(item.Request.Headers, postman.Pair{Key: "token", Value: "{{token}}"})
	}
	return item
}

// send gives a request a body.
func send(item *postman.Item, body string) *postman.Item {
	item.Request.Headers = append(item.Request.Headers, postman.Pair{Key: "Content-Type", Value: jsonType})
	item.Request.Body = postman.JSONBody(body)
	return item
}

// expects adds the test of the status.
func expects(item *postman.Item, statuses ...int) *postman.Item {
	list := strings.Trim(strings.ReplaceAll(fmt.Sprint(statuses), " ", ", "), "[]")
	item.After(fmt.Sprintf("pm.test(%q, () => pm.expect(pm.response.code).to.be.oneOf([%s]));", "is answered "+list, list))
	return item
}

// skipWithout leaves a request out where a variable has no value: a list was empty, or a
// record was not made.
func skipWithout(item *postman.Item, variables ...string) *postman.Item {
	for _, v := range variables {
		item.Before(fmt.Sprintf("if (!pm.variables.get(%q)) pm.execution.skipRequest();", v))
	}
	return item
}

// keep is the script that keeps the id of a record of the answer.
func keep(variable, record string) string {
	return fmt.Sprintf("pm.collectionVariables.set(%q, String(%s?.id ?? \"\"));", variable, record)
}

// logIn begins a folder.
func (c *collector) logIn() *postman.Item {
	op := c.g.routes.endpoints["/authenticate"].list["GET"]
	item := c.item(op, "Log in", "", postman.Pair{Key: "api_key", Value: "{{api_key}}"}, postman.Pair{Key: "organization_name"},
		postman.Pair{Key: "username", Value: "{{username}}"}, postman.Pair{Key: "password", Value: "{{password}}"})
	// Postman does not escape what variables hold.
	item.Before(`for (const q of pm.request.url.query.all()) q.value = encodeURIComponent(pm.variables.replaceIn(q.value ?? ""));`)
	expects(item, 200).After(`if (pm.response.code === 200) pm.collectionVariables.set("token", pm.response.json().token);`, `else pm.execution.setNextRequest(null);`)
	return item
}

// logOut ends it.
func (c *collector) logOut() *postman.Item {
	return expects(c.item(c.g.routes.endpoints["/authenticate/logout"].list["GET"], "Log out", ""), 200)
}

// reading is the folder that changes nothing.
func (c *collector) reading() *postman.Item {
	folder := &postman.Item{Name: "Reading", Description: "Runs from top to bottom, and changes nothing.", Items: []*postman.Item{c.logIn()}}
	add := func(item *postman.Item) { folder.Items = append(folder.Items, item) }
	for _, e := range c.g.routes.ordered {
		if op := e.list["GET"]; isUnderAuthenticate(e.Path) && e.Path != "/authenticate" && e.Path != "/authenticate/logout" && op != nil && c.may(op) {
			add(expects(c.item(op, op.about.summary, ""), 200))
		}
	}
	for _, r := range byNeed(c.g.o.Offer.Model) {
		folder.Items = append(folder.Items, c.read(r)...)
	}
	for _, e := range c.g.routes.ordered {
		if op := e.list["GET"]; op != nil && e.Resource == nil && !op.free() && op.about.answers.form != collectForm && op.about.answers.form != fileForm && op.direct == nil && c.may(op) {
			add(c.utility(op))
		}
	}
	if e := c.g.routes.endpoints["/model"]; e != nil && c.may(e.item["GET"]) {
		for _, r := range c.g.o.Offer.Model.Resources {
			add(expects(c.item(e.item["GET"], "The model of "+r.Name, r.Name), 200))
		}
	}
	add(c.logOut())
	return folder
}

// read lists a resource, and gets the first one of the list.
func (c *collector) read(r *mapping.Resource) (items []*postman.Item) {
	if op := c.operation(r, "GET", false); op != nil {
		query, needs := c.listQuery(op)
		list := skipWithout(expects(c.item(op, op.about.summary, "", query...), 200), needs...)
		list.After(keep(r.Name+"_id", "pm.response.json().data?.[0]"))
		items = append(items, list)
	}
	if op := c.operation(r, "GET", true); op != nil && len(items) > 0 {
		items = append(items, skipWithout(expects(c.item(op, op.about.summary, "{{"+r.Name+"_id}}"), 200), r.Name+"_id"))
	}
	return items
}

// listQuery are the parameters of a list: those that are required, a page of one, and the
// others to be switched on.
func (c *collector) listQuery(op *Operation) (query []postman.Pair, needs []string) {
	described, _ := c.described(op)
	for _, p := range described {
		pair := postman.Pair{Key: p.Name, Description: p.Description, Disabled: !p.Required}
		if len(p.Schema.Examples) > 0 {
			pair.Value = fmt.Sprint(p.Schema.Examples[0])
		}
		switch {
		case p.In != "query" || strings.Contains(p.Name, "["):
			continue
		case p.Name == "page_size":
			pair.Value, pair.Disabled = "1", false
		case p.Required:
			pair.Value = example(p)
			if f := op.Endpoint.Resource.Field(p.Name); f != nil && f.Reference != "" {
				pair.Value = "{{" + f.Reference + "_id}}"
				needs = append(needs, f.Reference+"_id")
			}
		}
		query = append(query, pair)
	}
	return query, needs
}

// described are the parameters of an operation as the description has them.
func (c *collector) described(op *Operation) (all []*openapi.Parameter, o *openapi.Operation) {
	item, _ := c.paths.Get(op.Template)
	item.Each(func(method string, found *openapi.Operation) {
		if method == op.Method {
			o = found
		}
	})
	for _, p := range o.Parameters {
		if p.Ref == "" {
			all = append(all, p)
		}
	}
	return all, o
}

func example(p *openapi.Parameter) string {
	switch {
	case len(p.Examples) > 0:
		return fmt.Sprint(p.Examples[0].Value.Value)
	case len(p.Schema.Examples) > 0:
		return fmt.Sprint(p.Schema.Examples[0])
	case len(p.Schema.Enum) > 0:
		return fmt.Sprint(p.Schema.Enum[0])
	}
	return ""
}

// utility is a GET of what is no resource. What it is asked about may not be as it has to be,
// which is no mistake of the request.
func (c *collector) utility(op *Operation) *postman.Item {
	described, _ := c.described(op)
	var query []postman.Pair
	var needs []string
	statuses := []int{200}
	for i := range op.params {
		p := &op.params[i]
		at := slices.IndexFunc(described, func(q *openapi.Parameter) bool { return q.Name == p.Name })
		if at < 0 || !described[at].Required {
			continue
		}
		value := example(described[at])
		switch {
		case p.Primary:
			value, needs, statuses = "{{"+p.of+"_id}}", append(needs, p.of+"_id"), []int{200, 403}
		case p.Reference != "":
			value, needs = "{{"+p.Reference+"_id}}", append(needs, p.Reference+"_id")
		case p.Name == "username":
			value, statuses = "{{username}}", []int{200, 404}
		}
		query = append(query, postman.Pair{Key: p.Name, Value: value, Description: described[at].Description})
	}
	return skipWithout(expects(c.item(op, op.about.summary, "", query...), statuses...), needs...)
}

// byNeed are the resources, each after those that its records cannot be without.
func byNeed(model *mapping.Model) (ordered []*mapping.Resource) {
	seen := map[*mapping.Resource]bool{}
	var visit func(r *mapping.Resource)
	visit = func(r *mapping.Resource) {
		if r == nil || seen[r] {
			return
		}
		seen[r] = true
		for i := range r.Fields {
			switch f := &r.Fields[i]; {
			case !f.Required:
			case f.Reference != "":
				visit(f.Target())
			case f.ReferenceBy != "":
				visit(model.Resource(r.Field(f.ReferenceBy).Example))
			}
		}
		ordered = append(ordered, r)
	}
	for _, r := range model.Resources {
		visit(r)
	}
	return ordered
}
