package webhook

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
)

// ErrNoSpace says that the results of callbacks take all the space they may.
var ErrNoSpace = errors.New("webhook: the results take all the space they may (webhooks.space)")

// Files is the folder of results. A result appears there only when it is whole
// and on disk.
type Files struct {
	folder string
	lock   *os.File // of the folder; held until it is closed
	most   int64    // bytes
	used   atomic.Int64
}

// unfinished marks files that are still being written.
const unfinished = ".part"

// lockName is the file that whoever has the folder holds a lock on.
const lockName = ".lock"

// ErrFolderInUse says that another process has a folder of results.
var ErrFolderInUse = errors.New("webhook: another frontdesk keeps its results there")

// OpenFiles opens a folder, making it where it is missing, and removes what a
// crash left unfinished. The results in it never take more than most bytes. The
// folder is its own until it is closed, or the process ends: what is unfinished,
// or nobody's, can be told by one process only. ErrFolderInUse where another one
// has it.
func OpenFiles(folder string, most int64) (*Files, error) {
	if err := os.MkdirAll(folder, 0o700); err != nil {
		return nil, err
	}
	lock, err := lockFile(filepath.Join(folder, lockName))
	if err != nil {
		return nil, err
	}
	f := &Files{folder: folder, lock: lock, most: most}
	if err := f.recover(); err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return f, nil
}

// recover removes what is unfinished and counts the rest.
func (f *Files) recover() error {
	entries, err := os.ReadDir(f.folder)
	if err != nil {
		return err
	}
	for _, e := range entries {
		if strings.HasSuffix(e.Name(), unfinished) {
			if err := os.Remove(filepath.Join(f.folder, e.Name())); err != nil {
				return err
			}
			continue
		}
		info, err := e.Info()
		if err != nil {
			return err
		}
		f.used.Add(info.Size())
	}
	return nil
}

// Close lets another process have the folder. Nothing may be written any more.
func (f *Files) Close() error { return f.lock.Close() }

// Space tells how many bytes the results take, and how many they may.
func (f *Files) Space() (used, most int64) { return f.used.Load(), f.most }

// Open opens a result for reading.
func (f *Files) Open(name string) (*os.File, error) {
	return os.Open(filepath.Join(f.folder, filepath.Base(name)))
}

// Remove removes a result, if there is one.
func (f *Files) Remove(name string) error {
	path := filepath.Join(f.folder, filepath.Base(name))
	info, err := os.Stat(path)
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	if err := os.Remove(path); err != nil {
		return err
	}
	f.used.Add(-info.Size())
	return nil
}

// names returns the names of all results.
func (f *Files) names() (names []string, err error) {
	entries, err := os.ReadDir(f.folder)
	for _, e := range entries {
		if e.Name() != lockName && !strings.HasSuffix(e.Name(), unfinished) {
			names = append(names, e.Name())
		}
	}
	return names, err
}

// create begins the result of that name.
func (f *Files) create(name string) (*resultFile, error) {
	file, err := os.CreateTemp(f.folder, name+".*"+unfinished)
	if err != nil {
		return nil, err
	}
	return &resultFile{files: f, file: file, name: name, sum: sha256.New()}, nil
}

// resultFile is a result being written.
type resultFile struct {
	files *Files
	file  *os.File
	name  string
	sum   hash.Hash
	size  int64
	kept  bool
}

// Write appends to the result, within the space there is.
func (r *resultFile) Write(p []byte) (int, error) {
	if r.files.used.Add(int64(len(p))) > r.files.most {
		r.files.used.Add(-int64(len(p)))
		return 0, ErrNoSpace
	}
	n, err := r.file.Write(p)
	r.files.used.Add(int64(n - len(p)))
	r.size += int64(n)
	r.sum.Write(p[:n])
	return n, err
}

// keep puts the result in its place, durably. A result of an earlier attempt
// gives way.
func (r *resultFile) keep(c Content) (Result, error) {
	if err := r.file.Sync(); err != nil {
		return Result{}, fmt.Errorf("sync the result: %w", err)
	}
	if err := r.file.Close(); err != nil {
		return Result{}, err
	}
	if err := r.files.Remove(r.name); err != nil {
		return Result{}, err
	}
	place := filepath.Join(r.files.folder, r.name)
	if err := os.Rename(r.file.Name(), place); err != nil {
		return Result{}, err
	}
	if err := syncFolder(r.files.folder); err != nil {
		return Result{}, errors.Join(err, os.Remove(place))
	}
	r.kept = true
	return Result{File: r.name, Name: c.Name, Type: c.Type, Size: r.size, SHA256: hex.EncodeToString(r.sum.Sum(nil))}, nil
}

// discard removes what was written, unless it was kept.
func (r *resultFile) discard() {
	if r.kept {
		return
	}
	r.files.used.Add(-r.size)
	_ = r.file.Close()           // closed already where keep failed late
	_ = os.Remove(r.file.Name()) // and the next start removes what is left
}

func syncFolder(folder string) error {
	d, err := os.Open(folder)
	if err != nil {
		return err
	}
	err = d.Sync()
	return errors.Join(err, d.Close())
}
