package backendtest

import "strings"

const platePath = "/updatelicenseplate"

// endpoints make valid requests of the operations that are not about records. A request that
// begins a job asks for a callback that nobody waits for.
var endpoints = map[string]func(*T, request) request{
	"GET /authenticate": func(t *T, r request) request {
		r.path, r.query, _ = strings.Cut(t.loginPath(t.APIKey, t.Login), "?")
		r.token = ""
		return r
	},
	"GET /authenticate/logout": func(t *T, r request) request {
		r.token = t.again()
		return r
	},
	"POST /authenticate/forgotpassword": func(_ *T, r request) request { return r.with(values{"username": "conform-nobody"}) },
	"GET /util/environment":             func(_ *T, r request) request { return r.and("username=conform") },
	"GET /empoyee/email": func(t *T, r request) request {
		name := t.unique(30)
		t.create(t.on("employee", "username", "email"), values{"username": name, "email": "conform@example.nl"})
		return r.and("username=" + name)
	},
	"GET /model/{name}": func(t *T, r request) request {
		r.path = "/model/" + t.resources[0].Name
		return r
	},
	"GET /changes":        func(_ *T, r request) request { return r },
	"GET /changes/digest": func(t *T, r request) request { return r.and("resource=" + t.resources[0].Name) },
	"GET /document/info": func(t *T, r request) request {
		r.id = t.create(t.on("document", "external_url"), values{"external_url": "https://files.example.nl/a"})
		return r.and("id=" + status(r.id))
	},
	"GET /contact/checkaddress": func(t *T, r request) request {
		return r.and("Postcode=3511%20EV&CountryId=" + t.countryID())
	},
	"GET /vehicle/publishstart": ofVehicle, "PUT /vehicle/publishstart": ofVehicle, "PUT /vehicle/publishstop": ofVehicle,
	"PUT " + platePath: ofPlate, "POST " + platePath: ofPlate,
	"POST /changes": func(t *T, r request) request {
		var now struct{ Cursor string }
		t.read(t.call("GET", "/changes", ""), &now)
		return r.with(values{"webhook_url": "https://receiver.invalid/done", "after": now.Cursor, "wait": 0})
	},
	"POST /backup/owner":    func(_ *T, r request) request { return r.with(values{"webhook_url": "https://receiver.invalid/done"}) },
	"DELETE /changes":       func(_ *T, r request) request { return r.and("id=" + absentJob) },
	"GET /webhook":          func(_ *T, r request) request { return r.and("id=" + absentJob) },
	"GET /webhook/download": func(_ *T, r request) request { r.token = ""; return r.and("id=" + absentJob) },
}

const absentJob = "00000000000000000000000000000000"

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

// formOf are the fields that an endpoint takes in its body, nil where it takes
// none. No model tells of them.
func (t *T) formOf(path string) *Resource {
	id := Field{Name: "id", Datatype: "int4", Primary: true}
	switch path {
	case "/vehicle/publishstart", "/vehicle/publishstop":
		return &Resource{Name: "publish", Fields: []*Field{&id}}
	case platePath:
		plate := *t.on("vehicle", "license_plate").field("license_plate")
		plate.Required, plate.Unique = true, true
		return &Resource{Name: "plate", Fields: []*Field{&id, &plate}}
	case "/authenticate/forgotpassword":
		return &Resource{Name: "forgot", Fields: []*Field{{Name: "username", Datatype: "varchar", Length: 64, Required: true}}}
	case "/changes":
		return &Resource{Name: "changes", Fields: []*Field{
			{Name: "webhook_url", Datatype: "varchar", Length: 2048, Required: true, Validation: "https"},
			{Name: "after", Datatype: "varchar", Required: true}, {Name: "resource", Datatype: "varchar", Length: 1000}, {Name: "wait", Datatype: "int4"},
		}}
	case "/backup/owner":
		return &Resource{Name: "backup", Fields: []*Field{{Name: "webhook_url", Datatype: "varchar", Length: 2048, Required: true, Validation: "https"}}}
	}
	return nil
}

// severalName is the member of a body that holds many records.
const severalName = "records"

// oneOf is the resource whose records an operation writes many of; nil for others.
func (t *T) oneOf(path string) *Resource {
	name, many := strings.CutSuffix(path[1:], "/bulk")
	if !many {
		return nil
	}
	return t.known(name)
}

// oneOfMany is one record as it is sent among many.
func (t *T) oneOfMany(method string, r *Resource) values {
	if method == "PUT" {
		return values{"id": t.record(r)}
	}
	return t.valid(r)
}

// again is the token of a session beside the case's own.
func (t *T) again() string {
	token, err := t.login(t.Login)
	t.check(err == nil, "a second session", "a token", text(err))
	return token
}
