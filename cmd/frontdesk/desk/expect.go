package desk

import (
	"fmt"
	"strings"

	"frontdesk/auth"
	"frontdesk/config"
	"frontdesk/config/strictyaml"
	"frontdesk/gateway"
)

// JudgeExpectations compares the allowlists of a configuration with what it expects of them, by
// the decision that serving takes, but without shadow mode, which only delays that. The gateway
// serves the configuration, or only describes it.
func JudgeExpectations(c *config.Config, g *gateway.Gateway) (problems strictyaml.Problems) {
	if len(c.Expect) == 0 {
		return nil
	}
	index := make(map[string]int, len(c.APIKeys))
	for i := len(c.APIKeys) - 1; i >= 0; i-- { // of two of a name, which is a problem that was told, the first
		index[c.APIKeys[i].Name] = i
	}
	grants, laid := g.Grants(), map[int]*auth.Key{}
	for i := range c.Expect {
		e := &c.Expect[i]
		at := index[e.Key] // which is there, also in a draft
		key := laid[at]
		if key == nil {
			key = &NewKeys(c.APIKeys[at:at+1], grants)[0]
			laid[at] = key
		}
		decision := decide(g, key, e)
		if allowed := decision.Reason == ""; allowed != (e.Verdict == config.VerdictAllowed) {
			problem := unmetBy(e, &c.APIKeys[at], decision)
			problem.Message = c.Hide(problem.Message)
			problems = append(problems, problem)
		}
	}
	return problems
}

func decide(g *gateway.Gateway, key *auth.Key, e *config.Expectation) gateway.Decision {
	method, target, _ := strings.Cut(e.Request, " ")
	path, query, _ := strings.Cut(target, "?")
	return g.Decide(key, method, path, []byte(query))
}

// hasEndpoint tells whether a gateway has what an expectation is about, whoever asks.
func hasEndpoint(g *gateway.Gateway, e *config.Expectation) bool {
	return decide(g, new(auth.Key), e).Operation != nil
}

// unmetBy is the problem of an expectation that is not met: what the configuration does instead,
// and at which line.
func unmetBy(e *config.Expectation, key *config.Key, d gateway.Decision) strictyaml.Problem {
	method, _, _ := strings.Cut(e.Request, " ")
	said := fmt.Sprintf("expected %s with %s to be %s, and it is ", strictyaml.Quote(e.Request), e.Key, e.Verdict)
	switch {
	case e.Verdict == config.VerdictRefused:
		return e.Unmet("%sallowed%s", said, grantedBy(key, d))
	case d.Operation == nil:
		return e.Unmet("%srefused with every api_key: there is no such endpoint, or no %s of it", said, method)
	case d.Lacks != "":
		return e.Unmet("%srefused: no entry of the allowlist of %s covers %s, which an array in its fields needs", said, key.At(), d.Lacks)
	default:
		return e.Unmet("%srefused: no entry of the allowlist of %s covers %s %s", said, key.At(), d.Operation.Method, d.Operation.Endpoint.Path)
	}
}

// grantedBy names the first entry that allows an operation.
func grantedBy(key *config.Key, d gateway.Decision) string {
	grant, governed := d.Operation.Grant()
	if !governed {
		return ": it is open to every api_key"
	}
	for i, rule := range key.Allow {
		if rule.Matches(grant.Method, grant.Path) {
			return fmt.Sprintf(" by %s at %s", strictyaml.Quote(rule.String()), key.AllowAt(i))
		}
	}
	return ""
}
