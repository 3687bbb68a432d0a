package main

import (
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"frontdesk/cmd/frontdesk/accesslog"
	"frontdesk/cmd/frontdesk/desk"
	"frontdesk/cmd/frontdesk/terminal"
	"frontdesk/gateway"
)

type allowLearnCommand struct {
	toolFlags
	Key    string `required:"" placeholder:"NAME" help:"Name of the api_key."`
	Format string `default:"diff" enum:"diff,yaml,json" help:"diff: what to change; yaml: the whole list, to paste; json."`
	logFlags
}

// Help tells what the short help has no room for.
func (allowLearnCommand) Help() string {
	return "What was served counts as used, also by a key in shadow mode; what was refused is listed, and not granted. Entries that were used in full stay as they are; one that grants more than was used gives way to what was used of it."
}

// Run drafts the list.
func (c allowLearnCommand) Run(p desk.Program) error {
	t, err := c.open()
	if err != nil {
		return err
	}
	key, err := t.find(c.Key)
	if err != nil {
		return err
	}
	during, before, summary, err := readUses(p, c.logFlags, key.Name)
	if err != nil {
		return err
	}
	g := t.grantUsesOf(during, before)[key.Name]
	if len(g.used) == 0 {
		return fmt.Errorf("nothing was learned: %s, and none of them was one of %s that an allowlist governs and that was served", summary, key.Name)
	}
	l := t.learn(key, g)
	l.Read, l.Elsewhere = summary, requestsElsewhere(during)
	if notice := shortNotice(summary); notice != "" {
		fmt.Fprintln(p.Stderr, "frontdesk: "+notice)
	}
	switch c.Format {
	case "json":
		return terminal.WriteJSON(p.Stdout, l)
	case "yaml":
		l.printList(p.Stdout)
	default:
		l.printDiff(p.Stdout, key.called())
	}
	return nil
}

// requestsElsewhere counts the requests for what nobody is offered.
func requestsElsewhere(all uses) (n int64) {
	for u, t := range all {
		if u.Then == wasElsewhere {
			n += t.Requests
		}
	}
	return n
}

// learned is the least allowlist, as what is to be changed.
type learned struct {
	Key       string            `json:"key"`
	Entries   []learnedEntry    `json:"entries"`
	Refused   []learnedEntry    `json:"refused,omitempty"` // was refused, and is not granted
	Untold    []learnedEntry    `json:"untold,omitempty"`  // may be needed for arrays, which the log does not tell of
	Gone      []learnedEntry    `json:"gone,omitempty"`    // was served, and is no endpoint of this configuration
	Elsewhere int64             `json:"no_endpoint"`       // requests for what nobody is offered
	Read      accesslog.Summary `json:"read"`
}

// learnedEntry is a line of it.
type learnedEntry struct {
	Change string `json:"change,omitempty"` // keep, drop or add
	Rule   string `json:"rule"`
	At     string `json:"at,omitempty"`
	Why    string `json:"why"`
	logTally
}

const (
	entryKept    = "keep"
	entryDropped = "drop"
	entryAdded   = "add"
)

// learn compares an allowlist with what was used of it.
func (t *tools) learn(key *toolKey, g *grantUses) learned {
	l := learned{Key: key.Name}
	kept := map[gateway.Grant]bool{}
	for i, rule := range key.Allow {
		e := learnedEntry{Change: entryKept, Rule: rule.String(), At: t.ruleAt(key, i)}
		yes, no := t.covered(rule, g.used)
		e.logTally = total(yes, g.used)
		switch {
		case len(no) == 0:
			e.Why = e.logTally.String()
			for _, grant := range yes {
				kept[grant] = true
			}
		case len(yes) > 0:
			e.Change, e.Why = entryDropped, fmt.Sprintf("used in part: %d of the %d that it grants", len(yes), len(yes)+len(no))
		default:
			e.Change, e.Why = entryDropped, "not used"
			if earlier := total(no, g.before); earlier.Requests > 0 {
				e.logTally, e.Why = earlier, "not used since "+terminal.Minute(earlier.Last)
			}
		}
		l.Entries = append(l.Entries, e)
	}
	for _, grant := range slices.SortedFunc(maps.Keys(g.used), byEndpoint) {
		if !kept[grant] {
			l.Entries = append(l.Entries, learnedEntry{Change: entryAdded, Rule: grant.String(), Why: g.used[grant].String(), logTally: *g.used[grant]})
		}
	}
	for _, grant := range slices.SortedFunc(maps.Keys(g.refused), byEndpoint) {
		l.Refused = append(l.Refused, learnedEntry{Rule: grant.String(), Why: g.refused[grant].String(), logTally: *g.refused[grant]})
	}
	for _, grant := range slices.SortedFunc(maps.Keys(g.untold), byEndpoint) {
		if g.used[grant] == nil {
			l.Untold = append(l.Untold, learnedEntry{Rule: grant.String(), Why: g.untold[grant].String(), logTally: *g.untold[grant]})
		}
	}
	for _, name := range slices.Sorted(maps.Keys(g.gone)) {
		l.Gone = append(l.Gone, learnedEntry{Rule: name, Why: g.gone[name].String(), logTally: *g.gone[name]})
	}
	return l
}

