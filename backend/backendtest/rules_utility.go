package backendtest

import (
	"net/http"
	"net/url"
	"slices"
	"strings"

	"frontdesk/mapping"
)

const checkAddress = mapping.Scope("GET /contact/checkaddress")

// utilityCases are the rules of the endpoints that are no resource, those of vehicles apart.
func utilityCases() []Case {
	const hint, described = "The gateway judges the form; a register of addresses is the driver's AddressBook.", "The description is made from the model and the allowlist: reload the gateway after changing either."
	return []Case{
		rule("contact.checkaddress", `A valid address answers {"data": {"valid","verified","street","house_number","addition","postcode","city","country_id"}}`, hint, func(t *T) {
			a := t.ok(t.call("GET", "/contact/checkaddress?Postcode=3511%20EV&Huisnummer=33&CountryId="+t.countryID(), ""))
			t.equal("the members", []string{"valid", "verified", "street", "house_number", "addition", "postcode", "city", "country_id"}, a.order())
			t.equal("valid", true, a.data()["valid"])
		}),
		rule("empoyee.email", `/empoyee/email answers {"data": {"username","email"}} of an employee, else 404 Field: username value: <x> not found`, hint, func(t *T) {
			r := t.on("employee", "username", "email")
			var name, mail any = t.unique(30), "conform@example.nl"
			if t.ReadOnly {
				rec := t.found(r)
				name, mail = rec["username"], rec["email"]
			} else {
				t.create(r, values{"username": name, "email": mail})
			}
			a := t.ok(t.call("GET", "/empoyee/email?username="+url.QueryEscape(plainText(name)), ""))
			t.equal("the answer", map[string]any{"username": name, "email": mail}, a.data())
			t.refusal(t.call("GET", "/empoyee/email?username=conform-nobody", ""), mapping.RecordNotFound, "username", "conform-nobody")
		}),
		rule("document.info", `/document/info answers {"data": {"id","name","mime_type","size","sha256","external_url"}} of an external document`, "size and sha256 are kept by the backend, of the content.", func(t *T) {
			r := t.on("document", "external_url", "content")
			id := t.create(r, values{"content": "SGVsbG8=", "external_url": "https://files.example.nl/a"})
			a := t.ok(t.call("GET", "/document/info?id="+status(id), ""))
			t.equal("the members", []string{"id", "name", "mime_type", "size", "sha256", "external_url"}, a.order())
			t.equal("size", 5.0, a.data()["size"])
			t.equal("sha256", "185f8db32271fe25f561a6fc938b2e264306ec304eda518007d1764826381969", a.data()["sha256"])
		}),
		rule("util.environment", `/util/environment answers {"data": {"environment","version","base_url","time_zone","client","username"}}`, hint, func(t *T) {
			a := t.ok(t.call("GET", "/util/environment?username=someone", ""))
			t.equal("the members", []string{"environment", "version", "base_url", "time_zone", "client", "username"}, a.order())
			t.equal("username", "someone", a.data()["username"])
		}),
		rule("model.unknown", "GET /model of an unknown name: 404 Field: name value: <x> not found", hint, func(t *T) {
			t.refusal(t.call("GET", "/model/no-such-name", ""), mapping.RecordNotFound, "name", "no-such-name")
		}),
		rule("openapi.described", "GET /openapi.json?api_key= describes exactly what that key may call", described, openAPIDescribes),
		each(rule("list.described", "Every parameter of a list that GET /openapi.json describes is taken, with each of the values that it names",
			"The description is made from the model: have the sheet or the driver say what can be sorted and filtered by.", asDescribed)),
	}
}

// address checks an address that must be refused.
func address(says []string, query string) way {
	return func(t *T) {
		query := query
		if strings.Contains(query, "$country") {
			query = strings.ReplaceAll(query, "$country", t.countryID())
		}
		t.refused(t.call("GET", "/contact/checkaddress?"+query, ""), says...)
	}
}

func (t *T) countryID() string {
	id := t.systemRecord(t.on("country"))
	if id == 0 {
		t.impossible("the backend has no countries of its own")
	}
	return status(id)
}

// description is what GET /openapi.json describes.
type description struct {
	Paths map[string]struct {
		Get, Post, Put, Delete *struct{ Parameters []parameter }
	}
	Components struct{ Parameters map[string]parameter }
}

// has reports whether a method of a path is described.
func (d description) has(method, path string) bool {
	p := d.Paths[path]
	return map[string]bool{"GET": p.Get != nil, "POST": p.Post != nil, "PUT": p.Put != nil, "DELETE": p.Delete != nil}[method]
}

