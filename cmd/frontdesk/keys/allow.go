package keys

import (
	"fmt"
	"slices"
	"strings"

	"frontdesk/cmd/frontdesk/desk"
	"frontdesk/config"
	"frontdesk/config/strictyaml"
)

// Allow gives an api_key entries of its allowlist, and takes some away. In the key's file only
// the lines of these entries change.
func Allow(file, name string, add, remove []string) (*Change, error) {
	added, err := parseRules(add)
	if err != nil {
		return nil, err
	}
	removed, err := parseRules(remove)
	if err != nil {
		return nil, err
	}
	c, err := desk.LoadConfig(file)
	if err != nil {
		return nil, err
	}
	key, err := existing(c, name)
	if err != nil {
		return nil, err
	}
	e := allowEdit{key: key, remove: removed}
	for _, rule := range removed {
		if !slices.Contains(key.Allow, rule) {
			return nil, fmt.Errorf("%s has no entry %s%s", name, strictyaml.Quote(rule.String()), e.instead(rule))
		}
	}
	var said strings.Builder
	for _, rule := range added {
		if i := e.grants(rule); i >= 0 {
			fmt.Fprintf(&said, "%s may do %s already, by %s at %s.\n", name, rule, strictyaml.Quote(key.Allow[i].String()), key.AllowAt(i))
			continue
		}
		if !slices.Contains(e.add, rule) {
			e.add = append(e.add, rule)
		}
	}
	for _, rule := range removed {
		if i := e.grants(rule); i >= 0 {
			fmt.Fprintf(&said, "%s may do %s still, by %s at %s.\n", name, rule, strictyaml.Quote(key.Allow[i].String()), key.AllowAt(i))
		}
	}
	return &Change{
		config: file, before: c, load: judged, file: key.At().File, name: name, closing: said.String(), nothing: len(e.add)+len(e.remove) == 0,
		byHand: e.byHand(), change: e.apply,
		edit: func(src []byte) ([]byte, error) { return c.EditAllow(src, key, e.drops, e.add) },
	}, nil
}

// judged loads a configuration as check does, with what it expects of the allowlists; what
// another part of it names on this machine is none of this.
func judged(file string) (*config.Config, error) { return desk.Judged(file, true) }

func parseRules(entries []string) (rules []config.Rule, _ error) {
	for _, entry := range entries {
		rule, err := config.ParseRule(entry)
		if err != nil {
			return nil, desk.Misused("%s: %v", strictyaml.Quote(entry), err)
		}
		rules = append(rules, rule)
	}
	return rules, nil
}

// allowEdit is a change of an allowlist.
type allowEdit struct {
	key         *config.Key
	add, remove []config.Rule
}

func (e *allowEdit) drops(rule config.Rule) bool { return slices.Contains(e.remove, rule) }

// apply gives a key the new list.
func (e *allowEdit) apply(key *config.Key) {
	key.Allow = append(slices.DeleteFunc(slices.Clone(key.Allow), e.drops), e.add...)
}

// grants is the number of an entry that stays and covers all that a rule does; -1 if there is
// none.
func (e *allowEdit) grants(rule config.Rule) int {
	return slices.IndexFunc(e.key.Allow, func(other config.Rule) bool { return !e.drops(other) && other.Covers(rule) })
}

// instead tells what there is in place of an entry that is to be removed.
func (e *allowEdit) instead(rule config.Rule) string {
	if i := e.grants(rule); i >= 0 {
		return fmt.Sprintf("; what grants it is %s at %s", strictyaml.Quote(e.key.Allow[i].String()), e.key.AllowAt(i))
	}
	known := make([]string, len(e.key.Allow))
	for i, other := range e.key.Allow {
		known[i] = other.String()
	}
	return strictyaml.Suggest(rule.String(), known)
}

// byHand tells what to write.
func (e *allowEdit) byHand() string {
	var out strings.Builder
	fmt.Fprintf(&out, "under allow of %s (%s),", e.key.Name, e.key.At())
	for i, rule := range e.key.Allow {
		if e.drops(rule) {
			fmt.Fprintf(&out, " take %s out of line %d,", strictyaml.Quote(rule.String()), e.key.AllowAt(i).Line)
		}
	}
	text := strings.TrimSuffix(out.String(), ",")
	if len(e.add) == 0 {
		return text + "\n"
	}
	text += " write\n\n"
	for _, rule := range e.add {
		text += fmt.Sprintf("  - %q\n", rule.String())
	}
	return text
}
