package gateway

import (
	"net/http"
	"slices"
	"strconv"
	"time"

	"frontdesk/mapping"
)

// An operation or a field that is going away, as the model says, works as before. Answers
// say so in the headers Deprecation (RFC 9745) and Sunset (RFC 8594): if the request calls
// the operation, if it names the field (fields, sort, a filter, the body), and if the answer
// holds the field. The access log has the requests that name it, and all are counted by api_key.

// usesDeprecated notes that the request names something that is going away.
func (x *Exchange) usesDeprecated(what string, d *mapping.Deprecation) {
	x.noteDeprecated(what, d, true)
}

// holdsDeprecated notes that the answer holds something that is going away.
func (x *Exchange) holdsDeprecated(what string, d *mapping.Deprecation) {
	x.noteDeprecated(what, d, false)
}

func (x *Exchange) noteDeprecated(what string, d *mapping.Deprecation, named bool) {
	x.deprecation = x.deprecation.Sooner(d)
	if !slices.ContainsFunc(x.deprecated, func(u DeprecatedUse) bool { return u.What == what }) {
		x.deprecated = append(x.deprecated, DeprecatedUse{what, named})
	}
}

// namesField notes a field that a parameter of the query names.
func (x *Exchange) namesField(f *mapping.Field) {
	x.Endpoint.Resource.EachDeprecated([]int{f.Index}, x.usesDeprecated)
}

// holdsFields notes the fields of an answer.
func (x *Exchange) holdsFields(r *mapping.Resource, fields []int) {
	r.EachDeprecated(fields, x.holdsDeprecated)
}

// setDeprecation adds the headers, with the first of several days.
func (x *Exchange) setDeprecation() {
	if x.deprecation == nil {
		return
	}
	h := &x.response.Header
	h.Set("Deprecation", "@"+strconv.FormatInt(x.deprecation.Since.Unix(), 10))
	if until := x.deprecation.Until; !until.IsZero() {
		h.Set("Sunset", until.Format(http.TimeFormat))
	}
}

// deprecatedNames returns the names of what the request itself uses.
func (x *Exchange) deprecatedNames() (names []string) {
	for _, u := range x.deprecated {
		if u.Named {
			names = append(names, u.What)
		}
	}
	return names
}

// deprecationAnswer is what GET /model says of what is going away.
type deprecationAnswer struct {
	Since string `json:"since" doc:"The day from which it is deprecated." example:"2026-12-01"`
	Until string `json:"until,omitempty" doc:"The day on which it may be gone." example:"2027-06-30"`
}

func answerDeprecation(d *mapping.Deprecation) *deprecationAnswer {
	if d == nil {
		return nil
	}
	return &deprecationAnswer{Since: d.Since.Format(time.DateOnly), Until: when(!d.Until.IsZero(), d.Until.Format(time.DateOnly))}
}

// deprecatedOperation is what GET /model says of an operation that is going away.
type deprecatedOperation struct {
	Operation  string            `json:"operation" example:"DELETE /order/{id}"`
	Deprecated deprecationAnswer `json:"deprecated"`
}

// deprecatedOperations returns the operations of a resource that are going away by themselves, of
// those that the caller may use.
func (x *Exchange) deprecatedOperations(r *mapping.Resource) (all []deprecatedOperation) {
	e := x.routes.endpoints["/"+r.Name]
	if e == nil {
		return nil
	}
	for _, op := range e.all {
		if op.deprecated != r.Deprecated && op.isFor(x.Key) {
			all = append(all, deprecatedOperation{op.Method + " " + op.Template, *answerDeprecation(op.deprecated)})
		}
	}
	return all
}
