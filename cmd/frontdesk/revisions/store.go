// Package revisions keeps the configurations that a gateway had, in a folder of its own: of each
// when it came, by what and whom, whether it was taken, what it changed, and of those that were
// taken the texts of the files. It neither judges nor compares configurations.
package revisions

import (
	"compress/gzip"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"frontdesk/cmd/frontdesk/atomicfile"
	"frontdesk/config"
)

// What is kept at most.
const (
	Most        = 50
	MostRefused = Most / 2 // of these, so that a program that tries again and again pushes out nothing else
	mostTexts   = 64 << 20 // bytes of all texts, as they are packed; the oldest give way
	mostOfOne   = 512 << 20
)

// Revision is a configuration that was taken, or refused.
type Revision struct {
	N           int                 `json:"n"`
	At          time.Time           `json:"at"`
	Digest      string              `json:"digest,omitempty"` // its hash; "" if it could not be read
	Trigger     string              `json:"trigger"`
	Who         string              `json:"who,omitempty"` // as the list of acts has it
	Refused     bool                `json:"refused"`
	Problems    []string            `json:"problems,omitempty"` // why it was refused
	Again       int                 `json:"again,omitempty"`    // how often it was refused again for the same
	Last        time.Time           `json:"last,omitzero"`      // when it last was
	Files       []File              `json:"files"`
	Differences []config.Difference `json:"differences"`
	More        int                 `json:"more_differences,omitempty"` // that are too many to be kept
	Unknown     string              `json:"differences_unknown,omitempty"`
	Texts       bool                `json:"texts"` // they are kept, so that it can be brought back
}

// File is a file that was written since the configuration before.
type File struct {
	Path    string    `json:"file"`
	Owner   string    `json:"owner"`
	Written time.Time `json:"written"`
}

// Store is the folder. "" keeps nothing.
type Store string

// List returns what is kept, oldest first. The folder need not exist.
func (s Store) List() (all []Revision, err error) {
	if s == "" {
		return nil, nil
	}
	names, err := os.ReadDir(string(s))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	for _, name := range names {
		number, isOne := strings.CutSuffix(name.Name(), ".json")
		if _, wrong := strconv.Atoi(number); !isOne || wrong != nil {
			continue
		}
		text, failed := os.ReadFile(filepath.Join(string(s), name.Name()))
		var r Revision
		if failed == nil {
			failed = json.Unmarshal(text, &r)
		}
		if failed != nil {
			err = errors.Join(err, fmt.Errorf("%s: %w", filepath.Join(string(s), name.Name()), failed))
			continue
		}
		_, missing := os.Stat(s.file(r.N, "texts"))
		r.Texts = missing == nil
		all = append(all, r)
	}
	slices.SortFunc(all, func(a, b Revision) int { return a.N - b.N })
	return all, err
}

func (s Store) file(n int, kind string) string {
	return filepath.Join(string(s), fmt.Sprintf("%06d.%s", n, kind))
}

// Put keeps a revision, and its texts if there are some. They hold hashes of
// api_keys, and what else is written in the files, so they are for their owner alone.
func (s Store) Put(r Revision, texts []config.Text) error {
	if s == "" {
		return nil
	}
	if err := os.MkdirAll(string(s), 0o700); err != nil {
		return err
	}
	if len(texts) > 0 {
		if err := atomicfile.Write(s.file(r.N, "texts"), 0o600, func(w io.Writer) error { return pack(w, texts) }); err != nil {
			return err
		}
	}
	return atomicfile.Write(s.file(r.N, "json"), 0o600, func(w io.Writer) error { return json.NewEncoder(w).Encode(r) })
}

func pack(w io.Writer, texts []config.Text) error {
	packed := gzip.NewWriter(w)
	return errors.Join(json.NewEncoder(packed).Encode(texts), packed.Close())
}

// Texts returns the files of a revision.
func (s Store) Texts(n int) (texts []config.Text, err error) {
	file, err := os.Open(s.file(n, "texts"))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("the texts of configuration %d are not kept", n)
	}
	if err != nil {
		return nil, err
	}
	defer file.Close()
	packed, err := gzip.NewReader(file)
	if err == nil {
		err = json.NewDecoder(io.LimitReader(packed, mostOfOne)).Decode(&texts)
	}
	if err == nil && len(texts) == 0 {
		err = errors.New("it is empty")
	}
	if err != nil {
		return nil, fmt.Errorf("%s cannot be read: %w", file.Name(), err)
	}
	return texts, nil
}

// Keep removes everything that is not among these, which are in order, oldest first. It returns
// the numbers of those whose texts were too many.
func (s Store) Keep(these []Revision) (dropped []int, err error) {
	if s == "" {
		return nil, nil
	}
	kept := map[string]bool{}
	room := int64(mostTexts)
	for i, r := range slices.Backward(these) {
		kept[filepath.Base(s.file(r.N, "json"))] = true
		info, missing := os.Stat(s.file(r.N, "texts"))
		if missing != nil {
			continue
		}
		if room -= info.Size(); room < 0 && i < len(these)-1 {
			dropped = append(dropped, r.N)
			continue
		}
		kept[filepath.Base(s.file(r.N, "texts"))] = true
	}
	names, err := os.ReadDir(string(s))
	for _, name := range names {
		if !kept[name.Name()] && (strings.HasSuffix(name.Name(), ".json") || strings.HasSuffix(name.Name(), ".texts")) {
			err = errors.Join(err, os.Remove(filepath.Join(string(s), name.Name())))
		}
	}
	return dropped, err
}

// Prune returns those of all, oldest first, that are kept.
func Prune(all []Revision) []Revision {
	refused := 0
	for _, r := range all {
		if r.Refused {
			refused++
		}
	}
	all = slices.DeleteFunc(all, func(r Revision) bool {
		if r.Refused && refused > MostRefused {
			refused--
			return true
		}
		return false
	})
	return all[max(0, len(all)-Most):]
}
