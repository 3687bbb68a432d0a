package adopt

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"frontdesk/backend"
	"frontdesk/config/strictyaml"
	"frontdesk/mapping/sheet"
)

// settle makes the draft load: it leaves out what the sheet's reader refuses, with a TODO that
// says why, until nothing is refused.
func (d *drafter) settle() error {
	for range rounds {
		d.text = d.write()
		refused := refusals(d)
		if len(refused) == 0 {
			return nil
		}
		if !slices.ContainsFunc(refused, d.leaveOut) {
			return fmt.Errorf("the draft does not load: %w", refused)
		}
	}
	return errors.New("the draft does not load")
}

// rounds is more than there are parts that can be left out one by one.
const rounds = 1000

// refusals are the problems of the draft as a sheet. Variables of the environment are taken as
// set.
func refusals(d *drafter) strictyaml.Problems {
	_, err := sheet.Parse("draft.yaml", []byte(d.text), d.model, sheet.Options{
		Env:        func(string) (string, bool) { return "https://service.example", true },
		RuleFields: func(rule string) []string { fields, _ := backend.RuleFields(rule); return fields },
	})
	var problems strictyaml.Problems
	errors.As(err, &problems)
	return problems
}

// leaveOut removes what a problem is about from the draft, as little as helps. It returns false
// if there is nothing to remove.
func (d *drafter) leaveOut(p strictyaml.Problem) bool {
	keys := strings.Split(p.Path, ".")
	top, _, _ := strings.Cut(keys[0], "[")
	switch {
	case d.ofService && !d.ownRules && strings.Contains(p.Message, "rules: backend"):
		d.ownRules = true
	case top == "accounts" && !d.noUsers:
		d.noUsers = true
	case top == "resources" && len(keys) > 1 && d.matches[keys[1]] != nil:
		d.leaveOutOf(d.matches[keys[1]], keys[2:], p.Message)
	default:
		return false
	}
	return true
}

// leaveOutOf is leaveOut for parts of a resource: a field, its client, its writes, or in the end all of
// it.
func (d *drafter) leaveOutOf(m *match, keys []string, why string) {
	what := ""
	if len(keys) > 0 {
		what = keys[0]
	}
	switch {
	case what == "fields" && len(keys) > 1 && m.fields[keys[1]] != nil && m.refused[keys[1]] == "":
		m.refused[keys[1]] = why
	case what == "client" && m.refused["client"] == "":
		m.refused["client"] = why
	case what != "client" && m.unwritten == "":
		m.unwritten = why
	default:
		d.dropped = append(d.dropped, m.Name+": "+why)
		delete(d.matches, m.Name)
	}
}
