package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
)

// file is one of an archive, with its path there.
type file struct {
	name string
	mode fs.FileMode
	data []byte
}

// pages are the files and folders of the tree that go along with the program: what there
// is to read, and all that it leads to.
var pages = []string{
	"README.md", "CHANGELOG.md", "docs",
	"deploy/compose", "deploy/grafana", "deploy/kubernetes", "deploy/prometheus", "deploy/systemd",
}

// beside is what belongs beside the program of a platform.
func beside(ctx context.Context, t tree, p platform, l linked, manual []byte) ([]file, error) {
	files := []file{{"NOTICES.txt", 0o644, notices(t, p, l)}, {"frontdesk.1", 0o644, manual}}
	names, err := pageFiles(ctx)
	if err != nil {
		return nil, err
	}
	for _, name := range names {
		data, err := os.ReadFile(name)
		if err != nil {
			return nil, err
		}
		files = append(files, file{name, 0o644, data})
	}
	return files, nil
}

// pageFiles are the files of pages: those that git knows, or without git all but what npm
// put there. What checks them, or embeds them, stays behind.
func pageFiles(ctx context.Context) (names []string, err error) {
	said, err := exec.CommandContext(ctx, "git", append([]string{"ls-files", "-z", "--"}, pages...)...).Output()
	if err == nil && len(said) > 0 {
		names = strings.Split(strings.TrimSuffix(string(said), "\x00"), "\x00")
	} else {
		for _, page := range pages {
			err := filepath.WalkDir(page, func(name string, entry fs.DirEntry, err error) error {
				if err == nil && entry.IsDir() && entry.Name() == "node_modules" {
					return fs.SkipDir
				}
				if err == nil && !entry.IsDir() {
					names = append(names, filepath.ToSlash(name))
				}
				return err
			})
			if err != nil {
				return nil, err
			}
		}
	}
	return slices.DeleteFunc(names, func(name string) bool { return strings.Contains(name, "/validate/") || name == "docs/docs.go" }), nil
}

// writeBeside writes what belongs beside a program into a folder.
func writeBeside(ctx context.Context, folder, program string, p platform) error {
	if program == "" {
		return errors.New("-beside needs -program")
	}
	t, err := readTree(ctx)
	if err != nil {
		return err
	}
	l, err := readLinked(ctx, p)
	if err != nil {
		return err
	}
	manual, err := manualPage(ctx, t, program)
	if err != nil {
		return err
	}
	files, err := beside(ctx, t, p, l, manual)
	if err != nil {
		return err
	}
	for _, f := range files {
		name := filepath.Join(folder, filepath.FromSlash(f.name))
		if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			return err
		}
		if err := os.WriteFile(name, f.data, f.mode); err != nil {
			return err
		}
	}
	return nil
}

// notices are the licences of what is linked, first in short and then in full.
func notices(t tree, p platform, l linked) []byte {
	var short, full strings.Builder
	add := func(name, version, licence string, texts []text) {
		fmt.Fprintf(&short, "%s %s: %s\n", name, version, licence)
		for _, text := range texts {
			fmt.Fprintf(&full, "\n%s\n%s %s, %s\n\n%s\n", strings.Repeat("=", 80), name, version, text.name, strings.TrimSpace(text.words))
		}
	}
	for _, o := range l.others {
		add(o.name, o.version, o.licence, o.texts)
	}
	for _, m := range l.modules {
		add(m.Path, m.Version, m.licence, m.texts)
	}
	return fmt.Appendf(nil, "In frontdesk %s for %s there are works of others. They are, each with its licence\n(as SPDX calls it; std is Go's own library):\n\n%s%s", t.version, p, short.String(), full.String())
}
