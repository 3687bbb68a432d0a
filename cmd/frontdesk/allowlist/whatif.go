package allowlist

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"slices"
	"time"

	"frontdesk/cmd/frontdesk/accesslog"
	"frontdesk/cmd/frontdesk/desk"
	"frontdesk/cmd/frontdesk/terminal"
)

// WhatIf is the effect of a new configuration on requests of the past.
type WhatIf struct {
	Config    string
	Refused   []verdict
	Allowed   []verdict
	Same      int64 // requests
	NotJudged int64 // requests without a session, which have no key to judge, and for operations that no client was offered
	Read      accesslog.Summary
}

// verdict is the decision about the requests of a key for an operation.
type verdict struct {
	Key      string
	Method   string
	Endpoint string
	Why      string
	counted
}

// judgeUse judges requests by a configuration at a time, by the decision that serving takes. It
// says why they are refused; "" where they are allowed.
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
	case u.Direct && d.Operation.ByCallback():
		return "answers by callback, and requires webhook_url"
	}
	return ""
}

// WhatIf judges requests again, as of then.
func (l *Lists) WhatIf(used *Used, at time.Time) *WhatIf {
	w := &WhatIf{Read: used.Read}
	refused, allowed := map[verdict]*counted{}, map[verdict]*counted{}
	for u, n := range used.uses {
		v := verdict{Key: u.Key, Method: u.Method, Endpoint: u.Endpoint}
		if u.Then == wasAllowed || u.Then == wasRefused {
			v.Why = l.judgeUse(u, at)
		}
		switch {
		case u.Then == wasNobody || u.Then == wasElsewhere:
			w.NotJudged += n.Requests
		case u.Then == wasAllowed && v.Why != "":
			sum(refused, v, *n)
		case u.Then == wasRefused && v.Why == "":
			v.Why = "granted now"
			sum(allowed, v, *n)
		default:
			w.Same += n.Requests
		}
	}
	w.Refused, w.Allowed = sorted(refused), sorted(allowed)
	return w
}

// sorted are verdicts with their counts, in the order that people look for them in.
func sorted(merged map[verdict]*counted) []verdict {
	all := []verdict{}
	for v, n := range merged {
		v.counted = *n
		all = append(all, v)
	}
	slices.SortFunc(all, func(a, b verdict) int {
		return cmp.Or(cmp.Compare(a.Key, b.Key), cmp.Compare(a.Endpoint, b.Endpoint), cmp.Compare(a.Method, b.Method), cmp.Compare(a.Why, b.Why))
	})
	return all
}

// NewlyRefused says how many requests would be.
func (w *WhatIf) NewlyRefused() int64 { return sumOf(w.Refused) }

func sumOf(list []verdict) (n int64) {
	for _, v := range list {
		n += v.Requests
	}
	return n
}

// Write writes it for people.
func (w *WhatIf) Write(out io.Writer) error {
	fmt.Fprintf(out, "%s judged against %s\n", w.Config, w.Read)
	err := errors.Join(writeVerdicts(out, "newly refused", w.Refused), writeVerdicts(out, "newly allowed", w.Allowed))
	fmt.Fprintf(out, "\nunchanged: %s; not judged: %s, without a session or for what nobody is offered\n", requests(w.Same), requests(w.NotJudged))
	return err
}

func writeVerdicts(out io.Writer, title string, list []verdict) error {
	fmt.Fprintf(out, "\n%s: %s\n", title, requests(sumOf(list)))
	if len(list) == 0 {
		return nil
	}
	table := terminal.NewTable(out, "KEY", "METHOD", "ENDPOINT", "REQUESTS", "LAST SEEN", "WHY")
	for _, v := range list {
		table.Row(v.Key, v.Method, v.Endpoint, terminal.Count(v.Requests), terminal.Minute(v.Last), v.Why)
	}
	return table.Flush()
}
