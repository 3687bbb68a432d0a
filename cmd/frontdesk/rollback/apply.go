package rollback

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"frontdesk/cmd/frontdesk/atomicfile"
)

// Apply writes the files, each as a whole. If one of them cannot be written, those before it get
// back what they had.
func (p *Plan) Apply() error {
	for i, f := range p.Files {
		if err := f.apply(); err != nil {
			changed := p.Files[:i]
			if errors.Is(err, atomicfile.ErrUnsure) {
				changed = p.Files[:i+1]
			}
			for _, done := range slices.Backward(changed) {
				if failed := done.undo(); failed != nil {
					err = errors.Join(err, fmt.Errorf("and %s could not be put back: %w", done.Path, failed))
				}
			}
			return err
		}
	}
	return nil
}

func (f File) apply() error {
	if f.Aside != "" {
		return os.Rename(f.Path, f.Aside)
	}
	path, err := behindLinks(f.Path)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o750); err != nil {
		return err
	}
	return atomicfile.Replace(path, f.old, f.text)
}

func (f File) undo() error {
	if f.Aside != "" {
		return os.Rename(f.Aside, f.Path)
	}
	path, err := behindLinks(f.Path)
	if err != nil {
		return err
	}
	if f.old == nil {
		return os.Remove(path)
	}
	return atomicfile.Replace(path, f.text, f.old)
}

// behindLinks is the file itself, which links stay pointed at.
func behindLinks(path string) (string, error) {
	file, err := filepath.EvalSymlinks(path)
	if errors.Is(err, fs.ErrNotExist) {
		return path, nil
	}
	return file, err
}
