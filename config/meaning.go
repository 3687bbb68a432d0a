package config

import (
	"fmt"
	"slices"
	"strings"
	"time"
)

// Difference is a Change in words, for people and programs. It can be shown, as a Change can.
type Difference struct {
	Key     string `json:"key,omitempty"` // the api_key that it is about; "" for none
	Text    string `json:"text"`
	Restart bool   `json:"needs_restart,omitempty"` // it is not used before the program is started anew
}

// listedAtMost is how many endpoints of a change are named.
const listedAtMost = 12

// Differences tells in words what becomes different from one configuration to another, at a
// moment, given the endpoints that there are: which api_keys come and go, which endpoints each
// gains and loses, and all else as Changes has it. Without endpoints it tells of entries of
// allowlists instead.
func Differences(from, to *Config, endpoints []Endpoint, now time.Time) []Difference {
	d := wording{endpoints: endpoints, now: now, from: keysByName(from), to: keysByName(to), told: map[string]bool{}}
	for _, change := range Changes(from, to) {
		d.tell(change)
	}
	return d.all
}

func keysByName(c *Config) map[string]*Key {
	all := make(map[string]*Key, len(c.APIKeys))
	for i := range c.APIKeys {
		all[c.APIKeys[i].Name] = &c.APIKeys[i]
	}
	return all
}

// wording collects differences.
type wording struct {
	endpoints []Endpoint
	now       time.Time
	from, to  map[string]*Key
	told      map[string]bool // the lists of api_keys that were told of
	all       []Difference
}

func (w *wording) tell(c Change) {
	name, isKey := strings.CutPrefix(c.Path, "api_keys.")
	name, part, _ := strings.Cut(name, ".")
	add := func(format string, args ...any) {
		d := Difference{Text: fmt.Sprintf(format, args...), Restart: c.Restart}
		if isKey {
			d.Key = name
		}
		w.all = append(w.all, d)
	}
	switch {
	case !isKey:
		add("%s", c)
	case part == "" && c.From == "":
		add("is new")
	case part == "":
		add("is removed: its api_keys are refused, its sessions end")
	case part == "allow" && w.endpoints == nil:
		add("%s", strings.NewReplacer("+", "gains", "-", "loses").Replace(strings.TrimPrefix(c.String(), c.Path+": "))) // methods and paths have neither sign
	case part == "allow" || part == "key_sha256":
		w.once(name, part, add)
	case part == "expires" && w.to[name] != nil && w.to[name].Expires.Passed(w.now):
		add("ends, since its end has passed: %s", c.To)
	case part == "expires" && c.To == "":
		add("has no end of its own any more, which was %s", c.From)
	default:
		c.Path = part
		add("%s", c)
	}
}

// once tells of a list of an api_key at its first change.
func (w *wording) once(name, part string, add func(string, ...any)) {
	if w.told[name+"."+part] {
		return
	}
	w.told[name+"."+part] = true
	before, after := w.from[name], w.to[name]
	if before == nil {
		before = &Key{}
	}
	if part == "allow" {
		w.tellAllow(before, after, add)
	} else {
		w.tellHashes(before, after, add)
	}
}

// tellHashes tells which hashes come and go, and whose ends change.
func (w *wording) tellHashes(before, after *Key, add func(string, ...any)) {
	was := make(map[Digest]Expiry, len(before.Hashes))
	for _, h := range before.Hashes {
		was[h.Hash] = h.Expires
	}
	for _, h := range after.Hashes {
		old, there := was[h.Hash]
		delete(was, h.Hash)
		switch {
		case !there:
			add("hash %s… is new", h.Hash.Short())
		case !old.Equal(h.Expires.Time):
			add("hash %s…%s", h.Hash.Short(), w.until(h.Expires))
		}
	}
	for _, h := range before.Hashes {
		if _, left := was[h.Hash]; left {
			add("hash %s… is removed", h.Hash.Short())
		}
	}
}

func (w *wording) until(end Expiry) string {
	switch {
	case end.IsZero():
		return " has no end any more"
	case end.Passed(w.now):
		return " has ended, " + end.Format(time.RFC3339)
	default:
		return " ends " + end.Format(time.RFC3339)
	}
}

// tellAllow tells what an allowlist allows more, and less.
func (w *wording) tellAllow(before, after *Key, add func(string, ...any)) {
	var gained, lost []string
	told := make(map[Endpoint]bool, len(w.endpoints))
	for _, e := range w.endpoints {
		if told[e] { // a list and its records have the same entry
			continue
		}
		told[e] = true
		was, is := before.allows(e), after.allows(e)
		switch {
		case is && !was:
			gained = append(gained, e.Method+" "+e.Path)
		case was && !is:
			lost = append(lost, e.Method+" "+e.Path)
		}
	}
	if len(gained) > 0 {
		add("gains %s", listed(gained))
	}
	if len(lost) > 0 {
		add("loses %s", listed(lost))
	}
	if len(gained)+len(lost) == 0 {
		add("its allowlist is written otherwise, and allows the same")
	}
}

func (k *Key) allows(e Endpoint) bool {
	return slices.ContainsFunc(k.Allow, func(r Rule) bool { return r.Matches(e.Method, e.Path) })
}

func listed(names []string) string {
	if more := len(names) - listedAtMost; more > 1 {
		return fmt.Sprintf("%s and %d more", strings.Join(names[:listedAtMost], ", "), more)
	}
	return strings.Join(names, ", ")
}
