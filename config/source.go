package config

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"frontdesk/config/strictyaml"
)

// source is a file of a configuration. It is judged once its doc is nil.
type source struct {
	path string
	stamp
	variables map[string]string // environment variables that it refers to

	doc      *strictyaml.Document
	base     *Config // the settings of the main file, without keys; nil for included files
	keys     []Key
	keyless  bool // the file has api_keys: []
	problems strictyaml.Problems
}

// spot is a place in a file.
type spot struct{ line, column int32 }

func spotOf(p strictyaml.Problem) spot { return spot{int32(p.Line), int32(p.Column)} }

var errFolder = errors.New("is a directory")

// maxFile bounds a file, in bytes: some 20,000 keys with 100 entries each.
const maxFile = 64 * MiB

// includedFile is an included file, which has only keys.
type includedFile struct {
	APIKeys []Key `yaml:"api_keys"`
}

// read reads a file, unless it is unchanged since it was last read and found valid, and records its
// stamp.
func (l *Loader) read(path string, main bool, before *source, now time.Time) (*source, error) {
	at, err := look(path, now)
	defer func() { l.looked.note(path, at) }()
	written, isWritten := l.known.Written[path]
	switch {
	case isWritten:
		return decodeSource(path, written, main, l.known.Env), nil
	case err != nil:
		return nil, err
	case at.info.IsDir():
		return nil, fmt.Errorf("read %s: %w", path, errFolder)
	case !main && !at.info.Mode().IsRegular(): // reading a pipe may block, and /dev/zero has no end
		return nil, fmt.Errorf("read %s: is no regular file", path)
	}
	// A file with problems is read again, since the problems may be gone, such as an unset variable.
	known := before != nil && len(before.problems) == 0
	if known && before.settled && before.sameAs(at) {
		at.text = before.text
		return before, nil
	}
	src, err := readFile(path)
	if err != nil {
		return nil, err
	}
	at.text = sha256.Sum256(src)
	var s *source
	if known && at.text == before.text {
		same := *before
		s = &same
	} else {
		s = decodeSource(path, src, main, l.known.Env)
	}
	s.stamp = at
	return s, nil
}

func readFile(path string) ([]byte, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	src, err := io.ReadAll(io.LimitReader(file, int64(maxFile)+1))
	if err == nil && len(src) > int(maxFile) {
		err = fmt.Errorf("read %s: is larger than %d MiB", path, maxFile/MiB)
	}
	return src, err
}

// decodeSource decodes a file, but does not judge it.
func decodeSource(path string, src []byte, main bool, env func(string) (string, bool)) *source {
	s := &source{path: path, stamp: stamp{text: sha256.Sum256(src)}, variables: map[string]string{}}
	remembering := func(name string) (string, bool) {
		value, ok := env(name)
		s.variables[name] = value
		return value, ok
	}
	var file includedFile
	into := any(&file)
	if main {
		s.base = Default()
		into = s.base
	}
	s.doc, s.problems = strictyaml.Decode(s.path, src, into, strictyaml.Options{Expand: Expander(remembering), Formats: formats})
	s.keys = file.APIKeys
	lines := s.doc.Lines("api_keys")
	s.keyless = lines != nil && len(lines) == 0
	if main {
		s.keys = s.base.APIKeys
		s.base.APIKeys = nil
		s.base.outline = s.doc.Outside("api_keys")
	}
	for i := range s.keys {
		s.keys[i].locate(s.doc, fmt.Sprintf("api_keys[%d]", i), s.path)
	}
	return s
}

// judge finds the problems within the file, and then drops the positions.
func (s *source) judge(j judging) {
	c := checker{judging: j, Config: s.base, doc: s.doc, problems: s.problems}
	if s.base != nil {
		c.validate()
	}
	c.keys(s.keys)
	s.problems, s.doc = c.problems, nil
}

// readParts reads the included files, on all processors.
func (l *Loader) readParts(paths []include, j judging, now time.Time) (parts []*source, unreadable strictyaml.Problems) {
	parts = make([]*source, len(paths))
	failures := make([]error, len(paths))
	var next atomic.Int64
	var readers sync.WaitGroup
	for range min(runtime.GOMAXPROCS(0), len(paths)) {
		readers.Go(func() {
			own := j.forOne()
			for {
				i := int(next.Add(1)) - 1
				if i >= len(paths) {
					return
				}
				parts[i], failures[i] = l.read(paths[i].path, false, l.parts[paths[i].path], now)
				if failures[i] == nil && parts[i].doc != nil {
					parts[i].judge(own)
				}
			}
		})
	}
	readers.Wait()
	l.parts = make(map[string]*source, len(paths))
	for i, part := range parts {
		if errors.Is(failures[i], errFolder) && paths[i].matched {
			continue
		}
		if failures[i] != nil {
			unreadable = append(unreadable, paths[i].problem(ruleIncludeUnreadable, "%s", failures[i]))
			continue
		}
		l.parts[part.path] = part
	}
	return slices.DeleteFunc(parts, func(s *source) bool { return s == nil }), unreadable
}
