package allowlist

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"frontdesk/cmd/frontdesk/accesslog"
	"frontdesk/cmd/frontdesk/terminal"
	"frontdesk/gateway"
)

// Unused lists the grants of allowlists that were not used.
type Unused struct {
	Keys   []unusedOfKey     `json:"keys"`
	Read   accesslog.Summary `json:"read"`
	Notice string            `json:"notice,omitempty"`
}

type unusedOfKey struct {
	Key     string `json:"key"`
	called  string
	Entries []unusedEntry `json:"entries"` // those that grant something unused
}

type unusedEntry struct {
	At     string   `json:"at"`
	Rule   string   `json:"rule"`
	Unused []string `json:"unused"`         // unused grants of the entry: GET /order
	Used   int      `json:"used"`           // how many of its grants were used
	Last   string   `json:"last,omitempty"` // when it was, before the time asked for
	what   string
}

// Unused finds the grants of api_keys' allowlists that were not used.
func (l *Lists) Unused(keys []*Key, used *Used) *Unused {
	u := Unused{Read: used.Read, Notice: used.Notice()}
	byKey := l.grantUsesOf(used)
	for _, key := range keys {
		u.Keys = append(u.Keys, l.unusedOf(key, byKey[key.Name]))
	}
	return &u
}

func (l *Lists) unusedOf(key *Key, g *grantUses) unusedOfKey {
	u := unusedOfKey{Key: key.Name, called: key.called(), Entries: []unusedEntry{}}
	for i, rule := range key.Allow {
		yes, no := l.covered(rule, g.used)
		if len(no) == 0 {
			continue
		}
		e := unusedEntry{At: l.ruleAt(key, i), Rule: rule.String(), Used: len(yes)}
		slices.SortFunc(no, byEndpoint)
		for _, grant := range no {
			e.Unused = append(e.Unused, grant.String())
		}
		if earlier := total(no, g.before); earlier.Requests > 0 {
			e.Last = terminal.Minute(earlier.Last)
		}
		e.what = e.words(no)
		u.Entries = append(u.Entries, e)
	}
	return u
}

// words lists the unused grants of an entry.
func (e unusedEntry) words(no []gateway.Grant) string {
	text := "not used"
	switch {
	case e.Used > 0 && len(no) <= len(methodOrder):
		text = "not used: " + strings.Join(e.Unused, ", ")
	case e.Used > 0:
		text = fmt.Sprintf("used in part: %d of the %d that it grants", e.Used, e.Used+len(no))
	}
	if e.Last != "" {
		text += "; last before that " + e.Last
	}
	return text
}

// Write writes it for people.
func (u *Unused) Write(out io.Writer) {
	fmt.Fprintln(out, u.Read)
	if u.Notice != "" {
		fmt.Fprintln(out, "take care:", u.Notice)
	}
	for _, key := range u.Keys {
		if len(key.Entries) == 0 {
			fmt.Fprintf(out, "%s: every grant was used\n", key.called)
			continue
		}
		fmt.Fprintf(out, "%s\n", key.called)
		for _, e := range key.Entries {
			fmt.Fprintf(out, "  %s  %s  %s\n", e.At, e.Rule, e.what)
		}
	}
}
