package config

import (
	"crypto/sha256"
)

// Text is a file of a configuration as it is written. It may hold secrets, but none of
// variables: these are written as ${NAME}.
type Text struct {
	Path string
	Text []byte
}

// Texts are the files of the last configuration that Load returned, in the order of
// [Config.Files]. ok is false if one of them has changed since then, or can be read only once,
// as a pipe.
func (l *Loader) Texts() (texts []Text, ok bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	files := []*source{l.main}
	for _, part := range l.asked {
		if s := l.parts[part.path]; s != nil {
			files = append(files, s)
		}
	}
	for _, s := range files {
		if s == nil || !s.info.Mode().IsRegular() {
			return nil, false
		}
		text, err := readFile(s.path)
		if err != nil || sha256.Sum256(text) != s.text {
			return nil, false
		}
		texts = append(texts, Text{s.path, text})
	}
	return texts, true
}

// Read is Load for files that were read before: the main one, and those that it included then.
// If the error is [strictyaml.Problems], what it returns is a draft; see [Loader.Draft].
func Read(texts []Text, known Known) (*Config, error) {
	l := NewLoader(texts[0].Path, known)
	now := l.known.Now()
	main := decodeSource(texts[0].Path, texts[0].Text, true, l.known.Env)
	endpoints, wrong := l.endpoints(main.base)
	judged := newJudging(main.base, endpoints)
	main.judge(judged, now)
	parts := make([]*source, len(texts)-1)
	for i, t := range texts[1:] {
		parts[i] = decodeSource(t.Path, t.Text, false, l.known.Env)
		parts[i].judge(judged, now)
	}
	return combine(main, parts, wrong, nil)
}

// Included are the files that a main file would include now.
func Included(main Text, known Known) []string {
	l := NewLoader(main.Path, known)
	files, _ := l.included(decodeSource(main.Path, main.Text, true, l.known.Env))
	paths := make([]string, len(files))
	for i, f := range files {
		paths[i] = f.path
	}
	return paths
}
