package allowlist

import (
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"

	"frontdesk/cmd/frontdesk/desk"
	"frontdesk/cmd/frontdesk/terminal"
	"frontdesk/config"
	"frontdesk/config/strictyaml"
	"frontdesk/gateway"
)

// Asked is a request that is asked about.
type Asked struct {
	gateway.Asked
	typed string // its target, as somebody typed it
}

// Request reads a request as somebody types it, or copies it from a log: a method and a
// path, below the base path or with it, or an absolute URL.
func (l *Lists) Request(text string) (Asked, error) {
	words := strings.Fields(text)
	if n := len(words); n == 3 && strings.HasPrefix(words[2], "HTTP/") { // pasted from a log
		words = words[:2]
	}
	if len(words) != 2 || !strings.HasPrefix(words[1], "/") && !strings.Contains(words[1], "://") {
		return Asked{}, desk.Misused("expected a method and a path that begins with /, such as 'DELETE /order/5?x=1'")
	}
	a := Asked{gateway.Asked{Method: words[0], Target: words[1]}, words[1]}
	if base := l.config.Server.BasePath; a.Target[0] == '/' && !isBelow(a.Target, base) {
		a.Target = base + a.Target
	}
	return a, nil
}

// hintOfBase tells how a path was read that begins with the base path. What an answer calls
// an invalid endpoint is below it, so that such a path was asked for with it twice.
func (l *Lists) hintOfBase(typed string) string {
	base := l.config.Server.BasePath
	target, _, _ := strings.Cut(typed, "?")
	if base == "" || target[0] != '/' || !isBelow(target, base) {
		return ""
	}
	return fmt.Sprintf("%s was read as the base path; if an answer says \"Invalid endpoint: %s\", the request had it twice", base, terminal.Safe(target))
}

// isBelow tells whether a path was written with the base path in front.
func isBelow(target, basePath string) bool {
	rest, ok := strings.CutPrefix(target, basePath)
	return ok && (rest == "" || rest[0] == '/' || rest[0] == '?')
}

// Explained is the outcome of a request, and the reason.
type Explained struct {
	Key       string          `json:"key"`
	Method    string          `json:"method"`
	Path      string          `json:"path"`                // as it was judged, without its query
	Query     []string        `json:"query,omitempty"`     // names of the parameters that the operation takes; never values
	Operation string          `json:"operation,omitempty"` // its template
	Grant     string          `json:"grant,omitempty"`     // the rule that grants just this operation
	Verdict   string          `json:"verdict"`             // allowed or refused
	DecidedBy string          `json:"decided_by"`
	GrantedBy []placedRule    `json:"granted_by,omitempty"`
	Nearest   []placedRule    `json:"nearest,omitempty"`
	Lacks     []string        `json:"lacks,omitempty"`   // the rules that would grant the arrays that the request names
	Without   []withheldArray `json:"without,omitempty"` // arrays of the operation that the key cannot use
	Hint      string          `json:"hint,omitempty"`
	Unread    bool            `json:"body_not_judged,omitempty"`
	Facts     []string        `json:"key_facts"`
	Status    int             `json:"status,omitempty"`
	Answer    json.RawMessage `json:"answer,omitempty"` // request_id is a placeholder
}

// withheldArray is an array field that is not in the model for a key.
type withheldArray struct {
	Field string `json:"field"`
	Grant string `json:"grant"` // the rule that would put it there
}

// placedRule is an entry of an allowlist and its position.
type placedRule struct {
	At   string `json:"at"`
	Rule string `json:"rule"`
	Why  string `json:"why,omitempty"`
}

// Explain says how a request of an api_key would be decided.
func (l *Lists) Explain(key *Key, a Asked) Explained {
	if !desk.HasEnded(*key.Key, a.At) {
		a.Key = key.auth
	}
	r := l.explain(key, a.Asked)
	if r.Hint == "" {
		r.Hint = l.hintOfBase(a.typed)
	}
	return r
}

func (l *Lists) explain(key *Key, a gateway.Asked) Explained {
	e := l.gateway.Explain(a)
	r := Explained{
		Key: key.Name, Method: a.Method, Path: e.Path, Query: e.Params, Verdict: "allowed", Unread: e.Unread,
		Lacks: e.Lacks, Facts: key.facts(a.At), Status: e.Status, Answer: e.Answer,
	}
	if e.Stopped != "" {
		r.Verdict = "refused"
	}
	r.DecidedBy = decidedBy(e)
	if e.Operation == nil {
		r.Hint = l.hintOfPath(e, a.Method)
		return r
	}
	r.Operation = e.Operation.Template
	if e.Stopped == gateway.StageSession {
		r.Hint = hintOfSession(key, a)
	}
	grant, governed := e.Operation.Grant()
	if !governed {
		return r
	}
	r.Grant = grant.String()
	for i, rule := range key.Allow {
		if rule.Matches(grant.Method, grant.Path) {
			r.GrantedBy = append(r.GrantedBy, placedRule{At: l.ruleAt(key, i), Rule: rule.String()})
		}
	}
	if len(r.GrantedBy) == 0 {
		r.Nearest = l.nearestRules(key, grant)
		return r
	}
	for _, need := range l.gateway.ArraysWithout(key.auth, e.Operation) {
		r.Without = append(r.Without, withheldArray{Field: need.Field, Grant: need.Grant.String()})
	}
	return r
}

