package allowlist

import (
	"fmt"
	"io"
	"maps"
	"slices"

	"frontdesk/cmd/frontdesk/accesslog"
	"frontdesk/cmd/frontdesk/terminal"
	"frontdesk/gateway"
)

// Draft is the smallest sufficient allowlist, as changes to the present one.
type Draft struct {
	Key       string `json:"key"`
	called    string
	Entries   []draftEntry      `json:"entries"`
	Refused   []draftEntry      `json:"refused,omitempty"` // was refused, and is not granted
	Gone      []draftEntry      `json:"gone,omitempty"`    // was served, and is no endpoint of this configuration
	Elsewhere int64             `json:"no_endpoint"`       // requests for operations that no client is offered
	Read      accesslog.Summary `json:"read"`
}

// draftEntry is a line of it.
type draftEntry struct {
	Change string `json:"change,omitempty"` // keep, drop or add
	Rule   string `json:"rule"`
	At     string `json:"at,omitempty"`
	Why    string `json:"why"`
	counted
}

// What a draft does with an entry.
const (
	entryKept    = "keep"
	entryDropped = "drop"
	entryAdded   = "add"
)

// Learn drafts the list of an api_key from its use. It fails if the key was not used.
func (l *Lists) Learn(key *Key, used *Used) (Draft, error) {
	g := l.grantUsesOf(used)[key.Name]
	if len(g.used) == 0 {
		return Draft{}, fmt.Errorf("nothing was learned: %s, and none of them was one of %s that an allowlist governs and that was served", used.Read, key.Name)
	}
	d := l.draft(key, g)
	d.Read, d.Elsewhere = used.Read, requestsElsewhere(used.during)
	return d, nil
}

// draft compares an allowlist with its use.
func (l *Lists) draft(key *Key, g *grantUses) Draft {
	d := Draft{Key: key.Name, called: key.called()}
	kept := map[gateway.Grant]bool{}
	for i, rule := range key.Allow {
		e := draftEntry{Change: entryKept, Rule: rule.String(), At: l.ruleAt(key, i)}
		yes, no := l.covered(rule, g.used)
		e.counted = total(yes, g.used)
		switch {
		case len(no) == 0:
			e.Why = e.counted.String()
			for _, grant := range yes {
				kept[grant] = true
			}
		case len(yes) > 0:
			e.Change, e.Why = entryDropped, fmt.Sprintf("used in part: %d of the %d that it grants", len(yes), len(yes)+len(no))
		default:
			e.Change, e.Why = entryDropped, "not used"
			if earlier := total(no, g.before); earlier.Requests > 0 {
				e.counted, e.Why = earlier, "not used since "+terminal.Minute(earlier.Last)
			}
		}
		d.Entries = append(d.Entries, e)
	}
	for _, grant := range slices.SortedFunc(maps.Keys(g.used), byEndpoint) {
		if !kept[grant] {
			d.Entries = append(d.Entries, draftEntry{Change: entryAdded, Rule: grant.String(), Why: g.used[grant].String(), counted: *g.used[grant]})
		}
	}
	for _, grant := range slices.SortedFunc(maps.Keys(g.refused), byEndpoint) {
		d.Refused = append(d.Refused, draftEntry{Rule: grant.String(), Why: g.refused[grant].String(), counted: *g.refused[grant]})
	}
	for _, name := range slices.Sorted(maps.Keys(g.gone)) {
		d.Gone = append(d.Gone, draftEntry{Rule: name, Why: g.gone[name].String(), counted: *g.gone[name]})
	}
	return d
}

// requestsElsewhere counts the requests for operations that no client is offered.
func requestsElsewhere(all uses) (n int64) {
	for u, t := range all {
		if u.Then == wasElsewhere {
			n += t.Requests
		}
	}
	return n
}

// WriteDiff shows the changes as a diff.
func (d Draft) WriteDiff(out io.Writer) {
	fmt.Fprintf(out, "# %s: %s\n", d.called, d.Read)
	changed := slices.ContainsFunc(d.Entries, func(e draftEntry) bool { return e.Change != entryKept })
	if !changed {
		fmt.Fprintln(out, "# nothing to change: every entry was used in full")
	}
	fmt.Fprintln(out, " allow:")
	width := d.width()
	for _, e := range d.Entries {
		sign := map[string]string{entryKept: " ", entryDropped: "-", entryAdded: "+"}[e.Change]
		fmt.Fprintf(out, "%s  - %-*s # %s\n", sign, width, `"`+e.Rule+`"`, e.Why)
	}
	d.writeRest(out)
}

// WriteList shows the list to paste.
func (d Draft) WriteList(out io.Writer) {
	fmt.Fprintf(out, "# %s, learned of %s\nallow:\n", d.Key, d.Read)
	width := d.width()
	for _, e := range d.Entries {
		if e.Change != entryDropped {
			fmt.Fprintf(out, "  - %-*s # %s\n", width, `"`+e.Rule+`"`, e.Why)
		}
	}
	d.writeRest(out)
}

func (d Draft) width() (width int) {
	for _, e := range d.Entries {
		width = max(width, len(e.Rule)+2)
	}
	return width
}

// writeRest says what is not in the list, and why.
func (d Draft) writeRest(out io.Writer) {
	for _, rest := range []struct {
		title   string
		entries []draftEntry
	}{
		{"was refused, and is not included:", d.Refused},
		{"was served, and is no endpoint of this configuration:", d.Gone},
	} {
		if len(rest.entries) > 0 {
			fmt.Fprintf(out, "# %s\n", rest.title)
		}
		for _, e := range rest.entries {
			fmt.Fprintf(out, "#   %s  %s\n", e.Rule, e.Why)
		}
	}
	if d.Elsewhere > 0 {
		fmt.Fprintf(out, "# %s of its requests were for paths or methods that nobody is offered\n", terminal.Count(d.Elsewhere))
	}
}
