package remotetest

import (
	"encoding/json"
	"io"
	"net/http"
)

// refuse words a problem as Garage Cloud does.
func (g *JSON) refuse(s *skin, p *problem, prefix string) answer {
	const unprocessable = http.StatusUnprocessableEntity
	name := prefix + s.spelling(p.field)
	switch p.trouble {
	case required:
		return failure(unprocessable, "REQUIRED", name, "%s is required", name)
	case tooLong:
		return failure(unprocessable, "TOO_LONG", name, "%s is longer than %s characters", name, p.detail)
	case unknownField:
		return failure(unprocessable, "UNKNOWN_FIELD", name, "%s is not a field of %s", name, s.collection)
	case readOnly:
		return failure(unprocessable, "READ_ONLY", name, "%s cannot be set", name)
	case unknownReference:
		return failure(unprocessable, "UNKNOWN_REFERENCE", name, "%s: there is no %s", name, p.detail)
	case duplicate:
		return failure(http.StatusConflict, "DUPLICATE", name, "%s %q is already in use", name, p.detail)
	case inUse:
		a := failure(http.StatusConflict, "IN_USE", "", "Still used by %s", g.collection(p.detail))
		a.body.(object)["error"].(object)["usedBy"] = g.collection(p.detail)
		return a
	case orderClosed:
		return failure(http.StatusConflict, "ORDER_CLOSED", "status", "The order is %s", g.skins["orders"].wireOf("status").spell(p.detail))
	case advertised:
		return failure(http.StatusConflict, "ADVERTISED", name, "The vehicle is advertised")
	default:
		return failure(unprocessable, "INVALID", name, "%s cannot be %q", name, p.detail)
	}
}

func (g *JSON) collection(entity string) string {
	for name, s := range g.skins {
		if s.entity == entity {
			return name
		}
	}
	return entity
}

// users serves requests about people, of whatever tenant.
func (g *JSON) users(f func(r *http.Request, body []byte) answer) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		g.count(r.Pattern)
		if a, ok := g.authorize(r); !ok {
			a.write(w)
			return
		}
		body, _ := io.ReadAll(http.MaxBytesReader(w, r.Body, 1<<16))
		f(r, body).write(w)
	}
}

// verify judges the log-in of an employee. The 401 of a wrong password is not
// the 401 of an expired token; its code distinguishes them.
func (g *JSON) verify(_ *http.Request, body []byte) answer {
	var in struct{ Login, Password string }
	if err := json.Unmarshal(body, &in); err != nil {
		return failure(http.StatusBadRequest, "MALFORMED_JSON", "", "The body is not a JSON object")
	}
	tenant, r, ok := g.admin.user(in.Login)
	if !ok || in.Password != in.Login || r.values.flag("blocked") {
		return failure(http.StatusUnauthorized, "INVALID_CREDENTIALS", "", "Login or password is wrong")
	}
	return answer{status: http.StatusOK, body: account(tenant, r)}
}

func (g *JSON) findUser(r *http.Request, _ []byte) answer {
	tenant, found, ok := g.admin.user(r.PathValue("login"))
	if !ok {
		return failure(http.StatusNotFound, "NOT_FOUND", "login", "No user %s", r.PathValue("login"))
	}
	return answer{status: http.StatusOK, body: account(tenant, found)}
}

func account(tenant string, r row) object {
	return object{
		"employeeId": r.id, "login": r.values["username"], "email": r.values["email"], "external": r.values.flag("external"),
		"tenant": object{"id": tenant, "name": tenantName(tenant)},
	}
}