// decidedBy says in words which setting decided.
func decidedBy(e gateway.Explanation) string {
	switch {
	case e.Stopped == gateway.StageEndpoint:
		return "the endpoint table: it holds for every api_key"
	case e.Stopped == gateway.StageSession:
		return "the session"
	case e.Stopped == gateway.StageAllowlist:
		return "the allowlist"
	case len(e.Lacks) > 0 && e.Stopped != "":
		return "the allowlist, of an array that the request names"
	case e.Stopped == gateway.StageQuery:
		return "the query parameters"
	case e.Stopped != "":
		return "the body"
	}
	if _, governed := e.Operation.Grant(); !governed {
		return "the interface: it is open to every api_key"
	}
	return "the allowlist"
}

func hintOfSession(key *Key, a gateway.Asked) string {
	if a.NoToken {
		return "the request has no token: GET /authenticate gives one"
	}
	return "the api_key " + key.Name + " has expired, and its sessions with it"
}

// hintOfPath says what is wrong with a path that no client could request.
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
	hint := strictyaml.Suggest(e.Path, slices.Compact(paths))
	if hint == "" {
		if cut := strings.LastIndexByte(e.Path, '/'); cut > 0 {
			hint = strictyaml.Suggest(e.Path[:cut], paths)
		}
	}
	return "there is no such endpoint" + hint
}

// nearestRules finds what of the allowlist comes closest to a grant: the same
// endpoint with other methods, or one that is spelled almost alike.
func (l *Lists) nearestRules(key *Key, grant gateway.Grant) []placedRule {
	var near []placedRule
	var paths []string
	for i, rule := range key.Allow {
		if (config.Rule{Method: "*", Path: rule.Path}).Matches(grant.Method, grant.Path) {
			near = append(near, placedRule{At: l.ruleAt(key, i), Rule: rule.String(), Why: "the same endpoint, another method"})
		}
		paths = append(paths, rule.Path)
	}
	if len(near) > 0 {
		return near
	}
	meant := strictyaml.Nearest(grant.Path, paths)
	for i, rule := range key.Allow {
		if rule.Path == meant {
			near = append(near, placedRule{At: l.ruleAt(key, i), Rule: rule.String(), Why: "an endpoint of a similar name"})
		}
	}
	return near
}

// Write writes it for people.
func (r Explained) Write(out io.Writer) {
	verdict := strings.ToUpper(r.Verdict)
	if r.Status != 0 {
		verdict += fmt.Sprintf(", answered %d", r.Status)
	}
	fmt.Fprintf(out, "%s: %s %s is %s\n", r.Key, terminal.Safe(r.Method), terminal.Safe(r.Path), verdict)
	row := func(name, format string, args ...any) {
		fmt.Fprintf(out, "  %-10s "+format+"\n", append([]any{name}, args...)...)
	}
	row("decided by", "%s", r.DecidedBy)
	if r.Operation != "" {
		row("operation", "%s %s", terminal.Safe(r.Method), r.Operation)
	}
	if len(r.Query) > 0 {
		row("query", "%s", strings.Join(r.Query, ", "))
	}
	for _, rule := range r.GrantedBy {
		row("granted by", "%s  %s", rule.At, rule.Rule)
	}
	for _, rule := range r.Nearest {
		row("nearest", "%s  %s (%s)", rule.At, rule.Rule, rule.Why)
	}
	if r.Grant != "" && len(r.GrantedBy) == 0 {
		row("to grant", `add to its allow:  - %q`, r.Grant)
	}
	for _, lacking := range r.Lacks {
		row("to grant", `add to its allow:  - %q`, lacking)
	}
	for _, array := range r.Without {
		row("without", "%s, which need %s", array.Field, array.Grant)
	}
	if r.Hint != "" {
		row("hint", "%s", r.Hint)
	}
	for _, fact := range r.Facts {
		row("key", "%s", fact)
	}
	if r.Status == 0 {
		what := "the backend would be asked; what it answers is not known here"
		if r.Unread {
			what = "the body is judged next (give one with --body), then the backend would be asked"
		}
		row("next", "%s", what)
		return
	}
	row("answer", "as sent, but for request_id, which is a placeholder:\n%s", r.Answer)
}
