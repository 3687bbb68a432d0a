package backendtest

import "strings"

const platePath = "/updatelicenseplate"

const (
	absentJob = "00000000000000000000000000000000"
	nobody    = "https://receiver.invalid/done" // a job calls back, and nobody waits for it
)

// endpoints make valid requests of the operations that are not about records, and take more than their path.
var endpoints = map[string]func(*T, request) request{
	"GET /authenticate": func(t *T, r request) request {
		r.path, r.query, _ = strings.Cut(t.loginPath(t.APIKey, t.Login), "?")
		r.token = ""
		return r
	},
	"GET /authenticate/logout":          func(t *T, r request) request { r.token = t.again(); return r },
	"POST /authenticate/forgotpassword": func(_ *T, r request) request { return r.with(values{"username": "conform-nobody"}) },
	"GET /util/environment":             func(_ *T, r request) request { return r.and("username=conform") },
	"GET /empoyee/email": func(t *T, r request) request {
		name := t.unique(30)
		t.create(t.on("employee", "username", "email"), values{"username": name, "email": "conform@example.nl"})
		return r.and("username=" + name)
	},
	"GET /model/{name}":   func(t *T, r request) request { r.path = "/model/" + t.resources[0].Name; return r },
	"GET /changes/digest": func(t *T, r request) request { return r.and("resource=" + t.resources[0].Name) },
	"GET /document/info": func(t *T, r request) request {
		r.id = t.create(t.on("document", "external_url"), values{"external_url": "https://files.example.nl/a"})
		return r.and("id=" + status(r.id))
	},
	"GET /contact/checkaddress": func(t *T, r request) request { return r.and("Postcode=3511%20EV&CountryId=" + t.countryID()) },
	"GET /vehicle/publishstart": ofVehicle, "PUT /vehicle/publishstart": ofVehicle, "PUT /vehicle/publishstop": ofVehicle,
	"PUT " + platePath: ofPlate, "POST " + platePath: ofPlate,
	"POST /changes": func(t *T, r request) request {
		var now struct{ Cursor string }
		t.read(t.call("GET", "/changes", ""), &now)
		return r.with(values{"webhook_url": nobody, "after": now.Cursor, "wait": 0})
	},
	"POST /backup/owner": func(_ *T, r request) request { return r.with(values{"webhook_url": nobody}) },
	"DELETE /changes":    ofJob, "GET /webhook": ofJob,
	"GET /webhook/download": func(t *T, r request) request { r.token = ""; return ofJob(t, r) },
}

func ofJob(_ *T, r request) request { return r.and("id=" + absentJob) }

// ofVehicle is about a new vehicle that can be published.
func ofVehicle(t *T, r request) request {
	_, r.id = t.advertised(values{"tax_kind": "vat"})
	return r.and("id=" + status(r.id))
}

func ofPlate(t *T, r request) request {
	v := t.on("vehicle", "license_plate")
	r.id = t.create(v, nil)
	return r.with(values{"id": r.id, "license_plate": t.textValue(v.field("license_plate"))})
}

// formOf are the fields in an endpoint's body that no model describes; nil for
// none.
func (t *T) formOf(path string) *Resource {
	id, hook := &Field{Name: "id", Datatype: "int4", Primary: true}, &Field{Name: "webhook_url", Datatype: "varchar", Length: 2048, Required: true, Validation: "https"}
	form := func(fields ...*Field) *Resource { return &Resource{Name: path, Fields: fields} }
	switch path {
	case "/vehicle/publishstart", "/vehicle/publishstop":
		return form(id)
	case platePath:
		plate := *t.on("vehicle", "license_plate").field("license_plate")
		plate.Required, plate.Unique = true, true
		return form(id, &plate)
	case "/authenticate/forgotpassword":
		return form(&Field{Name: "username", Datatype: "varchar", Length: 64, Required: true})
	case "/backup/owner":
		return form(hook)
	case "/changes":
		return form(hook, &Field{Name: "after", Datatype: "varchar", Required: true}, &Field{Name: "resource", Datatype: "varchar", Length: 1000}, &Field{Name: "wait", Datatype: "int4"})
	}
	return nil
}

// severalName is the member of a body that holds many records.
const severalName = "records"

// oneOf is the resource whose records an operation writes many of; nil for others.
func (t *T) oneOf(path string) *Resource {
	if name, many := strings.CutSuffix(path[1:], "/bulk"); many {
		return t.known(name)
	}
	return nil
}
