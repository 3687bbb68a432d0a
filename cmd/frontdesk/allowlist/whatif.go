package allowlist

import (
	"cmp"
	"fmt"
	"io"
	"maps"
	"slices"
	"time"

	"frontdesk/cmd/frontdesk/accesslog"
	"frontdesk/cmd/frontdesk/desk"
	"frontdesk/cmd/frontdesk/terminal"
)

// WhatIf is the effect of a new configuration on requests of the past.
type WhatIf struct {
	Refused int64 // newly refused requests
	allowed int64 // newly allowed requests
	same    int64
	other   int64 // requests without a session, which have no key to judge, and for operations that no client was offered
	changed map[verdict]*counted
	read    accesslog.Summary
}

// verdict is the decision about the requests of a key for an operation.
type verdict struct{ now, key, method, endpoint, why string }

// judgeUse judges requests at a time, with the decision that the serving gateway uses. It returns why they
// are refused; "" if they are allowed.
func (l *Lists) judgeUse(u use, at time.Time) (refused string) {
	key := l.byName[u.Key]
	switch {
	case key == nil:
		return "there is no such api_key: its sessions end"
	case desk.HasEnded(*key.Key, at):
		return "the api_key has expired: its sessions end"
	}
	d := l.gateway.DecideLogged(key.auth, u.Method, u.Endpoint, listed(u.Needs))
	denied := "not in its allowlist"
	if d.Lacks != "" {
		denied = d.Lacks + " is not in its allowlist, and its arrays need it"
	}
	switch {
	case d.Operation == nil:
		return "there is no such operation"
	case d.Reason != "":
		return denied
	case key.withholds(u) != "":
		return key.withholds(u) + " is taken away by its allowlist"
	case u.Direct && d.Operation.ByCallback():
		return "answers by callback, and requires webhook_url"
	}
	return ""
}

// WhatIf judges requests again, as of a moment.
func (l *Lists) WhatIf(used *Used, at time.Time) *WhatIf {
	w := &WhatIf{read: used.Read, changed: map[verdict]*counted{}}
	for u, n := range used.uses {
		if u.Then == wasNobody || u.Then == wasElsewhere {
			w.other += n.Requests
			continue
		}
		switch why := l.judgeUse(u, at); {
		case u.Then == wasAllowed && why != "":
			w.Refused += n.Requests
			sum(w.changed, verdict{"refused", u.Key, u.Method, u.Endpoint, why}, *n)
		case u.Then == wasRefused && why == "":
			w.allowed += n.Requests
			sum(w.changed, verdict{"allowed", u.Key, u.Method, u.Endpoint, "granted now"}, *n)
		default:
			w.same += n.Requests
		}
	}
	return w
}

// Write writes it for people, about a configuration.
func (w *WhatIf) Write(out io.Writer, file string) error {
	fmt.Fprintf(out, "%s judged against %s\nnewly refused: %s; newly allowed: %s; unchanged: %s; not judged, without a session or for what nobody is offered: %s\n",
		file, w.read, requests(w.Refused), requests(w.allowed), requests(w.same), requests(w.other))
	if len(w.changed) == 0 {
		return nil
	}
	fmt.Fprintln(out)
	table := terminal.NewTable(out, "NEWLY", "KEY", "METHOD", "ENDPOINT", "REQUESTS", "LAST SEEN", "WHY")
	for _, v := range slices.SortedFunc(maps.Keys(w.changed), func(a, b verdict) int {
		return cmp.Or(cmp.Compare(b.now, a.now), cmp.Compare(a.key, b.key), cmp.Compare(a.endpoint, b.endpoint), cmp.Compare(a.method, b.method), cmp.Compare(a.why, b.why))
	}) {
		n := w.changed[v]
		table.Row(v.now, v.key, v.method, v.endpoint, terminal.Count(n.Requests), terminal.Minute(n.Last), v.why)
	}
	return table.Flush()
}
