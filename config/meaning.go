package config

import (
	"fmt"
	"slices"
	"strings"
)

// Setting is one value of a configuration: that of a setting, or an entry of a list. Like a Change
// it is safe to show.
type Setting struct {
	Path   string `json:"path"`
	Value  string `json:"value"`
	Secret bool   `json:"secret,omitempty"` // Value stands for a secret
}

// Settings returns all settings of the configuration, defaults included, in the order of the file.
func (c *Config) Settings() []Setting {
	changes := Changes(&Config{}, c)
	all := make([]Setting, len(changes))
	for i, change := range changes {
		all[i] = Setting{change.Path, change.To, change.Secret}
	}
	return all
}

// Difference describes a difference to people.
type Difference struct {
	Key     string `json:"key,omitempty"` // the api_key that it is about; "" for none
	Text    string `json:"text"`
	Restart bool   `json:"needs_restart,omitempty"` // takes effect only after a restart
}

// listedAtMost is how many endpoints of a change are listed.
const listedAtMost = 12

// Differences describes the differences from one configuration to another, given the endpoints that
// exist: which api_keys are added and removed, which endpoints each gains and loses, and everything
// else by setting. secret are the settings that cannot be compared, since both have a secret.
func Differences(from, to []Setting, endpoints []Endpoint) (all []Difference, secret []string) {
	w := wording{endpoints: endpoints, from: byPath(from), to: byPath(to)}
	seen := map[string]bool{}
	for _, s := range slices.Concat(to, from) {
		if !seen[s.Path] {
			seen[s.Path] = true
			w.describe(s.Path)
		}
	}
	return w.all, w.secret
}

func byPath(settings []Setting) map[string][]Setting {
	all := map[string][]Setting{}
	for _, s := range settings {
		all[s.Path] = append(all[s.Path], s)
	}
	return all
}

// wording collects differences.
type wording struct {
	endpoints []Endpoint
	from, to  map[string][]Setting
	all       []Difference
	secret    []string
}

// describe describes the difference in one setting.
func (w *wording) describe(path string) {
	before, after := w.from[path], w.to[path]
	name, isKey := strings.CutPrefix(path, "api_keys.")
	name, part, _ := strings.Cut(name, ".")
	restart := !reloadable(path)
	add := func(format string, args ...any) {
		d := Difference{Text: fmt.Sprintf(format, args...), Restart: restart}
		if isKey {
			d.Key = name
		}
		w.all = append(w.all, d)
	}
	switch {
	case isKey && part == "" && len(before) == 0:
		add("is new")
	case isKey && part == "" && len(after) == 0:
		add("is removed: its api_keys are refused, its sessions end")
	case isKey && part != "" && w.to["api_keys."+name] == nil: // the removal of the key covers its settings
	case isKey && part == "allow":
		w.describeAllow(before, after, add)
	case len(before) > 0 && len(after) > 0 && before[0].Secret:
		w.secret = append(w.secret, path)
	default:
		if isKey {
			path = part
		}
		for _, change := range changesOf(path, without(before, after), without(after, before)) {
			add("%s", change)
		}
	}
}

// without returns the values of the settings that others do not have.
func without(settings, others []Setting) (left []string) {
	for _, s := range settings {
		if !slices.Contains(others, s) {
			left = append(left, s.Value)
		}
	}
	return left
}

// changesOf returns the changes that remove the values gone and add the values come.
func changesOf(path string, gone, come []string) (all []Change) {
	if len(gone) == 1 && len(come) == 1 {
		return []Change{{Path: path, From: gone[0], To: come[0]}}
	}
	for _, value := range gone {
		all = append(all, Change{Path: path, From: value})
	}
	for _, value := range come {
		all = append(all, Change{Path: path, To: value})
	}
	return all
}

// describeAllow describes what an allowlist gains and loses.
func (w *wording) describeAllow(before, after []Setting, add func(string, ...any)) {
	if slices.Equal(before, after) {
		return
	}
	was, is := rulesOf(before), rulesOf(after)
	var gained, lost []string
	seen := make(map[Endpoint]bool, len(w.endpoints))
	for _, e := range w.endpoints {
		if seen[e] { // a list and its records have the same entry
			continue
		}
		seen[e] = true
		lacked, had := Taken(was, e)
		lacks, has := Taken(is, e)
		switch {
		case has && !had:
			gained = append(gained, e.Method+" "+e.Path)
		case had && !has:
			lost = append(lost, e.Method+" "+e.Path)
		default:
			gained = append(gained, others(lacked, lacks, e)...)
			lost = append(lost, others(lacks, lacked, e)...)
		}
	}
	if len(gained) > 0 {
		add("gains %s", Listed(gained, listedAtMost))
	}
	if len(lost) > 0 {
		add("loses %s", Listed(lost, listedAtMost))
	}
	if len(gained)+len(lost) == 0 {
		add("its allowlist is written otherwise, and allows the same")
	}
}

// rulesOf returns the entries of an allowlist, without those that hold a variable.
func rulesOf(settings []Setting) (rules []Rule) {
	for _, s := range settings {
		if rule, err := ParseRule(s.Value); err == nil {
			rules = append(rules, rule)
		}
	}
	return rules
}

// others returns the fields of an endpoint that are not in some, as in: note of GET /contact.
func others(fields, some []string, e Endpoint) (all []string) {
	for _, field := range fields {
		if !slices.Contains(some, field) {
			all = append(all, field+" of "+e.Method+" "+e.Path)
		}
	}
	return all
}

// Listed joins at most so many names, and counts the others.
func Listed(names []string, most int) string {
	if more := len(names) - most; more > 1 {
		return fmt.Sprintf("%s and %d more", strings.Join(names[:most], ", "), more)
	}
	return strings.Join(names, ", ")
}
