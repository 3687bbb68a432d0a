package gateway

import (
	"bytes"
	gopath "path"
	"slices"
	"strconv"
	"strings"

	"frontdesk/auth"
	"frontdesk/config/strictyaml"
	"frontdesk/mapping"
)

// cure returns what to do about a violation of this very request; "" where the catalogue says all
// there is to say of its reason. It is ASCII without control characters, and repeats nothing
// of the request but plain names.
func (g *Gateway) cure(x *Exchange, e *mapping.Error) string {
	if x.cured != e { // the answer has it, and what is kept of the refusal
		x.cured, x.cureText = e, g.findCure(x, e)
	}
	return x.cureText
}

func (g *Gateway) findCure(x *Exchange, e *mapping.Error) string {
	if e.Cure != "" {
		return e.Cure
	}
	if meant := misspelt[x.Path]; meant != "" && g.routes.endpoints[meant] != nil {
		return "The endpoint is spelled " + meant + "."
	}
	switch e.Reason {
	case mapping.EndpointUnknown:
		return g.cureOfPath(x)
	case mapping.QueryUnsupported:
		return x.cureOfParameter(e.Args[0])
	case mapping.ParametersRequired:
		return x.cureOfMissing(e.Args)
	case mapping.PrimaryIDInvalid:
		return when(x.Endpoint.Resource != nil && strings.Contains(x.Item, ","), "Several records: GET "+x.Endpoint.Path+"?id[in]=1,2.")
	case mapping.FieldNotInModel:
		return x.cureOfField(e.Args[0])
	case mapping.ValidationFailed:
		if len(e.Args) == 3 { // a driver may give fewer
			return x.cureOfRule(e.Args[0], e.Args[1], e.Args[2])
		}
	case mapping.TokenInvalid, mapping.NotLoggedIn:
		return x.cureOfToken()
	case mapping.PreconditionChanged:
		return x.cureOfMatch()
	case mapping.BodyTooLarge:
		return when(x.Operation.single != nil, "Send at most "+strconv.Itoa(mapping.MaxRecords)+" records at once, and several requests for more.")
	case mapping.BodyNotJSON:
		return g.cureOfArray(x)
	}
	return ""
}

// misspelt has endpoints of the interface by their correct spelling.
var misspelt = map[string]string{"/employee/email": "/empoyee/email", "/authenticate/access": "/authenticate/acces"}

// cureOfPath finds the endpoint that was meant, among all endpoints, not only those that the
// api_key may use.
func (g *Gateway) cureOfPath(x *Exchange) string {
	found := func(path string) bool {
		if e := g.routes.endpoints[path]; e != nil && !strings.HasSuffix(e.Path, "*") {
			return true
		}
		of, item := gopath.Split(path)
		e := g.routes.endpoints[strings.TrimSuffix(of, "/")]
		return e != nil && e.item != nil && isPart(item)
	}
	if !x.below {
		path := x.Path
		if _, rest, ok := strings.Cut(strings.TrimPrefix(path, "/"), "/"); ok && !found(path) { // below another base path
			path = "/" + rest
		}
		if found(path) {
			return "The path begins with " + g.publicPath + ": " + g.publicPath + path + "."
		}
		return "The path begins with " + g.publicPath + ", such as " + g.publicPath + "/authenticate."
	}
	if found(x.Path) {
		return "" // it exists, but this api_key may not use it
	}
	near := strictyaml.Closest(x.Path, g.paths, 2)
	return when(near != "", "Did you mean "+near+"? Paths are exact: case and a slash at the end count.")
}

// paramAliases has parameters by the names that other interfaces give them.
var paramAliases = map[string]string{
	"limit": "page_size", "size": "page_size", "per_page": "page_size", "pagesize": "page_size", "top": "page_size", "count": "total",
	"offset": "page", "skip": "page", "cursor": "after", "since": "modified_since", "updated_since": "modified_since", "updated_after": "modified_since",
	"order": "sort", "order_by": "sort", "orderby": "sort", "sort_by": "sort", "select": "fields", "apikey": "api_key", "key": "api_key", "user": "username",
}

// operatorAliases has operators by what other interfaces append to a name.
var operatorAliases = []struct{ end, meant string }{
	{"[]", "[in]"}, {"[ge]", "[gte]"}, {"[le]", "[lte]"}, {"[like]", "[contains]"}, {"__gte", "[gte]"}, {"__gt", "[gt]"}, {"__lte", "[lte]"}, {"__lt", "[lt]"},
	{"__in", "[in]"}, {"__contains", "[contains]"}, {"__isnull", "[null]"}, {">", "[gte]"}, {"<", "[lte]"},
}

