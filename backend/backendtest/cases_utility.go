package backendtest

import (
	"encoding/json"
	"net/url"
	"strings"

	"frontdesk/mapping"
)

// utilityCases are the rows and rules of the endpoints that are no resource,
// those of vehicles apart.
func utilityCases() []Case {
	const address, hint = mapping.Scope("GET /contact/checkaddress"), "The gateway judges the form; a register of addresses is the driver's AddressBook."
	return []Case{
		row("GET /document/info", mapping.DocumentUnavailable, func(t *T) {
			r := t.on("document")
			t.refused(t.call("GET", "/document/info?id="+status(t.create(r, nil)), ""))
		}),
		row(address, mapping.ValidationFailed, func(t *T) {
			country := t.countryID()
			t.refused(t.call("GET", "/contact/checkaddress?Postcode=3511EV&CountryId="+country, ""), "Postcode", "3511EV", "postcode")
			for _, no := range []string{"999999", "999", "NL"} {
				t.refused(t.call("GET", "/contact/checkaddress?Postcode=3511%20EV&CountryId="+no, ""), "CountryId", no, "country")
			}
		}),
		row(address, mapping.FieldRequired, func(t *T) {
			for _, query := range []string{"", "?Postcode=", "?Postcode=&CountryId=&Huisnummer=1"} {
				t.messages(t.call("GET", "/contact/checkaddress"+query, ""),
					"Field: Postcode is required and not supplied in request", "Field: CountryId is required and not supplied in request")
			}
		}),
		row(address, mapping.Int4Invalid, func(t *T) {
			t.refused(t.call("GET", "/contact/checkaddress?Postcode=3511%20EV&Huisnummer=five&CountryId="+t.countryID(), ""), "Huisnummer", "five")
		}),
		row(address, mapping.AddressPartTooLong, func(t *T) {
			base := "/contact/checkaddress?Postcode=3511%20EV&CountryId=" + t.countryID()
			t.refused(t.call("GET", base+"&Huisnummer=12345678901", ""), "Huisnummer", "11", "varchar", "10")
			t.refused(t.call("GET", base+"&toevoeging=abcdefghijkl", ""), "toevoeging", "12", "varchar", "10")
			all := "/contact/checkaddress?Postcode=3511%20EVABCD&Huisnummer=12345678901&toevoeging=abcdefghijkl&CountryId=" + t.countryID()
			const tooLong = " too long for type varchar (10)"
			t.messages(t.call("GET", all, ""), "Field: Postcode valuelength: 11"+tooLong, "Field: Huisnummer valuelength: 11"+tooLong, "Field: toevoeging valuelength: 12"+tooLong)
		}),
		rule("contact.checkaddress", `A valid address answers {"data": {"valid","verified","street","house_number","addition","postcode","city","country_id"}}`, hint, func(t *T) {
			a := t.ok(t.call("GET", "/contact/checkaddress?Postcode=3511%20EV&Huisnummer=33&CountryId="+t.countryID(), ""))
			t.equal("the members", []string{"valid", "verified", "street", "house_number", "addition", "postcode", "city", "country_id"}, a.order())
			t.equal("valid", true, a.data()["valid"])
		}),
		row("GET /empoyee/email", mapping.UsernameMissing, func(t *T) {
			t.refused(t.call("GET", "/empoyee/email", ""))
			t.refused(t.call("GET", "/empoyee/email?username=", ""))
		}),
		rule("empoyee.email", `/empoyee/email answers {"data": {"username","email"}} of an employee, else 404 Field: username value: <x> not found`, hint, func(t *T) {
			r := t.on("employee", "username", "email")
			var name, mail any
			if t.ReadOnly {
				rec := t.found(r)
				name, mail = rec["username"], rec["email"]
			} else {
				name, mail = t.unique(30), "conform@example.nl"
				t.create(r, values{"username": name, "email": mail})
			}
			a := t.ok(t.call("GET", "/empoyee/email?username="+url.QueryEscape(plainText(name)), ""))
			t.equal("the answer", map[string]any{"username": name, "email": mail}, a.data())
			t.refusal(t.call("GET", "/empoyee/email?username=conform-nobody", ""), []mapping.Scope{mapping.OpGet}, mapping.RecordNotFound, "username", "conform-nobody")
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
		notFromOutside("GET /model", mapping.BodyNotJSON, "only a backend whose own model answer is not JSON brings it about"),
		rule("model.unknown", "GET /model of an unknown name: 404 Field: name value: <x> not found", hint, func(t *T) {
			t.refusal(t.call("GET", "/model/no-such-name", ""), []mapping.Scope{mapping.OpGet}, mapping.RecordNotFound, "name", "no-such-name")
		}),
		rule("openapi.described", "GET /openapi.json?api_key= describes exactly what that key may call", "The description is made from the model and the allowlist: reload the gateway after changing either.", openAPIDescribes),
	}
}

func (t *T) countryID() string {
	r := t.on("country")
	if id := t.systemRecord(r); id != 0 {
		return status(id)
	}
	t.impossible("the backend has no countries of its own")
	return ""
}

// openAPIDescribes compares the description with GET /authenticate/acces.
func openAPIDescribes(t *T) {
	a := t.send("", "GET", "/openapi.json?api_key="+url.QueryEscape(t.APIKey), "")
	if f, err := a.failure(); a.status == 400 && err == nil && f.Reason == string(mapping.EndpointUnknown) {
		t.impossible("this gateway serves no description")
	}
	t.ok(a)
	var body struct {
		Paths map[string]map[string]any `json:"paths"`
	}
	t.check(json.Unmarshal(a.body, &body) == nil && len(body.Paths) > 0, "an OpenAPI description", `{"paths": {…}}`, string(a.body))
	for grant := range t.access {
		method, path, _ := strings.Cut(grant, " ")
		if strings.Contains(path, "*") {
			continue
		}
		m := strings.ToLower(method)
		described := body.Paths[path][m] != nil
		if m == "put" || m == "delete" { // are of one record
			described = described || body.Paths[path+"/{id}"][m] != nil
		}
		t.check(described, "what may be called is described", grant, "it is not in paths")
	}
	for path := range body.Paths {
		for method := range body.Paths[path] {
			switch m := strings.ToUpper(method); m {
			case "GET", "POST", "PUT", "DELETE":
				concrete := strings.NewReplacer("{id}", "1", "{name}", "order").Replace(path)
				ours := t.can(m, concrete) || strings.HasPrefix(path, "/webhook") || strings.HasPrefix(path, "/openapi")
				t.check(ours, "what is described may be called", "no "+m+" "+path, "it is in paths")
			}
		}
	}
}
