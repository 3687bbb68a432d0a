// Package rollback is frontdesk config: it lists and compares the configurations that a gateway had
// (commands.go), and brings the files of an earlier one back, but for api_keys that have ended since.
// It is for the command line: a gateway takes the files up as it takes any change.
package rollback

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"frontdesk/cmd/frontdesk/desk"
	"frontdesk/config"
)

// Plan is what a rollback does.
type Plan struct {
	Config      *config.Config      // that is to be in force
	Differences []config.Difference // from what is in force
	Ended       []Ended             // what ends earlier than the earlier configuration had it
	Returning   []string            // where secrets and certificates stand that come back and are not in force now
	Broken      []string            // files that may say of the end of an api_key what could not be read
	Files       []File
}

// Ended is a hash that stays ended, or keeps its end.
type Ended struct {
	Key    string        `json:"key"`
	SHA256 string        `json:"sha256"`
	End    config.Expiry `json:"end"`
	Why    string        `json:"why"`
}

// File is a file that is changed.
type File struct {
	Path  string
	Aside string // the name that it is kept under instead; "" if it is written
	old   []byte // nil if there was none
	text  []byte
}

// Prepare plans to bring texts back in the place of what is in force, where the main file is.
// Nothing is written. The error is [strictyaml.Problems] if they are no longer right.
func Prepare(main string, texts, inForce []config.Text, now time.Time) (*Plan, error) {
	path, err := filepath.Abs(main)
	if err != nil {
		return nil, err
	}
	if path != texts[0].Path {
		return nil, desk.Misused("the history is that of %s, and not of %s", texts[0].Path, path)
	}
	target, err := desk.ReadForKeys(texts)
	if err != nil {
		return nil, fmt.Errorf("the earlier configuration cannot be read: %w", err)
	}
	current, err := desk.ReadForKeys(inForce)
	if err != nil {
		return nil, fmt.Errorf("what is in force cannot be read, so that nobody knows which api_keys have ended: %w", err)
	}
	disk, err := readDisk(target, current)
	if err != nil {
		return nil, err
	}
	p := &Plan{}
	ends := p.endsOf(target, current, disk, now)
	if texts, err = written(texts, target, ends); err != nil {
		return nil, err
	}
	if p.Config, err = desk.JudgedTexts(texts); err != nil {
		return nil, err
	}
	if err := config.Lost(current, p.Config); err != nil { // which a gateway would refuse
		return nil, err
	}
	p.Differences, p.Returning = desk.Differences(current, p.Config), returning(current, p.Config)
	return p, p.files(texts, disk)
}

// returning names the secrets and certificates that a configuration has and the one in force has not.
func returning(current, target *config.Config) (paths []string) {
	for _, c := range config.Changes(current, target) {
		secret := c.Secret || strings.HasSuffix(c.Path, ".client_certificates")
		if secret && c.To != "" && !slices.Contains(paths, c.Path) {
			paths = append(paths, c.Path)
		}
	}
	return paths
}

// readDisk reads the files of configurations as they are now; those that are missing have no text.
func readDisk(configurations ...*config.Config) (map[string][]byte, error) {
	disk := map[string][]byte{}
	for _, c := range configurations {
		for _, path := range c.Files() {
			text, err := os.ReadFile(path) // #nosec G304 -- the operator's own files
			if err != nil && !errors.Is(err, fs.ErrNotExist) {
				return nil, err
			}
			if err == nil {
				disk[path] = text
			}
		}
	}
	return disk, nil
}

// written are the texts with these ends. They have been read, and mean what is intended.
func written(texts []config.Text, target *config.Config, ends map[config.Digest]config.Expiry) ([]config.Text, error) {
	texts, err := config.WithEnds(texts, ends)
	if err != nil {
		return nil, fmt.Errorf("%w; nothing was changed", err)
	}
	read, err := desk.ReadForKeys(texts)
	if err != nil {
		return nil, err
	}
	meant := *target
	meant.APIKeys = slices.Clone(meant.APIKeys)
	for i := range meant.APIKeys {
		key := &meant.APIKeys[i]
		key.Hashes = slices.Clone(key.Hashes)
		for j := range key.Hashes {
			if end, ok := ends[key.Hashes[j].Hash]; ok {
				key.Hashes[j].Expires = end
			}
		}
	}
	if changes := config.Changes(&meant, read); len(changes) > 0 {
		return nil, fmt.Errorf("with the ends of api_keys written in, the files would not mean what was meant (%s); nothing was changed", changes[0])
	}
	return texts, nil
}

// files plans what is written, and what is put aside: files that the earlier configuration would
// include now and did not have.
func (p *Plan) files(texts []config.Text, disk map[string][]byte) error {
	of := map[string]bool{}
	for _, t := range texts {
		of[t.Path] = true
		if old, there := disk[t.Path]; !there || !bytes.Equal(old, t.Text) {
			p.Files = append(p.Files, File{Path: t.Path, old: old, text: t.Text})
		}
	}
	for _, path := range desk.IncludedNow(texts[0]) {
		if of[path] {
			continue
		}
		info, err := os.Stat(path)
		if err != nil || info.IsDir() {
			continue
		}
		aside, err := freeName(path)
		if err != nil {
			return err
		}
		p.Files = append(p.Files, File{Path: path, Aside: aside})
	}
	return nil
}

// freeName is a name beside a file that no pattern includes, and that is free.
func freeName(path string) (string, error) {
	for n := range 1000 {
		name := path + ".bak"
		if n > 0 {
			name = fmt.Sprintf("%s.%d.bak", path, n)
		}
		if _, err := os.Lstat(name); errors.Is(err, fs.ErrNotExist) {
			return name, nil
		}
	}
	return "", fmt.Errorf("there is no free name to keep %s under", path)
}