// cureOfParameter finds the parameter that was meant.
func (x *Exchange) cureOfParameter(name string) string {
	takes := x.Operation.takes
	switch {
	case len(takes) == 0:
		return "This operation takes no parameters in its query."
	case name == "organization_name":
		return "Leave organization_name empty, or out."
	case !isPlainName(name):
		return ""
	}
	for _, a := range operatorAliases {
		if field, ok := strings.CutSuffix(name, a.end); ok && takes[field+a.meant] {
			return "Did you mean " + field + a.meant + "?"
		}
	}
	if field, _ := mapping.CutOperator(name); field == "id" && takes["after"] {
		return "IDs have no ranges: after=5 continues a list behind the record with ID 5, id[in]=1,2 names some."
	}
	if meant := paramAliases[strings.ToLower(name)]; meant != "" && takes[meant] {
		return "Did you mean " + meant + "?"
	}
	var known []string
	for _, p := range x.Operation.params {
		known = append(known, p.Name)
	}
	near := strictyaml.Nearest(name, known)
	return when(near != "", "Did you mean "+near+"? Names are exact.")
}

// cureOfMissing says that a parameter which was sent with an operator is required without one.
func (x *Exchange) cureOfMissing(names []string) string {
	for _, p := range x.Params {
		if field, o := mapping.CutOperator(p.Name); o != mapping.Equals && slices.Contains(names, field) {
			return field + " must be one value: " + field + "=5."
		}
	}
	return ""
}

// cureOfField finds the field that was meant, among those that the api_key may know.
func (x *Exchange) cureOfField(name string) string {
	r := x.Operation.form
	if r == nil {
		r = x.Endpoint.Resource
	}
	if r == nil || !isPlainName(name) {
		return ""
	}
	var known []string
	for _, f := range fieldsOf(r, func(f *mapping.Field) bool { return f.Type != mapping.Array }) {
		known = append(known, f.Name)
	}
	near := strictyaml.Closest(name, known, 3)
	return when(near != "", "Did you mean "+near+"? GET /model/"+r.Name+" lists all fields.")
}

// cureOfRule says what the rule of a field asks for.
func (x *Exchange) cureOfRule(field, value, rule string) string {
	choices, values := strings.Split(rule, "|"), strings.Split(value, ",")
	other := func(s string) bool { return !slices.Contains(choices, s) }
	switch {
	case len(choices) > 1 && len(values) > 1 && !slices.ContainsFunc(values, other) && x.Operation.takes[field+"[in]"]:
		return "Several values: " + field + "[in]=" + value + "."
	case len(choices) > 1:
		return "Send one of these: " + strings.Join(choices, ", ") + "."
	case rule == "resource" && x.Key != nil && strings.HasPrefix(x.Path, changesPath):
		return "Send one of these: " + strings.Join(namesOf(x.followable()), ", ") + "."
	default:
		return mapping.ValidationOf(rule).Words
	}
}

// cureOfToken says what a header holds instead of a token.
func (x *Exchange) cureOfToken() string {
	token, sent := x.headerSent("Token")
	const form = "The header token takes the 36 characters that GET /authenticate answered"
	switch {
	case len(token) > 7 && bytes.EqualFold(token[:7], []byte("bearer ")):
		return form + ", without Bearer."
	case sent && len(token) > 0 && x.why == auth.CauseMalformed:
		return form + ", and nothing else."
	case !sent && len(x.request.Header.Peek("Authorization")) > 0:
		return form + ". A header Authorization is not read."
	default:
		return ""
	}
}

// cureOfMatch says that no record can have the tags of If-Match.
func (x *Exchange) cureOfMatch() string {
	if x.Operation.single != nil {
		return "Leave If-Match out: no ETag is that of several records."
	}
	for tag := range strings.SplitSeq(x.header("If-Match"), ",") {
		if tag = strings.TrimSpace(tag); strings.HasPrefix(tag, `"`) {
			return ""
		}
	}
	return "Send the ETag as it was answered, with its quotation marks and without W/ before them. A proxy that compresses may have changed it."
}

// cureOfArray says where an array of records goes.
func (g *Gateway) cureOfArray(x *Exchange) string {
	if !bytes.HasPrefix(bytes.TrimSpace(x.sent), []byte("[")) {
		return ""
	}
	const several = `{"records": [...]}`
	switch bulk := g.routes.endpoints[x.Endpoint.Path+bulkPart]; {
	case x.Operation.single != nil:
		return "Send an object: " + several + "."
	case bulk != nil && bulk.list[x.Method] != nil:
		return "Send one record as an object. Several go to " + bulk.Path + " as " + several + "."
	default:
		return "Send an object, not an array."
	}
}

// isPlainName reports whether a text may be the name of a parameter, and may be repeated.
func isPlainName(s string) bool {
	return s != "" && len(s) <= 40 && strings.Trim(s, lettersAndDigits+"_-.[]<>") == ""
}

// appendHelp appends the link that says what to do about a violation. Cures are ASCII
// without control characters, so Quote escapes as HTTP does.
func (g *Gateway) appendHelp(dst []byte, x *Exchange, e *mapping.Error) []byte {
	cure := g.cure(x, e)
	if cure == "" {
		return append(dst, g.help[e.Reason]...)
	}
	return strconv.AppendQuoteToASCII(append(append(append(dst, '<'), g.explains(e.Reason)...), `>; rel="help"; title=`...), cure)
}
