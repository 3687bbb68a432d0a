package config

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unique"

	"frontdesk/config/strictyaml"
)

// Rule is an entry of an allowlist: a method, or * for all methods, and the path
// of an endpoint, or one that ends in /* for all endpoints below it. It may withhold
// fields: those of Without, or all but those of Only.
type Rule struct {
	Method, Path  string
	Without, Only Names
}

// Endpoint is a method and a path as the interface spells it, below the base
// path and without IDs: {"GET", "/order"}, {"GET", "/model/*"}.
type Endpoint struct {
	Method, Path string
	Fields       Names // fields of the resource, sorted, if an entry may withhold them; else ""
	Common       Names // those of Fields that every record has
}

var methods = []string{"GET", "POST", "PUT", "DELETE"}

const ruleForm = "a method and a path, such as GET /order or * /vehicle"

// ParseRule reads a rule from its text, as in GET /order, * /vehicle, GET /*, and
// GET /contact: {without: [note]}. Its error is [strictyaml.Expected].
func ParseRule(text string) (Rule, error) {
	grant, fields, some := strings.Cut(text, ": ")
	rule, err := parseGrant(grant)
	if err != nil || !some {
		return rule, err
	}
	return rule.parseFields(fields)
}

func parseGrant(text string) (Rule, error) {
	method, path, ok := strings.Cut(text, " ")
	if !ok || method == "" || path == "" || strings.Contains(path, " ") {
		return Rule{}, strictyaml.Expected(ruleForm)
	}
	if method != "*" && !slices.Contains(methods, method) {
		return Rule{}, strictyaml.Expected("method GET, POST, PUT, DELETE or *" + strictyaml.Suggest(method, methods))
	}
	if path == "*" {
		return Rule{}, strictyaml.Expected("a path that begins with /, did you mean " + method + " /*?")
	}
	if fault := pathFault(path); fault != "" {
		return Rule{}, strictyaml.Expected("a path " + fault)
	}
	return Rule{Method: unique.Make(method).Value(), Path: unique.Make(path).Value()}, nil // thousands of keys share a few texts
}

// UnmarshalText is ParseRule.
func (r *Rule) UnmarshalText(text []byte) (err error) {
	*r, err = ParseRule(string(text))
	return err
}

// pathFault completes the message "expected a path …" for a path that is not canonical; "" if it is.
func pathFault(path string) string {
	if !strings.HasPrefix(path, "/") {
		return "that begins with /"
	}
	if strings.ContainsFunc(path, func(r rune) bool { return r <= ' ' || r >= 0x7f || strings.ContainsRune(`%;?#\`, r) }) {
		return `of plain characters, without % ; ? # and \`
	}
	if path == "/" {
		return ""
	}
	for rest, more := path[1:], true; more; {
		var segment string
		segment, rest, more = strings.Cut(rest, "/")
		switch {
		case segment == "" && !more:
			return "without / at the end"
		case segment == "" || segment == "." || segment == "..":
			return "without //, /./ and /../"
		case strings.Contains(segment, "*") && (segment != "*" || more):
			return "with * only as its last part, after /"
		}
	}
	return ""
}

// String returns the text that ParseRule reads.
func (r Rule) String() string { return r.grant() + r.fields() }

// YAML formats the rule as an item of a file.
func (r Rule) YAML() string { return strconv.Quote(r.grant()) + r.fields() }

func (r Rule) grant() string { return r.Method + " " + r.Path }

// Matches reports whether the rule covers an endpoint, given as the interface
// spells it: a request for /order/7 is for /order. Comparison is exact and
// case-sensitive; the rule /model/* covers /model/order and /model/* itself but
// not /model, and the rule /* covers every path.
func (r Rule) Matches(method, path string) bool {
	return (r.Method == "*" || r.Method == method) && r.matchesPath(path)
}

func (r Rule) matchesPath(path string) bool {
	if r.Path == "/*" {
		return strings.HasPrefix(path, "/")
	}
	if above, all := strings.CutSuffix(r.Path, "*"); all {
		return len(path) > len(above) && strings.HasPrefix(path, above)
	}
	return path != "" && path == r.Path
}

// unmatched returns why a rule covers none of the endpoints; "" if it covers one.
func (r Rule) unmatched(endpoints []Endpoint, basePath string) string {
	if endpoints == nil { // the model or the mapping sheet cannot be read, which is reported elsewhere
		return ""
	}
	var offered []string
	for _, e := range endpoints {
		if r.Matches(e.Method, e.Path) {
			return ""
		}
		if r.matchesPath(e.Path) && !slices.Contains(offered, e.Method) {
			offered = append(offered, e.Method)
		}
	}
	if len(offered) > 0 {
		return fmt.Sprintf("no such method there, expected %s", strings.Join(offered, ", "))
	}
	return "no such endpoint" + r.suggest(endpoints, basePath)
}

// suggest finds the endpoint that was probably meant: the same path without the base path, an
// endpoint whose * covers the path, or the nearest path. It suggests only endpoints of the
// same resource, if it has any: people copy suggestions, and must not grant another resource
// by that.
func (r Rule) suggest(endpoints []Endpoint, basePath string) string {
	if below, ok := strings.CutPrefix(r.Path, basePath); ok {
		meant := Rule{Method: r.Method, Path: below}
		if slices.ContainsFunc(endpoints, func(e Endpoint) bool { return meant.Matches(e.Method, e.Path) }) {
			return ", did you mean " + meant.String() + "? (paths are below server.base_path)"
		}
	}
	path := withoutIDs(r.Path)
	var paths, ofResource []string
	for _, e := range endpoints {
		if r.Method != "*" && r.Method != e.Method {
			continue
		}
		if strings.HasSuffix(e.Path, "/*") && (Rule{Method: "*", Path: e.Path}).matchesPath(r.Path) {
			return ", did you mean " + r.Method + " " + e.Path + "?"
		}
		found := []string{e.Path}
		if cut := strings.LastIndexByte(e.Path, '/'); cut > 0 && strings.HasSuffix(r.Path, "/*") {
			found = append(found, e.Path[:cut]+"/*")
		}
		paths = append(paths, found...)
		if resourceOf(e.Path) == resourceOf(path) {
			ofResource = append(ofResource, found...)
		}
	}
	if len(ofResource) > 0 {
		paths = ofResource
	}
	if meant := strictyaml.Closest(path, paths, mistyped); meant != "" && path != "/" {
		return ", did you mean " + r.Method + " " + meant + "?"
	}
	return ""
}

// mistyped is how many letters of a path may be wrong for it to count as a typing
// mistake.
const mistyped = 2

// resourceOf returns the first part of a path.
func resourceOf(path string) string {
	resource, _, _ := strings.Cut(strings.TrimPrefix(path, "/"), "/")
	return resource
}

// withoutIDs removes the parts of a path that stand for a record: /order/{id},
// /order/:id, /order/7.
func withoutIDs(path string) string {
	parts := slices.DeleteFunc(strings.Split(path, "/")[1:], func(part string) bool {
		return strings.ContainsAny(part, "{}<>:") || strings.Trim(part, "0123456789") == ""
	})
	return "/" + strings.Join(parts, "/")
}
