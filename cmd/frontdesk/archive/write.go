package archive

import (
	"archive/zip"
	"compress/flate"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"frontdesk/cmd/frontdesk/atomicfile"
	"frontdesk/gateway/webhook"
)

// Source is a file that an archive is to hold.
type Source struct {
	Path string
	Kind Kind
	// Copy writes what is archived in place of the file itself, to a new file.
	Copy func(ctx context.Context, to string) error
	// Each lists the files to hold in place of one, when it is their turn. One of them that is gone
	// by then is left out.
	Each func() ([]string, error)
}

// workFolder begins the name of the folder where an archive is made, beside its place, and workLock is
// locked meanwhile.
const (
	workFolder = ".frontdesk-backup"
	workLock   = workFolder + ".lock"
)

// Write makes the archive at a path, of what m says and the files, in their order. One that is
// there is replaced when the new one is on disk.
func Write(ctx context.Context, path string, m Manifest, files []Source, progress func(done int64)) (_ Manifest, err error) {
	unlock, err := lock(filepath.Join(filepath.Dir(path), workLock))
	if errors.Is(err, webhook.ErrLocked) {
		err = fmt.Errorf("another backup is being written to %s", filepath.Dir(path))
	}
	if err != nil {
		return m, err
	}
	defer func() { err = errors.Join(err, unlock()) }()
	if m.remains, err = removeWork(filepath.Dir(path)); err != nil {
		return m, err
	}
	work, err := os.MkdirTemp(filepath.Dir(path), workFolder+"-")
	if err != nil {
		return m, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(work)) }()
	m.Format, m.FormatVersion = Format, Version
	w := writer{ctx: ctx, work: work, m: m, mostList: mostManifest, progress: progress}
	// In the work folder, so that a backup that is killed leaves nothing that the next one does not remove.
	made := filepath.Join(work, "archive")
	if err := atomicfile.Write(made, 0o600, func(out io.Writer) error { return w.all(out, files) }); err != nil {
		return w.m, err
	}
	if err := os.Rename(made, path); err != nil {
		return w.m, err
	}
	return w.m, atomicfile.SyncFolder(filepath.Dir(path))
}

// removeWork removes what killed backups left, and returns the folders that it could not remove.
func removeWork(folder string) (remains []string, err error) {
	entries, err := os.ReadDir(folder)
	if errors.Is(err, fs.ErrPermission) { // it may be written for all that
		err = nil
	}
	for _, entry := range entries {
		if !entry.IsDir() || !isWork(entry.Name()) {
			continue
		}
		if work := filepath.Join(folder, entry.Name()); os.RemoveAll(work) != nil {
			remains = append(remains, work)
		}
	}
	return remains, err
}

// isWork tells a folder that an archive was made in, here or by an earlier version.
func isWork(name string) bool {
	end, of := strings.CutPrefix(name, workFolder)
	number, is := strings.CutPrefix(end, "-")
	return of && (end == "" || is && number != "" && strings.Trim(number, "0123456789") == "")
}

// lock locks a file, which is made for whoever may write its folder: root may be the first, by hand,
// and the user of the service the next one.
func lock(path string) (release func() error, err error) {
	file, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600) // #nosec G304 -- beside the operator's own file
	if err == nil {
		err = errors.Join(forWritersOf(filepath.Dir(path), file), file.Close())
	}
	if err != nil && !errors.Is(err, fs.ErrExist) {
		return nil, err
	}
	return webhook.LockFile(path)
}

func forWritersOf(folder string, file *os.File) error {
	info, err := os.Stat(folder)
	if err != nil {
		return err
	}
	_ = atomicfile.GiveTo(file, info) // which only root can
	group := info.Mode().Perm() & 0o020
	return file.Chmod(0o600 | group | group<<1)
}

// writer writes one archive.
type writer struct {
	ctx      context.Context
	work     string
	m        Manifest
	mostList int // bytes
	zip      *zip.Writer
	done     int64
	progress func(done int64)
}

func (w *writer) all(out io.Writer, files []Source) error {
	w.zip = zip.NewWriter(out)
	w.zip.RegisterCompressor(zip.Deflate, func(out io.Writer) (io.WriteCloser, error) { return flate.NewWriter(out, flate.BestSpeed) })
	for _, f := range files {
		if err := w.addAll(f); err != nil {
			return err
		}
	}
	text, err := json.MarshalIndent(w.m, "", "  ")
	if err != nil {
		return err
	}
	if text = append(text, '\n'); len(text) > w.mostList { // which nobody could restore
		return fmt.Errorf("an archive cannot hold as many as %d files; --no-results leaves out those of callbacks", len(w.m.Parts))
	}
	member, err := w.zip.CreateHeader(&zip.FileHeader{Name: manifestName, Method: zip.Deflate, Modified: w.m.Time})
	if err == nil {
		_, err = member.Write(text)
	}
	return errors.Join(err, w.zip.Close())
}

// addAll writes what a source stands for.
func (w *writer) addAll(f Source) error {
	if f.Each == nil {
		return w.add(f)
	}
	paths, err := f.Each()
	if err != nil {
		return err
	}
	for _, path := range paths {
		if err := w.add(Source{Path: path, Kind: f.Kind}); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	return nil
}

// add writes a file, and notes it.
func (w *writer) add(f Source) error {
	from := f.Path
	if f.Copy != nil {
		from = filepath.Join(w.work, "copy")
		if err := f.Copy(w.ctx, from); err != nil {
			return err
		}
		defer os.Remove(from)
	}
	file, err := os.Open(from) // #nosec G304 -- the operator's own files
	if err != nil {
		return err
	}
	defer file.Close()
	info, err := os.Stat(f.Path)
	if err != nil {
		return err
	}
	if !info.Mode().IsRegular() {
		return fmt.Errorf("%s is no regular file", f.Path)
	}
	part := Part{Path: f.Path, Kind: f.Kind, Mode: info.Mode().Perm()}
	part.Owner, part.Group = owners(info)
	member, err := w.zip.CreateHeader(&zip.FileHeader{Name: part.member(), Method: zip.Deflate, Modified: info.ModTime()})
	if err != nil {
		return err
	}
	sum := sha256.New()
	part.Bytes, err = io.Copy(io.MultiWriter(member, sum), w.reading(file))
	if err != nil {
		return err
	}
	part.SHA256 = hex.EncodeToString(sum.Sum(nil))
	w.m.Parts = append(w.m.Parts, part)
	return nil
}

// reading reads on until the context ends, and tells how far it is.
func (w *writer) reading(in io.Reader) io.Reader {
	return readerFunc(func(b []byte) (int, error) {
		if err := w.ctx.Err(); err != nil {
			return 0, err
		}
		n, err := in.Read(b)
		w.done += int64(n)
		w.progress(w.done)
		return n, err
	})
}

// readerFunc is a function as an io.Reader.
type readerFunc func([]byte) (int, error)

func (f readerFunc) Read(b []byte) (int, error) { return f(b) }
