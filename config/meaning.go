package config

import (
	"fmt"
	"slices"
	"strings"
)

// Setting is a line of what a configuration says: a setting, or an entry of a list. Like a Change
// it can be shown: it hides secrets and values of variables, and has only as much of a hash as
// identifies it.
type Setting struct {
	Path   string `json:"path"`
	Value  string `json:"value"`
	Secret bool   `json:"secret,omitempty"` // Value stands for a secret
}

// Settings are all that the configuration says, defaults included, in the order of the file.
func (c *Config) Settings() []Setting {
	changes := Changes(&Config{}, c)
	all := make([]Setting, len(changes))
	for i, change := range changes {
		all[i] = Setting{change.Path, change.To, change.Secret}
	}
	return all
}

// Difference is what becomes different, in words for people.
type Difference struct {
	Key     string `json:"key,omitempty"` // the api_key that it is about; "" for none
	Text    string `json:"text"`
	Restart bool   `json:"needs_restart,omitempty"` // it is not used before the program is started anew
}

// listedAtMost is how many endpoints of a change are named.
const listedAtMost = 12

// Differences tells in words what becomes different from one configuration to another, given the
// endpoints that there are: which api_keys come and go, which endpoints each gains and loses, and
// all else by setting. secret are the settings that cannot be compared, since both have a secret.
func Differences(from, to []Setting, endpoints []Endpoint) (all []Difference, secret []string) {
	w := wording{endpoints: endpoints, from: byPath(from), to: byPath(to)}
	told := map[string]bool{}
	for _, s := range slices.Concat(to, from) {
		if !told[s.Path] {
			told[s.Path] = true
			w.tell(s.Path)
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

// tell tells what becomes different in one setting.
func (w *wording) tell(path string) {
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
	case isKey && part != "" && w.to["api_keys."+name] == nil: // which its removal tells
	case isKey && part == "allow":
		w.tellAllow(before, after, add)
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

// without are the settings that others do not have.
func without(settings, others []Setting) (left []string) {
	for _, s := range settings {
		if !slices.Contains(others, s) {
			left = append(left, s.Value)
		}
	}
	return left
}

// changesOf are the changes by which values have gone and others have come.
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

// tellAllow tells what an allowlist allows more, and less.
func (w *wording) tellAllow(before, after []Setting, add func(string, ...any)) {
	if slices.Equal(before, after) {
		return
	}
	was, is := rulesOf(before), rulesOf(after)
	var gained, lost []string
	told := make(map[Endpoint]bool, len(w.endpoints))
	for _, e := range w.endpoints {
		if told[e] { // a list and its records have the same entry
			continue
		}
		told[e] = true
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
		add("gains %s", listed(gained, listedAtMost))
	}
	if len(lost) > 0 {
		add("loses %s", listed(lost, listedAtMost))
	}
	if len(gained)+len(lost) == 0 {
		add("its allowlist is written otherwise, and allows the same")
	}
}

// rulesOf are the entries of an allowlist. An entry that holds a variable is none here.
func rulesOf(settings []Setting) (rules []Rule) {
	for _, s := range settings {
		if rule, err := ParseRule(s.Value); err == nil {
			rules = append(rules, rule)
		}
	}
	return rules
}

// others are the fields of an endpoint that are not among some: note of GET /contact.
func others(fields, some []string, e Endpoint) (all []string) {
	for _, field := range fields {
		if !slices.Contains(some, field) {
			all = append(all, field+" of "+e.Method+" "+e.Path)
		}
	}
	return all
}

// listed are so many of the names at most, and how many more there are.
func listed(names []string, most int) string {
	if more := len(names) - most; more > 1 {
		return fmt.Sprintf("%s and %d more", strings.Join(names[:most], ", "), more)
	}
	return strings.Join(names, ", ")
}
