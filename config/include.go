package config

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"unicode"

	"frontdesk/config/strictyaml"
)

// include is an included file, and the entry of include that names it.
type include struct {
	path    string
	matched bool // matched by a pattern, so a folder is skipped
	main    *Config
	index   int
}

func (i include) setting() string { return fmt.Sprintf("include[%d]", i.index) }

// problem returns a problem with the entry, which is shown as it is written.
func (i include) problem(rule, format string, args ...any) strictyaml.Problem {
	return i.main.Problem(i.setting(), rule, format, args...)
}

// included finds the files that the main file includes: those of each entry in
// the order of their names, each file once.
func (l *Loader) included(main *source) (files []include, problems strictyaml.Problems) {
	seen := map[string]bool{filepath.Clean(main.path): true}
	for i, entry := range main.base.Include {
		one := include{main: main.base, index: i}
		found, rule, fault := one.find(main.path, entry, l.known.Written, seen)
		if fault != "" {
			problems = append(problems, one.problem(rule, "found %s, %s", main.base.outline.Found(one.setting(), entry), fault))
		}
		files = append(files, found...)
	}
	return files, problems
}

// find returns the files of one entry; fault says what is wrong with it.
func (i include) find(main, entry string, written map[string][]byte, seen map[string]bool) (files []include, rule, fault string) {
	switch {
	case entry == "":
		return nil, "", "" // the entry could not be decoded, which is reported elsewhere
	case strings.Contains(entry, "**"):
		return nil, ruleIncludePattern, "expected * for the names of one folder: ** is not known"
	}
	pattern := relativeTo(main, entry)
	if !hasMeta(entry) {
		if _, err := os.Stat(pattern); errors.Is(err, syscall.ELOOP) {
			return nil, ruleIncludeMissing, "whose links lead in a loop, expected a file"
		} else if err != nil {
			return nil, ruleIncludeMissing, "and no such file, expected one, or a pattern such as keys.d/*.yaml, which may match none"
		}
		i.path = pattern
		if seen[pattern] {
			return nil, ruleIncludeTwice, "which is read already"
		}
		seen[pattern] = true
		return []include{i}, "", ""
	}
	paths, err := filepath.Glob(pattern)
	if err != nil {
		return nil, ruleIncludePattern, "expected a pattern such as keys.d/*.yaml"
	}
	if failed, ok := errors.AsType[*fs.PathError](readable(pattern)); ok {
		return nil, ruleIncludeUnreadable, fmt.Sprintf("and a folder of it cannot be read: %s", failed.Err)
	}
	for path := range written {
		if matches(pattern, path) && !slices.Contains(paths, path) {
			paths = append(paths, path)
		}
	}
	slices.Sort(paths)
	for _, path := range paths {
		if seen[path] || leftover(pattern, path) {
			continue
		}
		if strings.ContainsFunc(path, func(r rune) bool { return !unicode.IsGraphic(r) }) {
			return nil, ruleIncludePattern, fmt.Sprintf("and a file %q, expected no characters in names that cannot be seen", path)
		}
		seen[path] = true
		i.path, i.matched = path, true
		files = append(files, i)
	}
	return files, "", ""
}

// readable returns why a folder of a pattern cannot be read; Glob would treat it as
// empty.
func readable(pattern string) error {
	var folders []string
	folder := filepath.Dir(pattern)
	for ; hasMeta(folder); folder = filepath.Dir(folder) {
		found, _ := filepath.Glob(folder) // the caller has judged the pattern
		folders = append(folders, slices.DeleteFunc(found, func(path string) bool { return !IsFolder(path) })...)
	}
	for _, folder := range append(folders, folder) {
		if _, err := os.ReadDir(folder); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	return nil
}

// relativeTo resolves a path that a file names, relative to that file.
func relativeTo(main, entry string) string {
	if filepath.IsAbs(entry) {
		return filepath.Clean(entry)
	}
	return filepath.Join(filepath.Dir(main), entry)
}

func hasMeta(path string) bool { return strings.ContainsAny(path, `*?[\`) }

// leftover reports whether a file must be skipped although a pattern matches it: hidden
// files and those in hidden folders (the ..data of a mounted ConfigMap), and files that
// editors and package managers leave behind.
func leftover(pattern, path string) bool {
	wanted, got := strings.Split(pattern, string(filepath.Separator)), strings.Split(path, string(filepath.Separator))
	for i, name := range got {
		if strings.HasPrefix(name, ".") && i < len(wanted) && !strings.HasPrefix(wanted[i], ".") {
			return true
		}
	}
	name := got[len(got)-1]
	if strings.HasPrefix(name, "#") || strings.HasSuffix(name, "~") {
		return true
	}
	return slices.Contains([]string{".bak", ".orig", ".rej", ".swp", ".tmp", ".dpkg-old", ".dpkg-new", ".dpkg-dist", ".rpmsave", ".rpmnew"}, filepath.Ext(name))
}

// IsFolder reports whether there is a folder, or a link to one.
func IsFolder(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.IsDir()
}
