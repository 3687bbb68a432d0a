package allowlist

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"
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
	Trial   []verdict         `json:"only_in_shadow_mode"` // served until shadow mode ends
	Untold  []verdict         `json:"refused_with_arrays"` // refused only with arrays, which the log does not record
	Same    int64             `json:"unchanged"`           // requests
	Nobody  int64             `json:"without_session"`     // requests: there was no key to judge
	Outside int64             `json:"no_endpoint"`         // requests for operations that no client was offered
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

// becomes is the decision of a configuration about a request.
type becomes int

const (
	isAllowed becomes = iota
	isRefused
	isTrial // served, noted as one that the allowlist will refuse
)

// judgeUse judges requests by a configuration at a time, by the decision that
// serving takes.
func (l *Lists) judgeUse(u use, at time.Time) (becomes, string) {
	key := l.byName[u.Key]
	switch {
	case key == nil:
		return isRefused, "there is no such api_key: its sessions end"
	case desk.HasEnded(*key.Key, at):
		return isRefused, "the api_key has expired: its sessions end"
	}
	d := l.gateway.DecideLogged(key.auth, u.Method, u.Endpoint, listed(u.Needs))
	denied := "not in its allowlist"
	if d.Lacks != "" {
		denied = d.Lacks + " is not in its allowlist, and its arrays need it"
	}
	switch {
	case d.Operation == nil:
		return isRefused, "there is no such operation"
	case d.Reason != "" && key.auth.InShadow(at):
		return isTrial, denied + "; served until " + key.Until.String()
	case d.Reason != "":
		return isRefused, denied
	case u.Direct && d.Operation.ByCallback():
		return isRefused, "answers by callback, and requires webhook_url"
	}
	return isAllowed, ""
}

// untold says what an api_key's requests are refused for if they had arrays; "" where
// they had none, or may have them.
func (l *Lists) untold(u use) string {
	if !u.Untold {
		return ""
	}
	var parts []string
	for _, need := range l.gateway.ArraysWithout(l.byName[u.Key].auth, l.gateway.Logged(u.Method, u.Endpoint)) {
		parts = append(parts, need.Field+" need "+need.Grant.String())
	}
	return strings.Join(parts, ", ")
}

// WhatIf judges requests again, as of then.
func (l *Lists) WhatIf(used *Used, at time.Time) *WhatIf {
	w := &WhatIf{Read: used.Read, Refused: []verdict{}, Allowed: []verdict{}, Trial: []verdict{}, Untold: []verdict{}}
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
		now, why := l.judgeUse(u, at)
		v := verdict{Key: u.Key, Method: u.Method, Endpoint: u.Endpoint, Why: why}
		switch served := u.Then != wasRefused; {
		case served && now == isRefused:
			lists[v] = &w.Refused
		case !served && now == isAllowed:
			v.Why = "granted now"
			lists[v] = &w.Allowed
		case now == isTrial:
			lists[v] = &w.Trial
		default:
			if now == isAllowed {
				v.Why = l.untold(u)
			}
			if now != isAllowed || v.Why == "" {
				w.Same += n.Requests
				continue
			}
			lists[v] = &w.Untold
		}
		sum(merged, v, n)
	}
	for v, list := range lists {
		n := merged[v]
		v.counted = *n
		*list = append(*list, v)
	}
	for _, list := range []*[]verdict{&w.Refused, &w.Allowed, &w.Trial, &w.Untold} {
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
		title  string
		list   []verdict
		always bool
	}{
		{"newly refused", w.Refused, true},
		{"newly allowed", w.Allowed, true},
		{"refused once shadow mode ends", w.Trial, true},
		{"refused where they had arrays, which a log of that age does not tell", w.Untold, false},
	} {
		if len(part.list) == 0 && !part.always {
			continue
		}
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
