package config

import (
	"fmt"
	"path/filepath"
	"slices"

	"frontdesk/config/strictyaml"
)

// Lost finds api_keys that a change takes away without saying so: those of a file that is
// still there and has none any more (it was cut short, or was on a disk that was full), and
// those of a pattern that matches no file any more (its folder is gone, cannot be read, or
// lies under a mount). A file that says api_keys: [], one that is deleted while others of
// its pattern stay, and an entry that is no longer in include are meant so, and keys that
// went on in another file are not lost. The error is [strictyaml.Problems].
func Lost(before, after *Config) error {
	l := loss{after: after, there: make(map[string]bool, len(after.APIKeys)), keys: keysByFile(before)}
	for i := range after.APIKeys {
		l.there[after.APIKeys[i].Name] = true
	}
	now := keysByFile(after)
	for _, file := range after.files {
		if names := l.keys[file]; l.gone(names) && len(now[file]) == 0 && !slices.Contains(after.keyless, file) {
			l.fail(file, "api_keys", "found none, where %s in force: api_keys: [] says that they are to be gone", number(len(names)))
		}
	}
	for i, entry := range after.Include {
		if hasMeta(entry) {
			l.pattern(i, before.files)
		}
	}
	return l.problems.Err()
}

// loss is what was found of keys that are lost.
type loss struct {
	after    *Config
	there    map[string]bool     // names of keys, after
	keys     map[string][]string // names of keys before, by file
	problems strictyaml.Problems
}

func keysByFile(c *Config) map[string][]string {
	all := map[string][]string{}
	for i := range c.APIKeys {
		file := c.APIKeys[i].at.File
		all[file] = append(all[file], c.APIKeys[i].Name)
	}
	return all
}

// gone tells whether none of some keys is there any more, in whatever file.
func (l *loss) gone(names []string) bool {
	return len(names) > 0 && !slices.ContainsFunc(names, func(name string) bool { return l.there[name] })
}

// pattern judges one entry of include by the files that there were.
func (l *loss) pattern(entry int, before []string) {
	pattern := beside(l.after.files[0], l.after.Include[entry])
	matches := func(file string) bool {
		ok, err := filepath.Match(pattern, file)
		return ok && err == nil
	}
	if slices.ContainsFunc(l.after.files[1:], matches) {
		return
	}
	var names []string
	for _, file := range before[1:] {
		if matches(file) {
			names = append(names, l.keys[file]...)
		}
	}
	if l.gone(names) {
		l.fail(l.after.files[0], fmt.Sprintf("include[%d]", entry),
			"found no file that %s matches, where %s in force: a file that says api_keys: [], or no such entry, says that they are to be gone",
			strictyaml.Quote(l.after.Include[entry]), number(len(names)))
	}
}

func number(keys int) string {
	if keys == 1 {
		return "one api_key is"
	}
	return fmt.Sprintf("%d api_keys are", keys)
}

func (l *loss) fail(file, path, format string, args ...any) {
	l.problems = append(l.problems, strictyaml.Problem{
		File: file, Line: 1, Column: 1, Path: path, Message: l.after.hide.Hide(fmt.Sprintf(format, args...)),
	})
}
