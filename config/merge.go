package config

import (
	"cmp"
	"crypto/pbkdf2"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"maps"
	"slices"

	"frontdesk/config/strictyaml"
)

// merger makes one configuration of its files, and finds where they conflict.
type merger struct {
	*Config
	names    map[string]where
	hashes   map[Digest]where
	problems strictyaml.Problems
}

// where is the place of a key, or of one of its hashes.
type where struct {
	source    *source
	key, hash int
}

// merge makes one configuration of the main file and the included files. It does not set its hash.
func merge(files []*source) *merger {
	c := *files[0].base
	m := &merger{Config: &c, names: map[string]where{}, hashes: map[Digest]where{}}
	keys := make([][]Key, len(files))
	for i, s := range files {
		m.keys(s)
		keys[i] = s.keys
		c.files = append(c.files, s.path)
		if s.keyless {
			c.keyless = append(c.keyless, s.path)
		}
	}
	c.APIKeys = slices.Concat(keys...)
	return m
}

func (m *merger) keys(s *source) {
	for i := range s.keys {
		key := &s.keys[i]
		if key.named {
			if first, twice := m.names[key.Name]; twice {
				m.fail(s, key.nameAt, keyPath(i)+".name", ruleNameTwice, "found %s, which %s, expected a name of its own",
					strictyaml.Quote(cmp.Or(key.written, key.Name)), first.has(s, keyPath(first.key)+".name"))
			} else {
				m.names[key.Name] = where{s, i, 0}
			}
		}
		for j, hash := range key.Hashes {
			if hash.Hash == (Digest{}) {
				continue
			}
			if first, twice := m.hashes[hash.Hash]; twice {
				m.fail(s, key.hashAt[j], hashPath(i, j), ruleHashTwice, "the same hash as %s, expected one of its own", first.at(s, hashPath(first.key, first.hash)))
			} else {
				m.hashes[hash.Hash] = where{s, i, j}
			}
		}
	}
}

func keyPath(i int) string     { return fmt.Sprintf("api_keys[%d]", i) }
func hashPath(i, j int) string { return fmt.Sprintf("api_keys[%d].key_sha256[%d]", i, j) }

// has and at describe a position for a message about a file: by its path in the same file, or by file
// and line in another one.
func (w where) has(in *source, path string) string {
	if w.source == in {
		return "is already " + path
	}
	return w.at(in, path) + " has already"
}

func (w where) at(in *source, path string) string {
	if w.source == in {
		return path
	}
	key := &w.source.keys[w.key]
	at := key.nameAt
	if len(key.hashAt) > w.hash && path == hashPath(w.key, w.hash) {
		at = key.hashAt[w.hash]
	}
	return fmt.Sprintf("%s:%d", w.source.path, at.line)
}

func (m *merger) fail(s *source, at spot, path, rule, format string, args ...any) {
	m.problems = append(m.problems, strictyaml.Problem{
		File: s.path, Line: int(at.line), Column: int(at.column), Path: path, Message: fmt.Sprintf(format, args...), Rule: rule,
	})
}

// hashOf returns a short hash of the text of the files and the values of the variables that they
// refer to. Both may be secret, so the hash is slow to compute: guessing a secret from it takes
// long.
func hashOf(files []*source) string {
	all := sha256.New()
	for _, s := range files {
		all.Write(s.text[:])
		for _, name := range slices.Sorted(maps.Keys(s.variables)) {
			fmt.Fprintf(all, "%s=%q\n", name, s.variables[name])
		}
	}
	const rounds = 20_000
	short, err := pbkdf2.Key(sha256.New, string(all.Sum(nil)), []byte("frontdesk configuration"), rounds, 6)
	if err != nil {
		return "" // only wrong lengths make it fail
	}
	return hex.EncodeToString(short)
}
