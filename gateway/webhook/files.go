package webhook

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
)

var _ Results = (*Files)(nil)

// Files stores results in a folder. A result appears there only when it is complete and
// on disk.
type Files struct{ folder string }

// ErrLocked says that another process has locked a file.
var ErrLocked = errors.New("webhook: another frontdesk has it")

// unfinished marks files that are still being written.
const unfinished = ".part"

// OpenFiles opens a folder, makes it if it is missing, and removes unfinished files of a
// crash. The caller ensures that no other process uses the folder: its unfinished files
// would be removed.
func OpenFiles(folder string) (*Files, error) {
	if err := JudgeFolder(folder); err != nil {
		return nil, err
	}
	if err := os.MkdirAll(folder, 0o700); err != nil {
		return nil, err
	}
	f := &Files{folder: folder}
	return f, f.recover()
}

// JudgeFolder refuses a link: it may lead to the folder of another process.
func JudgeFolder(folder string) error {
	if info, err := os.Lstat(folder); err == nil && info.Mode()&fs.ModeSymlink != 0 {
		return fmt.Errorf("%s is a link, expected a folder", folder)
	}
	return nil
}

// isOurs reports whether a file is a result, or one that is being written: JOB.TERM, and what
// Create adds. Other files are left alone.
func isOurs(name string) bool {
	_, rest, _ := strings.Cut(name, ".")
	term, _, _ := strings.Cut(rest, ".")
	_, err := strconv.Atoi(term)
	return err == nil
}

// recover removes unfinished files.
func (f *Files) recover() error {
	entries, err := os.ReadDir(f.folder)
	if err != nil {
		return err
	}
	for _, e := range entries {
		if strings.HasSuffix(e.Name(), unfinished) && isOurs(e.Name()) {
			if err := os.Remove(filepath.Join(f.folder, e.Name())); err != nil {
				return err
			}
		}
	}
	return nil
}

// Open implements Results.
func (f *Files) Open(_ context.Context, name string) (Reader, error) {
	return os.Open(filepath.Join(f.folder, filepath.Base(name)))
}

// Remove implements Results. Unfinished files of a crash were removed when the folder was
// opened.
func (f *Files) Remove(_ context.Context, name string) error {
	err := os.Remove(filepath.Join(f.folder, filepath.Base(name)))
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	return err
}

// Names implements Results.
func (f *Files) Names(context.Context) (names []string, err error) {
	entries, err := os.ReadDir(f.folder)
	for _, e := range entries {
		if !strings.HasSuffix(e.Name(), unfinished) && isOurs(e.Name()) {
			names = append(names, e.Name())
		}
	}
	return names, err
}

// Create implements Results.
func (f *Files) Create(_ context.Context, name string) (Draft, error) {
	file, err := os.CreateTemp(f.folder, name+".*"+unfinished)
	if err != nil {
		return nil, full(err)
	}
	return &resultFile{files: f, file: file, name: name}, nil
}

// resultFile is a result being written.
type resultFile struct {
	files *Files
	file  *os.File
	name  string
	kept  bool
}

// Write appends to the result.
func (r *resultFile) Write(p []byte) (int, error) {
	n, err := r.file.Write(p)
	return n, full(err)
}

// full marks the failure of a disk that is full.
func full(err error) error {
	if errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT) {
		return fmt.Errorf("%w: %w", ErrNoSpace, err)
	}
	return err
}

// Keep puts the result in its place, durably.
func (r *resultFile) Keep() error {
	if err := r.file.Sync(); err != nil {
		return fmt.Errorf("sync the result: %w", full(err))
	}
	if err := r.file.Close(); err != nil {
		return err
	}
	place := filepath.Join(r.files.folder, r.name)
	if err := os.Rename(r.file.Name(), place); err != nil {
		return err
	}
	if err := syncFolder(r.files.folder); err != nil {
		return errors.Join(err, os.Remove(place))
	}
	r.kept = true
	return nil
}

// Discard removes what was written, unless it was kept.
func (r *resultFile) Discard() {
	if r.kept {
		return
	}
	_ = r.file.Close()           // it is closed already where Keep failed late
	_ = os.Remove(r.file.Name()) // the next start removes it if this fails
}

func syncFolder(folder string) error {
	d, err := os.Open(folder)
	if err != nil {
		return err
	}
	err = d.Sync()
	return errors.Join(err, d.Close())
}
