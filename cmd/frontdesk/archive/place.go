package archive

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"frontdesk/cmd/frontdesk/atomicfile"
)

// Plan is what putting an archive back does.
type Plan struct {
	of    *Archive
	put   []Part   // in order
	There []Part   // already, as they are in the archive
	made  []string // folders
	ready []staged
}

// staged is a file that is on disk under another name.
type staged struct {
	Part
	name string
}

// InTheWay are files that are there and would be lost, or spoil what is put beside them.
type InTheWay []string

func (w InTheWay) Error() string {
	all := make([]string, len(w))
	for i, path := range w {
		all[i] = shown(path)
	}
	return fmt.Sprintf("nothing was written, since this is there and is not as it is in the archive; move it aside first:\n  %s", strings.Join(all, "\n  "))
}

// Plan looks what of the archive is to be written: the parts that are wanted and not there. A
// file that is there and is the same counts as put back, so that a restore that was killed goes
// on where it was. The error is [InTheWay] if others are there. others are further files that may
// not be there.
func (a *Archive) Plan(ctx context.Context, wanted func(Part) bool, others []string) (*Plan, error) {
	p := &Plan{of: a}
	var way InTheWay
	for _, part := range a.Parts {
		if !wanted(part) {
			continue
		}
		same, err := part.isThere()
		if err != nil {
			return nil, err
		}
		switch {
		case same == absent:
			p.put = append(p.put, part)
		case same == identical:
			p.There = append(p.There, part)
		default:
			way = append(way, part.Path)
		}
		if part.Kind == Store {
			for _, end := range besideDatabase {
				others = append(others, part.Path+end)
			}
		}
	}
	for _, file := range others {
		if _, err := os.Lstat(file); err == nil {
			way = append(way, file)
		}
	}
	if len(way) > 0 {
		slices.Sort(way)
		if len(p.put) == 0 && !slices.ContainsFunc(way, func(path string) bool { return !a.ofStore(path) }) {
			return nil, fmt.Errorf("%w\neverything else is as in the archive: if this archive was put back before, and the command was killed at its end or a gateway has run since, nothing is left to do", way)
		}
		return nil, way
	}
	slices.SortStableFunc(p.put, func(x, y Part) int { return a.rank(x) - a.rank(y) })
	return p, ctx.Err()
}

// besideDatabase ends the names of the files that SQLite has beside a database, and would take for
// those of a copy, too.
var besideDatabase = []string{"-wal", "-shm", "-journal"}

// ofStore tells whether a file is a database of the archive, or one that SQLite has beside it.
func (a *Archive) ofStore(path string) bool {
	return slices.ContainsFunc(a.Parts, func(p Part) bool {
		end, is := strings.CutPrefix(path, p.Path)
		return p.Kind == Store && is && (end == "" || slices.Contains(besideDatabase, end))
	})
}

// rank is the place of a part in the order in which they are put back.
func (a *Archive) rank(p Part) int {
	if p.Path == a.Config {
		return len(order)
	}
	return order[p.Kind]
}

// Files are what is to be written, in order.
func (p *Plan) Files() []Part { return p.put }

type presence int

const (
	absent presence = iota
	identical
	different
)

// isThere compares what is at the place of a part.
func (p Part) isThere() (presence, error) {
	info, err := os.Lstat(p.Path)
	if errors.Is(err, fs.ErrNotExist) {
		return absent, nil
	}
	if err != nil {
		return different, err
	}
	if info.Mode()&fs.ModeSymlink != 0 {
		info, err = os.Stat(p.Path)
	}
	if err != nil || !info.Mode().IsRegular() || info.Size() != p.Bytes {
		return different, nil
	}
	sum, err := sumOf(p.Path)
	if err != nil {
		return different, err
	}
	if sum != p.SHA256 {
		return different, nil
	}
	return identical, nil
}

// Apply writes the files beside their places, each of them whole and on disk, and only then gives
// them their names. Whatever fails, nothing of it stays. step is told before each name is given.
func (p *Plan) Apply(ctx context.Context, progress func(done int64), step func(path string)) (err error) {
	defer func() {
		for _, s := range p.ready {
			err = errors.Join(err, s.forget())
		}
		if err != nil {
			for _, folder := range slices.Backward(p.made) {
				_ = os.Remove(folder) // unless something else is in it by now
			}
		}
	}()
	for _, part := range p.There {
		if err := part.staged().forget(); err != nil { // of a restore that was killed
			return err
		}
	}
	done := int64(0)
	for _, part := range p.put {
		if err := p.stage(ctx, part); err != nil {
			return err
		}
		done += part.Bytes
		progress(done)
	}
	for i, s := range p.ready {
		step(s.Path)
		if err := s.place(); err != nil {
			for _, placed := range slices.Backward(p.ready[:i]) {
				err = errors.Join(err, os.Remove(placed.Path))
			}
			return err
		}
	}
	return nil
}

// staged is a part under its other name, which no pattern of an include matches.
func (p Part) staged() staged {
	return staged{p, filepath.Join(filepath.Dir(p.Path), "."+filepath.Base(p.Path)+".restoring")}
}

// stage writes a part beside its place.
func (p *Plan) stage(ctx context.Context, part Part) error {
	if err := p.makeFolder(filepath.Dir(part.Path), part); err != nil {
		return err
	}
	s := part.staged()
	if err := s.forget(); err != nil {
		return err
	}
	file, err := os.OpenFile(s.name, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	p.ready = append(p.ready, s)
	err = p.of.read(ctx, part, file)
	return errors.Join(err, file.Chmod(part.Mode), part.give(file.Chown), file.Sync(), file.Close())
}

// makeFolder makes a folder that is missing, and those above, for who reads the part.
func (p *Plan) makeFolder(folder string, part Part) error {
	if _, err := os.Stat(folder); err == nil || !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if err := p.makeFolder(filepath.Dir(folder), part); err != nil {
		return err
	}
	mode := fs.FileMode(0o700)
	if part.Mode&0o040 != 0 {
		mode = 0o750
	}
	if err := os.Mkdir(folder, mode); err != nil {
		return err
	}
	p.made = append(p.made, folder)
	return part.give(func(uid, gid int) error { return os.Lchown(folder, uid, gid) })
}

// place gives a file its name, unless something has it.
func (s staged) place() error {
	if err := os.Link(s.name, s.Path); err != nil {
		if _, there := os.Lstat(s.Path); there == nil || errors.Is(err, fs.ErrExist) {
			return fmt.Errorf("%s has come meanwhile", shown(s.Path))
		}
		if err := os.Rename(s.name, s.Path); err != nil { // on a disk without links
			return err
		}
	}
	if err := atomicfile.SyncFolder(filepath.Dir(s.Path)); err != nil {
		return errors.Join(err, os.Remove(s.Path))
	}
	return nil
}

// forget removes the other name.
func (s staged) forget() error {
	if err := os.Remove(s.name); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

func sumOf(path string) (string, error) {
	file, err := os.Open(path) // #nosec G304 -- where the archive's file is to be
	if err != nil {
		return "", err
	}
	defer file.Close()
	sum := sha256.New()
	_, err = io.Copy(sum, file)
	return hex.EncodeToString(sum.Sum(nil)), err
}
