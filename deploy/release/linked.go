package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// linked is what the program of a platform is made of.
type linked struct {
	goVersion string
	modules   []*module // by path
	needs     []string  // modules that the program itself uses
	others    []other
}

// module is one of which at least one package is linked.
type module struct {
	Path, Version, Sum, Dir string

	licence string   // an SPDX expression
	texts   []text   // of licences, notices and patents, in the order of their names
	needs   []string // paths of modules
}

// other is what is in the program and is no Go module.
type other struct {
	name, version, purl, licence string
	texts                        []text
}

type text struct{ name, words string }

// listed is what is read of go list.
type listed struct {
	ImportPath, Dir string
	Standard        bool
	Imports         []string
	Module          *struct {
		Path, Version, Sum, Dir string
		Main                    bool
	}
}

// readLinked asks Go what the program consists of on a platform, and reads the licences.
func readLinked(ctx context.Context, p platform) (linked, error) {
	packages, err := list(ctx, p)
	if err != nil {
		return linked{}, err
	}
	modules, owner, folders := map[string]*module{}, map[string]string{}, map[string][]string{}
	for _, in := range packages {
		m := in.Module
		if m == nil {
			continue
		}
		owner[in.ImportPath] = m.Path
		if !m.Main {
			modules[m.Path] = &module{Path: m.Path, Version: m.Version, Sum: m.Sum, Dir: m.Dir}
			folders[m.Path] = append(folders[m.Path], in.Dir)
		}
	}
	needs := map[string]map[string]bool{}
	for _, in := range packages {
		for _, imported := range in.Imports {
			if from, to := owner[in.ImportPath], owner[imported]; to != "" && from != to {
				if needs[from] == nil {
					needs[from] = map[string]bool{}
				}
				needs[from][to] = true
			}
		}
	}
	l := linked{needs: slices.Sorted(maps.Keys(needs["frontdesk"]))}
	for _, path := range slices.Sorted(maps.Keys(modules)) {
		m := modules[path]
		m.needs = slices.Sorted(maps.Keys(needs[path]))
		if m.texts, err = licences(m.Dir, folders[path]); err != nil {
			return l, err
		}
		if m.licence, err = expression(m.texts); err != nil {
			return l, fmt.Errorf("%s: %w", m.Path, err)
		}
		l.modules = append(l.modules, m)
	}
	l.goVersion, l.others, err = readOthers(ctx, p)
	return l, err
}

// list is what go list says of the program and of all that it imports.
func list(ctx context.Context, p platform) (packages []listed, err error) {
	said, err := run(ctx, p, "go", "list", "-deps", "-json=ImportPath,Dir,Standard,Imports,Module", "./cmd/frontdesk")
	if err != nil {
		return nil, fmt.Errorf("the modules of go.mod have to be here (with the network, go mod download fetches them, once): %w", err)
	}
	for decoder := json.NewDecoder(bytes.NewReader(said)); ; {
		var one listed
		if err := decoder.Decode(&one); errors.Is(err, io.EOF) {
			return packages, nil
		} else if err != nil {
			return nil, err
		}
		packages = append(packages, one)
	}
}

// readOthers is Go's own library.
func readOthers(ctx context.Context, p platform) (_ string, others []other, err error) {
	said, err := run(ctx, p, "go", "env", "GOVERSION", "GOROOT")
	if err != nil {
		return "", nil, err
	}
	goVersion, root, _ := strings.Cut(strings.TrimSpace(string(said)), "\n")
	texts, err := licences(root, []string{root})
	if err != nil {
		return "", nil, err
	}
	version := strings.TrimPrefix(goVersion, "go")
	return goVersion, []other{{"std", version, "pkg:golang/std@" + version, "BSD-3-Clause", texts}}, nil
}

// run runs a program for a platform; what it complained of is in the error.
func run(ctx context.Context, p platform, name string, args ...string) ([]byte, error) {
	var complaint bytes.Buffer
	command := exec.CommandContext(ctx, name, args...)
	command.Env, command.Stderr = p.environment(), &complaint
	said, err := command.Output()
	if err != nil {
		err = fmt.Errorf("%s %s, for %s: %w\n%s", name, args[0], p, err, strings.TrimSpace(complaint.String()))
	}
	return said, err
}

var (
	legal   = regexp.MustCompile(`(?i)^(un)?(licen[cs]e|copying|copyright|notice|patents)`)
	licence = regexp.MustCompile(`(?i)^(licen[cs]e|copying)(\.(txt|md))?$`)
)

// licences are the legal texts in those folders of a module, and in what is above them.
func licences(root string, folders []string) (texts []text, err error) {
	seen := map[string]bool{}
	for _, folder := range folders {
		for ; !seen[folder]; folder = filepath.Dir(folder) {
			seen[folder] = true
			if folder == root {
				break
			}
		}
	}
	for _, folder := range slices.Sorted(maps.Keys(seen)) {
		entries, err := os.ReadDir(folder)
		if err != nil {
			return nil, err
		}
		for _, entry := range entries {
			if !legal.MatchString(entry.Name()) || !entry.Type().IsRegular() || strings.HasSuffix(entry.Name(), ".go") {
				continue
			}
			words, err := os.ReadFile(filepath.Join(folder, entry.Name()))
			if err != nil {
				return nil, err
			}
			name, err := filepath.Rel(root, filepath.Join(folder, entry.Name()))
			if err != nil {
				return nil, err
			}
			texts = append(texts, text{filepath.ToSlash(name), string(words)})
		}
	}
	return texts, nil
}

// known are licences by what stands in them and in no other. All of them let the program
// be passed on with their texts beside it; whoever adds one has read it.
var known = []struct {
	id     string
	phrase *regexp.Regexp
}{
	{"Apache-2.0", regexp.MustCompile(`Apache License,? Version 2\.0`)},
	{"BSD-3-Clause", regexp.MustCompile(`Redistribution and use in source and binary forms.*(endorse|promote)`)},
	{"BSD-2-Clause", regexp.MustCompile(`Redistribution and use in source and binary forms`)},
	{"ISC", regexp.MustCompile(`Permission to use, copy, modify, and(/or)? distribute this software for any purpose`)},
	{"MIT", regexp.MustCompile(`Permission is hereby granted, free of charge, to any person`)},
	{"MPL-2.0", regexp.MustCompile(`Mozilla Public License,? [Vv]ersion 2\.0`)},
}

// expression says under which licences a module is, going by its texts. One that is not
// known is an error: somebody has to read it before it is shipped.
func expression(texts []text) (string, error) {
	found := map[string]bool{}
	for _, t := range texts {
		if !licence.MatchString(filepath.Base(t.name)) {
			continue
		}
		words, any := strings.Join(strings.Fields(t.words), " "), false
		for _, k := range known {
			if !k.phrase.MatchString(words) || k.id == "BSD-2-Clause" && found["BSD-3-Clause"] {
				continue
			}
			found[k.id], any = true, true
		}
		if !any {
			return "", fmt.Errorf("%s is of no licence that is known (known, in deploy/release/linked.go)", t.name)
		}
	}
	if len(found) == 0 {
		return "", errors.New("there is no licence")
	}
	return strings.Join(slices.Sorted(maps.Keys(found)), " AND "), nil
}
