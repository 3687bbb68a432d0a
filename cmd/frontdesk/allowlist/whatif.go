package allowlist

import (
	"cmp"
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
	Config  string            `json:"config"`
	Refused []verdict         `json:"newly_refused"`
	Allowed []verdict         `json:"newly_allowed"`
	Same    int64             `json:"unchanged"`       // requests
	Nobody  int64             `json:"without_session"` // requests: there was no key to judge
	Outside int64             `json:"no_endpoint"`     // requests for operations that no client was offered
	Read    accesslog.Summary `json:"read"`
}

// verdict is the decision about the requests of a key for an operation.
type verdict struct {
	Key      string `json:"key"`
	Method   string `json:"method"`
	Endpoint string `json:"endpoint"`
	Why      string `json:"why"`
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
	w := &WhatIf{Read: used.Read, Refused: []verdict{}, Allowed: []verdict{}}
	merged := map[verdict]*counted{} // by all but how many: answers of an operation differ in what else they were
	lists := map[verdict]*[]verdict{}
	for u, n := range used.during {
		switch u.Then {
		case wasNobody:
			w.Nobody += n.Requests
			continue
		case wasElsewhere:
			w.Outside += n.Requests
			continue
		}
		v := verdict{Key: u.Key, Method: u.Method, Endpoint: u.Endpoint, Why: l.judgeUse(u, at)}
		switch served := u.Then != wasRefused; {
		case served && v.Why != "":
			lists[v] = &w.Refused
		case !served && v.Why == "":
			v.Why = "granted now"
			lists[v] = &w.Allowed
		default:
			w.Same += n.Requests
			continue
		}
		sum(merged, v, n)
	}
	for v, list := range lists {
		n := merged[v]
		v.counted = *n
		*list = append(*list, v)
	}
	for _, list := range []*[]verdict{&w.Refused, &w.Allowed} {
		slices.SortFunc(*list, func(a, b verdict) int {
			return cmp.Or(cmp.Compare(a.Key, b.Key), cmp.Compare(a.Endpoint, b.Endpoint), cmp.Compare(a.Method, b.Method), cmp.Compare(a.Why, b.Why))
		})
	}
	return w
}

// NewlyRefused says how many requests would be; "" for none.
func (w *WhatIf) NewlyRefused() string {
	n := sumOf(w.Refused)
	if n == 0 {
		return ""
	}
	return counted{Requests: n}.requests()
}

func sumOf(list []verdict) (n int64) {
	for _, v := range list {
		n += v.Requests
	}
	return n
}

// Write writes it for people.
func (w *WhatIf) Write(out io.Writer) error {
	fmt.Fprintf(out, "%s judged against %s\n", w.Config, w.Read)
	for _, part := range []struct {
		title string
		list  []verdict
	}{{"newly refused", w.Refused}, {"newly allowed", w.Allowed}} {
		fmt.Fprintf(out, "\n%s: %s\n", part.title, counted{Requests: sumOf(part.list)}.requests())
		if len(part.list) == 0 {
			continue
		}
		table := terminal.NewTable(out)
		fmt.Fprintln(table, "  KEY\tMETHOD\tENDPOINT\tREQUESTS\tLAST SEEN\tWHY")
		for _, v := range part.list {
			fmt.Fprintf(table, "  %s\t%s\t%s\t%s\t%s\t%s\n", v.Key, v.Method, v.Endpoint, terminal.Count(v.Requests), terminal.Minute(v.Last), v.Why)
		}
		if err := table.Flush(); err != nil {
			return err
		}
	}
	_, err := fmt.Fprintf(out, "\nunchanged: %s; not judged: %s for what nobody was offered, %s without a session\n",
		counted{Requests: w.Same}.requests(), terminal.Count(w.Outside), terminal.Count(w.Nobody))
	return err
}
