package allowlist

import (
	"fmt"
	"slices"
	"strings"

	"frontdesk/cmd/frontdesk/desk"
	"frontdesk/cmd/frontdesk/terminal"
	"frontdesk/config"
	"frontdesk/config/strictyaml"
	"frontdesk/gateway"
)

// Request is a request to explain.
type Request struct {
	gateway.Hypothetical
	hint string // how its path was read
}

// Request reads a request as a person types it, or copies it from a log: a method, and a
// path below the base path or with it, or an absolute URL.
func (l *Lists) Request(text string) (Request, error) {
	words := strings.Fields(text)
	if n := len(words); n == 3 && strings.HasPrefix(words[2], "HTTP/") { // pasted from a log
		words = words[:2]
	}
	if len(words) != 2 || !strings.HasPrefix(words[1], "/") && !strings.Contains(words[1], "://") {
		return Request{}, desk.Misused("expected a method and a path that begins with /, such as 'DELETE /order/5?x=1'")
	}
	a := Request{Hypothetical: gateway.Hypothetical{Method: words[0], Target: words[1]}}
	switch base := l.config.Server.BasePath; {
	case a.Target[0] != '/' || base == "":
	case isBelow(a.Target, base): // "Invalid endpoint" in an answer names a path without the base path
		path, _, _ := strings.Cut(a.Target, "?")
		a.hint = fmt.Sprintf("%s was read as the base path; if an answer says \"Invalid endpoint: %s\", the request had it twice", base, terminal.Safe(path))
	default:
		a.Target = base + a.Target
	}
	return a, nil
}

// isBelow reports whether a path begins with the base path.
func isBelow(target, basePath string) bool {
	rest, ok := strings.CutPrefix(target, basePath)
	return ok && (rest == "" || rest[0] == '/' || rest[0] == '?')
}

// explained is the outcome of a request, and the reasons, line by line. It holds the names of query
// parameters, but their values only where the answer itself has them.
type explained struct{ strings.Builder }

func (r *explained) say(name, format string, args ...any) {
	fmt.Fprintf(r, "  %-10s %s\n", name, fmt.Sprintf(format, args...))
}

// Explain returns how a request of an api_key would be decided.
func (l *Lists) Explain(key *Key, a Request) string {
	if !desk.HasEnded(*key.Key, a.At) {
		a.Key = key.auth
	}
	e, r := l.gateway.Explain(a.Hypothetical), &explained{}
	verdict := "ALLOWED"
	if e.Stopped != "" {
		verdict = fmt.Sprintf("REFUSED, answered %d", e.Status)
	}
	fmt.Fprintf(r, "%s: %s %s is %s\n", key.Name, terminal.Safe(a.Method), terminal.Safe(e.Path), verdict)
	switch {
	case len(e.Lacks) > 0 && e.Stopped != "":
		r.say("decided by", "allowlist, of an array that the request names")
	case len(e.Fields) > 0 && e.Stopped != "":
		r.say("decided by", "allowlist, of a field that the request names")
	case e.Stopped != "":
		r.say("decided by", "%s", e.Stopped)
	}
	if e.Operation == nil {
		r.say("hint", "%s", l.hintOfPath(e, a.Method))
	} else {
		l.explainOperation(r, key, a, e)
	}
	r.say("key", "%s; its limits, addresses and certificates are not judged here", key.At())
	switch {
	case e.Status != 0:
		r.say("answer", "as sent, but for request_id, which is a placeholder:\n%s", e.Answer)
	case e.Unread:
		r.say("next", "the body is judged next (give one with --body), then the backend would be asked")
	default:
		r.say("next", "the backend would be asked; what it answers is not known here")
	}
	return r.String()
}

// explainOperation explains which entries of an allowlist decide about a request for an operation.
func (l *Lists) explainOperation(r *explained, key *Key, a Request, e gateway.Explanation) {
	r.say("operation", "%s %s", terminal.Safe(a.Method), e.Operation.Template)
	if len(e.Params) > 0 {
		r.say("query", "%s", strings.Join(e.Params, ", "))
	}
	switch {
	case e.Stopped == gateway.StageSession && a.NoToken:
		r.say("hint", "the request has no token: GET /authenticate gives one")
	case e.Stopped == gateway.StageSession:
		r.say("hint", "the api_key has expired, and its sessions with it")
	case a.hint != "":
		r.say("hint", "%s", a.hint)
	}
	grant, governed := e.Operation.Grant()
	if !governed {
		r.say("granted by", "the interface: it is open to every api_key")
		return
	}
	lacks := append([]string{grant.String()}, e.Lacks...)
	for i, rule := range key.Allow {
		switch {
		case rule.Matches(grant.Method, grant.Path):
			r.say("granted by", "%s  %s", key.AllowAt(i), rule)
			lacks = e.Lacks
		case (config.Rule{Method: "*", Path: rule.Path}).Matches(grant.Method, grant.Path):
			r.say("nearest", "%s  %s (the same endpoint, another method)", key.AllowAt(i), rule)
		}
	}
	for _, lacking := range lacks {
		r.say("to grant", `add to its allow:  - %q`, lacking)
	}
	for _, need := range l.gateway.ArraysWithout(key.auth, e.Operation) {
		r.say("without", "%s, which need %s", need.Field, need.Grant)
	}
	l.explainFields(r, key, a.Method, e)
}

// hintOfPath returns what is wrong with a path that no client could request.
func (l *Lists) hintOfPath(e gateway.Explanation, method string) string {
	if !e.Below {
		return "the path is not below server.base_path, " + l.config.Server.BasePath
	}
	if methods := l.gateway.Methods(e.Path); methods != nil {
		return fmt.Sprintf("this path takes %s%s", strings.Join(methods, ", "), strictyaml.Suggest(method, methods))
	}
	if _, err := config.ParseRule("GET " + e.Path); err != nil {
		return err.Error() + ": paths are compared as they are sent, nothing is decoded or cleaned"
	}
	var paths []string
	for _, grant := range l.grants {
		paths = append(paths, grant.Path)
	}
	slices.Sort(paths)
	return "there is no such endpoint" + strictyaml.Suggest(e.Path, slices.Compact(paths))
}
