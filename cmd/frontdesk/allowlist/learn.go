package allowlist

import (
	"fmt"
	"io"
	"maps"
	"slices"

	"frontdesk/config"
	"frontdesk/gateway"
)

// Draft is the smallest sufficient allowlist of an api_key, to paste, and what it leaves out.
type Draft struct {
	title   string
	list    []drafted
	dropped []drafted // entries of the present list
	refused []drafted // grants and fields that were refused
}

// drafted is an entry, and why it is there.
type drafted struct{ rule, why string }

// Learn drafts the list of an api_key from its use. It fails if the key was not used.
func (l *Lists) Learn(key *Key, used *Used) (Draft, error) {
	g := l.grantUsesOf(used)[key.Name]
	if len(g.used) == 0 {
		return Draft{}, fmt.Errorf("nothing was learned: %s, and none of them was one of %s that an allowlist governs and that was served", used.Read, key.Name)
	}
	d := Draft{title: fmt.Sprintf("%s (%s): %s", key.Name, key.At(), used.Read)}
	kept := map[gateway.Grant]bool{}
	for _, rule := range key.Allow {
		yes, no := l.covered(rule, g.used)
		alone := func(grant gateway.Grant) bool { // its fields are withheld by a GET that is not used
			return g.used[gateway.Grant{Method: "GET", Path: grant.Path}] == nil && l.entryFor(key, grant) != config.Rule{Method: grant.Method, Path: grant.Path, Without: rule.Without, Only: rule.Only}
		}
		switch {
		case len(no) == 0 && slices.ContainsFunc(yes, alone):
			d.dropped = append(d.dropped, drafted{rule.String(), "the GET that takes fields away is not used: the writes have to"})
		case len(no) == 0:
			var all counted
			for _, grant := range yes {
				kept[grant] = true
				all.add(g.used[grant].Requests, g.used[grant].Last)
			}
			d.list = append(d.list, drafted{rule.YAML(), all.String()})
		case len(yes) > 0:
			d.dropped = append(d.dropped, drafted{rule.String(), fmt.Sprintf("used in part: %d of the %d that it grants", len(yes), len(yes)+len(no))})
		default:
			d.dropped = append(d.dropped, drafted{rule.String(), "not used"})
		}
	}
	for _, grant := range slices.SortedFunc(maps.Keys(g.used), byEndpoint) {
		if !kept[grant] {
			d.list = append(d.list, drafted{l.entryFor(key, grant).YAML(), g.used[grant].String()})
		}
	}
	for _, grant := range slices.SortedFunc(maps.Keys(g.refused), byEndpoint) {
		d.refused = append(d.refused, drafted{grant.String(), g.refused[grant].String()})
	}
	for _, field := range slices.Sorted(maps.Keys(g.fields)) {
		d.refused = append(d.refused, drafted{field, g.fields[field].String()})
	}
	return d, nil
}

// Write writes the list, and the rest as comments.
func (d Draft) Write(out io.Writer) {
	fmt.Fprintf(out, "# %s\nallow:\n", d.title)
	width := 0
	for _, e := range d.list {
		width = max(width, len(e.rule))
	}
	for _, e := range d.list {
		fmt.Fprintf(out, "  - %-*s # %s\n", width, e.rule, e.why)
	}
	for _, rest := range []struct {
		title   string
		entries []drafted
	}{
		{"of the present list these are left out:", d.dropped},
		{"was refused, and is not included:", d.refused},
	} {
		if len(rest.entries) > 0 {
			fmt.Fprintf(out, "# %s\n", rest.title)
		}
		for _, e := range rest.entries {
			fmt.Fprintf(out, "#   %s  %s\n", e.rule, e.why)
		}
	}
}
