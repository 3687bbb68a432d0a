package main

import (
	"slices"
	"strings"
	"time"

	"frontdesk/cmd/frontdesk/accesslog"
	"frontdesk/cmd/frontdesk/desk"
	"frontdesk/cmd/frontdesk/terminal"
	"frontdesk/mapping"
)

// use is what many requests of an access log have in common, as far as allowlists
// go: so many lines take as much memory as there are combinations.
type use struct {
	Key      string
	Method   string // "" where there was no operation
	Endpoint string // template of the operation; "" where there was none
	Then     outcome
	Direct   bool // it was answered at once, not by callback

	Needs, Lacks string // for arrays, with a comma between
	Untold       bool   // the log does not tell whether it had arrays, and it may have
}

// outcome is what became of a request before its query was looked at.
type outcome int

const (
	wasAllowed   outcome = iota
	wasRefused           // by the allowlist
	wasTrial             // served, although an allowlist on trial would have refused it
	wasElsewhere         // at a path, or with a method, that nobody is offered
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
	u.Untold = l.Needs == nil && l.Status/100 == 2 && (l.Method == "POST" || slices.Contains(l.Query, "fields"))
	switch {
	case l.Shadow != "":
		u.Then = wasTrial
	case l.Lacks != nil:
		u.Then = wasRefused
	case l.Reason == string(mapping.EndpointUnknown) || l.Reason == string(mapping.MethodUnsupported):
		u.Then = wasRefused
	}
	return u
}

// listed takes a list of grants apart.
func listed(grants string) []string {
	return strings.FieldsFunc(grants, func(r rune) bool { return r == ',' })
}

// logTally counts requests that have a use in common.
type logTally struct {
	Requests int64     `json:"requests"`
	Last     time.Time `json:"last"`
}

func (t *logTally) add(n int64, at time.Time) {
	t.Requests += n
	if at.After(t.Last) {
		t.Last = at
	}
}

// requests is how many.
func (t logTally) requests() string {
	return terminal.Several(t.Requests, "request")
}

// String is how many, and when last.
func (t logTally) String() string { return t.requests() + ", last " + terminal.Minute(t.Last) }

// uses are the requests of access logs, by what they have in common.
type uses map[use]*logTally

// readUses sorts the requests of access logs into those within the time asked for
// and those before it; of one api_key only, where key names one.
func readUses(p desk.Program, f logFlags, key string) (during, before uses, s accesslog.Summary, err error) {
	during, before = uses{}, uses{}
	s, err = logsOf(p, f.Logs).Requests(p.Ctx, f.Since.From(time.Now()), func(line *accesslog.Line, older bool) {
		switch {
		case key != "" && line.Key != key:
		case older:
			before.add(line)
		default:
			during.add(line)
		}
	})
	return during, before, s, err
}

func (all uses) add(l *accesslog.Line) {
	u := useOf(l)
	t := all[u]
	if t == nil {
		t = new(logTally)
		all[u] = t
	}
	t.add(1, l.At())
}