func (t *T) description() (d description) {
	a := t.send("", "GET", "/openapi.json?api_key="+url.QueryEscape(t.APIKey), "")
	if f, err := a.failure(); a.status == http.StatusBadRequest && err == nil && f.Reason == string(mapping.EndpointUnknown) {
		t.impossible("this gateway serves no description")
	}
	t.read(a, &d)
	t.check(len(d.Paths) > 0, "an OpenAPI description", `{"paths": {…}}`, string(a.body))
	return d
}

// openAPIDescribes compares the description with GET /authenticate/acces.
func openAPIDescribes(t *T) {
	d := t.description()
	for grant := range t.access {
		method, path, _ := strings.Cut(grant, " ")
		// Update and delete are described for one record.
		there := d.has(method, path) || (method == "PUT" || method == "DELETE") && d.has(method, path+"/{id}")
		t.check(there || strings.Contains(path, "*") || path == "/mcp" /* which describes its tools itself */, "what may be called is described", grant, "it is not in paths")
	}
	for path := range d.Paths {
		for _, method := range []string{"GET", "POST", "PUT", "DELETE"} {
			if d.has(method, path) {
				ours := t.can(method, concrete(path)) || strings.HasPrefix(path, "/webhook") || strings.HasPrefix(path, "/openapi")
				t.check(ours, "what is described may be called", "no "+method+" "+path, "it is in paths")
			}
		}
	}
}

// parameter is a parameter of an operation in the description.
type parameter struct {
	Ref      string `json:"$ref"`
	Name, In string
	Schema   struct {
		Enum, Examples []any
		Items          struct{ Enum []any }
	}
	Examples map[string]struct{ Value any }
}

// values are the values in the description, in the form of a query.
func (p parameter) values() (all []string) {
	named := slices.Concat(p.Schema.Enum, p.Schema.Examples, p.Schema.Items.Enum)
	for _, e := range p.Examples {
		named = append(named, e.Value)
	}
	for _, v := range named {
		parts, ok := v.([]any)
		if !ok {
			parts = []any{v}
		}
		var texts []string
		for _, part := range parts {
			texts = append(texts, plainText(part))
		}
		all = append(all, strings.Join(texts, ","))
	}
	return all
}

func asDescribed(t *T) {
	if !t.can("GET", "/"+t.resource.Name) {
		t.needs(keyThat+"GET /%s", t.resource.Name)
	}
	d := t.description()
	operation := d.Paths["/"+t.resource.Name].Get
	t.check(operation != nil, "the description", "GET /"+t.resource.Name, "it is not in paths")
	list := t.listOf(t.resource, t.get(t.resource, t.record(t.resource)).data())
	for _, p := range operation.Parameters {
		if name, shared := strings.CutPrefix(p.Ref, "#/components/parameters/"); shared {
			p = d.Components.Parameters[name]
		}
		if p.In != "query" || slices.Contains(t.resource.requires, p.Name) {
			continue
		}
		path := small(list, "1")
		if p.Name == "page_size" {
			path = strings.Replace(list, "page_size=1000", "page=1", 1)
		}
		for _, v := range p.values() {
			t.ok(t.call("GET", path+"&"+url.QueryEscape(p.Name)+"="+url.QueryEscape(v), ""))
		}
	}
}

// callbackCases are the rules of callbacks that can be judged without being
// called back: none of them begins a job.
func callbackCases() []Case {
	const hint = "The gateway judges webhook_url before it keeps a job; see webhooks.ports and webhooks.allow_hosts in its configuration."
	refused := func(id, says string, body values, reason mapping.Reason, args ...string) Case {
		return rule(id, says, hint, func(t *T) { t.refusal(t.call("POST", "/backup/owner", body.json()), reason, args...) })
	}
	const plain, literal = "http://hooks.example.nl/a", "https://127.0.0.2/a"
	return []Case{
		refused("backup.owner.webhook_url_required", "webhook_url missing: 403 Field: webhook_url is required and not supplied in request", values{},
			mapping.FieldRequired, "webhook_url"),
		refused("backup.owner.webhook_url_https", "webhook_url must start with https: 403 Field: webhook_url has an invalid value: <x> for validation: https", values{"webhook_url": plain},
			mapping.ValidationFailed, "webhook_url", plain, "https"),
		refused("backup.owner.webhook_url_public", "webhook_url must be publicly reachable: 403 Field: webhook_url has an invalid value: <x> for validation: public address", values{"webhook_url": literal},
			mapping.ValidationFailed, "webhook_url", literal, "public address"),
		rule("webhook.unknown", "GET /webhook of an unknown id: 404 Field: id value: <x> not found", hint, func(t *T) {
			t.refusal(t.call("GET", "/webhook?id="+absentJob, ""), mapping.RecordNotFound, "id", absentJob)
		}),
	}
}
