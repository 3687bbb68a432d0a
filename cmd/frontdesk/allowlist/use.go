package allowlist

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"time"

	"frontdesk/cmd/frontdesk/accesslog"
	"frontdesk/cmd/frontdesk/terminal"
	"frontdesk/config"
	"frontdesk/gateway"
	"frontdesk/mapping"
)

// use is what many requests of an access log have in common, as far as allowlists are
// concerned. So a log takes only as much memory as there are combinations.
type use struct {
	Key      string
	Method   string // "" if there was no operation
	Endpoint string // template of the operation; "" if there was none
	Then     outcome
	Direct   bool // answered at once, not by callback

	Needs, Lacks string // as in accesslog.Line, joined by commas
	Fields       string // likewise
}

// outcome is the outcome of a request before its query was checked.
type outcome int

const (
	wasAllowed   outcome = iota
	wasRefused           // by the allowlist
	wasElsewhere         // a path or a method that is not offered to any client
	wasNobody            // without a valid session: there is no key to judge
)

// useOf returns the use of a line.
func useOf(l *accesslog.Line) use {
	switch {
	case l.Endpoint == "":
		return use{Then: wasElsewhere}
	case l.Key == "", l.Reason == string(mapping.NotLoggedIn), l.Reason == string(mapping.TokenInvalid):
		return use{Then: wasNobody}
	}
	u := use{Key: l.Key, Method: l.Method, Endpoint: l.Endpoint, Direct: l.Status >= 200 && l.Status < 300 && l.Status != 202}
	u.Needs, u.Lacks = strings.Join(l.Needs, ","), strings.Join(l.Lacks, ",")
	u.Fields = strings.Join(l.Fields, ",")
	if l.Lacks != nil || l.Fields != nil || l.Reason == string(mapping.EndpointUnknown) || l.Reason == string(mapping.MethodUnsupported) {
		u.Then = wasRefused
	}
	return u
}

// listed splits a joined list.
func listed(list string) []string {
	return strings.FieldsFunc(list, func(r rune) bool { return r == ',' })
}

// counted is how many requests have something in common, and when the last one was.
type counted struct {
	Requests int64
	Last     time.Time
}

func (t *counted) add(n int64, at time.Time) {
	t.Requests += n
	if at.After(t.Last) {
		t.Last = at
	}
}

// String describes the count.
func (t counted) String() string { return requests(t.Requests) + ", last " + terminal.Minute(t.Last) }

func requests(n int64) string { return terminal.Several(n, "request") }

// sum adds to the count of a key of m.
func sum[K comparable](m map[K]*counted, k K, n counted) {
	if m[k] == nil {
		m[k] = new(counted)
	}
	m[k].add(n.Requests, n.Last)
}

// Used are the requests of access logs, counted by what they have in common.
type Used struct {
	Read accesslog.Summary
	uses map[use]*counted
}

// ReadUsed reads the requests of access logs; if key is not "", only those of that
// api_key.
func ReadUsed(ctx context.Context, logs accesslog.Logs, since time.Time, key string) (*Used, error) {
	used := Used{uses: map[use]*counted{}}
	var err error
	used.Read, err = logs.Requests(ctx, since, func(line *accesslog.Line) {
		if key == "" || line.Key == key {
			sum(used.uses, useOf(line), counted{1, line.At()})
		}
	})
	return &used, err
}

// shortPeriod is how long a period a log should cover before something is called
// unused: it must include what runs once a month.
const shortPeriod = 31 * 24 * time.Hour

// Notice warns that the period is too short for conclusions; "" if it is long enough.
func (u *Used) Notice() string {
	covered := u.Read.Newest.Sub(u.Read.Oldest)
	if covered >= shortPeriod {
		return ""
	}
	return "the logs cover " + terminal.Age(covered) + " only: what is done once a month or once a year does not show in them"
}

// grantUses are the grants that the requests of an api_key used.
type grantUses struct {
	used    map[gateway.Grant]*counted
	refused map[gateway.Grant]*counted
	fields  map[string]*counted // refused fields: contact.note of GET /contact
}

// grantUsesOf counts the requests of each api_key by the grants that they used. It leaves out
// requests that need no grant.
func (l *Lists) grantUsesOf(all *Used) map[string]*grantUses {
	byKey := map[string]*grantUses{}
	for i := range l.keys {
		byKey[l.keys[i].Name] = &grantUses{used: map[gateway.Grant]*counted{}, refused: map[gateway.Grant]*counted{}, fields: map[string]*counted{}}
	}
	for u, n := range all.uses {
		g := byKey[u.Key]
		if g == nil || u.Endpoint == "" {
			continue
		}
		op := l.gateway.Logged(u.Method, u.Endpoint)
		if op == nil { // an earlier configuration had it
			continue
		}
		switch grant, governed := op.Grant(); {
		case !governed:
		case u.Then == wasRefused && u.Lacks+u.Fields == "":
			sum(g.refused, grant, *n)
		default:
			sum(g.used, grant, *n)
			l.sumArrays(g, u, *n)
			for _, field := range listed(u.Fields) {
				sum(g.fields, field+" of "+grant.String(), *n)
			}
		}
	}
	return byKey
}

// sumArrays counts the grants that the arrays of requests needed.
func (l *Lists) sumArrays(g *grantUses, u use, n counted) {
	lacks := listed(u.Lacks)
	for _, text := range listed(u.Needs) {
		method, path, _ := strings.Cut(text, " ")
		switch need := (gateway.Grant{Method: method, Path: path}); {
		case !slices.Contains(l.grants, need):
		case u.Then == wasRefused && slices.Contains(lacks, text):
			sum(g.refused, need, n)
		default:
			sum(g.used, need, n)
		}
	}
}

// covered returns the grants that an entry of an allowlist covers: those that were used, and the others.
func (l *Lists) covered(rule config.Rule, used map[gateway.Grant]*counted) (yes, no []gateway.Grant) {
	for _, grant := range l.grants {
		switch {
		case !rule.Matches(grant.Method, grant.Path):
		case used[grant] != nil:
			yes = append(yes, grant)
		default:
			no = append(no, grant)
		}
	}
	return yes, no
}

// methodOrder is the order of the interface.
var methodOrder = [...]string{"GET", "POST", "PUT", "DELETE"}

// byEndpoint compares grants by path, then by method in the usual order.
func byEndpoint(a, b gateway.Grant) int {
	return cmp.Or(cmp.Compare(a.Path, b.Path), slices.Index(methodOrder[:], a.Method)-slices.Index(methodOrder[:], b.Method))
}
