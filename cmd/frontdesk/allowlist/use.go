package allowlist

import (
	"context"
	"strings"
	"time"

	"frontdesk/cmd/frontdesk/accesslog"
	"frontdesk/cmd/frontdesk/terminal"
	"frontdesk/mapping"
)

// use is what many requests of an access log have in common, as far as allowlists
// go: so many lines take as much memory as there are combinations.
type use struct {
	Key      string
	Method   string // "" if there was no operation
	Endpoint string // template of the operation; "" if there was none
	Then     outcome
	Direct   bool // it was answered at once, not by callback

	Needs, Lacks string // for arrays, with a comma between
}

// outcome is the outcome of a request before its query was checked.
type outcome int

const (
	wasAllowed   outcome = iota
	wasRefused           // by the allowlist
	wasElsewhere         // a path or a method that no client is offered
	wasNobody            // without a living session: there is no key to judge
)

// useOf reads a line.
func useOf(l *accesslog.Line) use {
	switch {
	case l.Endpoint == "":
		return use{Key: l.Key, Then: wasElsewhere}
	case l.Key == "", l.Reason == string(mapping.NotLoggedIn), l.Reason == string(mapping.TokenInvalid):
		return use{Then: wasNobody}
	}
	u := use{Key: l.Key, Method: l.Method, Endpoint: l.Endpoint, Direct: l.Status >= 200 && l.Status < 300 && l.Status != 202}
	u.Needs, u.Lacks = strings.Join(l.Needs, ","), strings.Join(l.Lacks, ",")
	if l.Lacks != nil || l.Reason == string(mapping.EndpointUnknown) || l.Reason == string(mapping.MethodUnsupported) {
		u.Then = wasRefused
	}
	return u
}

// listed takes a list of grants apart.
func listed(grants string) []string {
	return strings.FieldsFunc(grants, func(r rune) bool { return r == ',' })
}

// counted is how many requests there are that have something in common.
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

// String is how many, and when last.
func (t counted) String() string { return requests(t.Requests) + ", last " + terminal.Minute(t.Last) }

func requests(n int64) string { return terminal.Several(n, "request") }

// sum adds to the count of what has something in common.
func sum[K comparable](m map[K]*counted, k K, n counted) {
	if m[k] == nil {
		m[k] = new(counted)
	}
	m[k].add(n.Requests, n.Last)
}

// Used are the requests of access logs by what they have in common.
type Used struct {
	Read accesslog.Summary
	uses map[use]*counted
}

// ReadUsed reads the requests of access logs; if key is not empty, only those of that
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

// shortPeriod is how much of a log should be looked at before something is called
// unused: what runs once a month must be in it.
const shortPeriod = 31 * 24 * time.Hour

// Notice warns of a period that is too short to conclude from; "" if it is long enough.
func (u *Used) Notice() string {
	covered := u.Read.Newest.Sub(u.Read.Oldest)
	if covered >= shortPeriod {
		return ""
	}
	return "the logs cover " + terminal.Age(covered) + " only: what is done once a month or once a year does not show in them"
}