// printDiff shows what to change, in the form of a diff.
func (l learned) printDiff(out io.Writer, called string) {
	fmt.Fprintf(out, "# %s: %s\n", called, l.Read)
	changed := slices.ContainsFunc(l.Entries, func(e learnedEntry) bool { return e.Change != entryKept })
	if !changed {
		fmt.Fprintln(out, "# nothing to change: every entry was used in full")
	}
	fmt.Fprintln(out, " allow:")
	width := l.width()
	for _, e := range l.Entries {
		sign := map[string]string{entryKept: " ", entryDropped: "-", entryAdded: "+"}[e.Change]
		fmt.Fprintf(out, "%s  - %-*s # %s\n", sign, width, `"`+e.Rule+`"`, e.Why)
	}
	l.printRest(out)
}

// printList shows the list to paste.
func (l learned) printList(out io.Writer) {
	fmt.Fprintf(out, "# %s, learned of %s\nallow:\n", l.Key, l.Read)
	width := l.width()
	for _, e := range l.Entries {
		if e.Change != entryDropped {
			fmt.Fprintf(out, "  - %-*s # %s\n", width, `"`+e.Rule+`"`, e.Why)
		}
	}
	l.printRest(out)
}

func (l learned) width() (width int) {
	for _, e := range l.Entries {
		width = max(width, len(e.Rule)+2)
	}
	return width
}

// printRest says what is not in the list, and why.
func (l learned) printRest(out io.Writer) {
	for _, rest := range []struct {
		title   string
		entries []learnedEntry
	}{
		{"was refused, and is not included:", l.Refused},
		{"is needed too where these had arrays, which a log of that age does not tell:", l.Untold},
		{"was served, and is no endpoint of this configuration:", l.Gone},
	} {
		if len(rest.entries) > 0 {
			fmt.Fprintf(out, "# %s\n", rest.title)
		}
		for _, e := range rest.entries {
			fmt.Fprintf(out, "#   %s  %s\n", e.Rule, e.Why)
		}
	}
	if l.Elsewhere > 0 {
		fmt.Fprintf(out, "# %s of its requests were for paths or methods that nobody is offered\n", terminal.Count(l.Elsewhere))
	}
}

type allowUnusedCommand struct {
	toolFlags
	Key    string `default:"all" placeholder:"NAME" help:"Name of the api_key, or all."`
	Format string `default:"text" enum:"text,json" help:"text, or json."`
	logFlags
}

// Run shows the grants.
func (c allowUnusedCommand) Run(p desk.Program) error {
	t, err := c.open()
	if err != nil {
		return err
	}
	keys := t.keys
	if c.Key != "all" {
		key, err := t.find(c.Key)
		if err != nil {
			return err
		}
		keys = []toolKey{*key}
	}
	during, before, summary, err := readUses(p, c.logFlags, "")
	if err != nil {
		return err
	}
	if summary.Lines == 0 {
		return fmt.Errorf("nothing can be said: %s", summary)
	}
	u := unusedGrants{Read: summary, Notice: shortNotice(summary)}
	byKey := t.grantUsesOf(during, before)
	for i := range keys {
		u.Keys = append(u.Keys, t.unused(&keys[i], byKey[keys[i].Name]))
	}
	if c.Format == "json" {
		return terminal.WriteJSON(p.Stdout, u)
	}
	u.print(p.Stdout)
	return nil
}

// unusedGrants is what allowlists grant and nobody used.
type unusedGrants struct {
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
	Unused []string `json:"unused"`         // what of it nobody used: GET /order
	Used   int      `json:"used"`           // how many of its grants were used
	Last   string   `json:"last,omitempty"` // when it was, before the time asked for
	what   string
}

func (t *tools) unused(key *toolKey, g *grantUses) unusedOfKey {
	u := unusedOfKey{Key: key.Name, called: key.called(), Entries: []unusedEntry{}}
	for i, rule := range key.Allow {
		yes, no := t.covered(rule, g.used)
		if len(no) == 0 {
			continue
		}
		e := unusedEntry{At: t.ruleAt(key, i), Rule: rule.String(), Used: len(yes)}
		slices.SortFunc(no, byEndpoint)
		for _, grant := range no {
			e.Unused = append(e.Unused, grant.String())
		}
		if earlier := total(no, g.before); earlier.Requests > 0 {
			e.Last = terminal.Minute(earlier.Last)
		}
		e.what = e.words(no)
		if slices.ContainsFunc(no, func(grant gateway.Grant) bool { return g.untold[grant] != nil }) {
			e.what += "; arrays may need it, which a log of that age does not tell"
		}
		u.Entries = append(u.Entries, e)
	}
	return u
}

// words say what of an entry was not used.
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

func (u unusedGrants) print(out io.Writer) {
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
