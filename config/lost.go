package config

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"frontdesk/config/strictyaml"
)

// Lost finds api_keys that a change removes by accident:
//
//   - A file that had keys still exists, but has none any more: it was cut short, or its disk was full.
//   - A pattern matched files with keys, and now matches none of them: its folder is gone, was replaced
//     or is hidden by a mount. If the pattern had several files and others of them stay, one was deleted
//     on purpose.
//   - include is gone, but the files that it named are still there: the main file was cut short.
//
// On purpose are also api_keys: [] in a file that did not have it before, include: [], and the removal of
// an entry from include. Keys that moved to another file are not lost. The error is [strictyaml.Problems].
func Lost(before, after *Config) error {
	l := loss{before: before, after: after, there: make(map[string]bool, len(after.APIKeys)), had: keysByFile(before), has: keysByFile(after)}
	for i := range after.APIKeys {
		l.there[after.APIKeys[i].Name] = true
	}
	for _, file := range after.files {
		if names := l.had[file]; l.gone(names) && len(l.has[file]) == 0 && !slices.Contains(after.keyless, file) {
			l.fail(file, "api_keys", "found no api_key, and %s in force from here: bring the file back, or write api_keys: [] to end what it had", inForce(names))
		}
	}
	if after.Include == nil {
		l.unnamed()
	}
	for i, entry := range after.Include {
		if hasMeta(entry) {
			l.pattern(i)
		}
	}
	return l.problems.Err()
}

// loss collects problems of lost keys.
type loss struct {
	before, after *Config
	there         map[string]bool     // names of keys, after
	had, has      map[string][]string // names of keys by file, before and after
	problems      strictyaml.Problems
}

func keysByFile(c *Config) map[string][]string {
	all := map[string][]string{}
	for i := range c.APIKeys {
		file := c.APIKeys[i].at.File
		all[file] = append(all[file], c.APIKeys[i].Name)
	}
	return all
}

// gone reports whether none of these keys exists any more, in any file.
func (l *loss) gone(names []string) bool {
	return len(names) > 0 && !slices.ContainsFunc(names, func(name string) bool { return l.there[name] })
}

// pattern judges one entry of include.
func (l *loss) pattern(entry int) {
	pattern := relativeTo(l.after.files[0], l.after.Include[entry])
	left, others := false, false // whether it matches any file, and any that is new
	for _, file := range l.after.files[1:] {
		if !matches(pattern, file) {
			continue
		}
		if len(l.has[file]) > 0 || l.saysSo(file) {
			return
		}
		left, others = true, others || !slices.Contains(l.before.files, file)
	}
	var names []string
	files := 0
	for _, file := range l.before.files[1:] {
		if keys := l.had[file]; matches(pattern, file) && len(keys) > 0 {
			names, files = append(names, keys...), files+1
		}
	}
	if l.gone(names) && (files > 1 || others || !left) {
		l.fail(l.after.files[0], fmt.Sprintf("include[%d]", entry),
			"found no api_key in any file that %s matches, and %s in force from there: bring the files back, or take the entry out, or write api_keys: [] into one of them, to end what they had",
			strictyaml.Quote(l.after.Include[entry]), inForce(names))
	}
}

// unnamed judges a configuration that no longer has include.
func (l *loss) unnamed() {
	var names, files []string
	for _, file := range l.before.files[1:] {
		if keys := l.had[file]; l.gone(keys) && isFile(file) {
			names, files = append(names, keys...), append(files, file)
		}
	}
	if len(names) > 0 {
		l.fail(l.after.files[0], "include", "found no include, and %s in force from %s, which is still there: bring the line back, or write include: [] to end what it had", inForce(names), files[0])
	}
}

func isFile(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

// saysSo reports whether a file has api_keys: [] but did not have it before.
func (l *loss) saysSo(file string) bool {
	return slices.Contains(l.after.keyless, file) && !slices.Contains(l.before.keyless, file)
}

func matches(pattern, file string) bool {
	ok, err := filepath.Match(pattern, file)
	return ok && err == nil
}

func inForce(names []string) string {
	if len(names) == 1 {
		return names[0] + " is"
	}
	return Listed(names, 3) + " are"
}

func (l *loss) fail(file, path, format string, args ...any) {
	l.problems = append(l.problems, strictyaml.Problem{
		File: file, Line: 1, Column: 1, Path: path, Message: l.before.hide.Hide(l.after.hide.Hide(fmt.Sprintf(format, args...))),
	})
}
