package archive

import (
	"archive/zip"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"slices"

	"frontdesk/config"
)

// Archive is one that is open for reading.
type Archive struct {
	Manifest
	File string
	zip  *zip.ReadCloser
}

// Open opens an archive and reads what it says of itself.
func Open(file string) (*Archive, error) {
	z, err := zip.OpenReader(file)
	if os.IsNotExist(err) || os.IsPermission(err) {
		return nil, err
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w, or not all of it (%w)", file, ErrForeign, err)
	}
	m, err := readManifest(&z.Reader)
	if err != nil {
		_ = z.Close()
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	return &Archive{m, file, z}, nil
}

// Close closes the file.
func (a *Archive) Close() error { return a.zip.Close() }

// Verify reads all of the archive, and finds whatever is not as it was written.
func (a *Archive) Verify(ctx context.Context, progress func(done int64)) error {
	done := int64(0)
	for _, p := range a.Parts {
		if err := a.read(ctx, p, io.Discard); err != nil {
			return err
		}
		done += p.Bytes
		progress(done)
	}
	return nil
}

// read writes a part that is as it was written.
func (a *Archive) read(ctx context.Context, p Part, out io.Writer) error {
	file, err := a.zip.Open(p.member())
	if err != nil {
		return fmt.Errorf("%s is damaged: it lacks %s", a.File, shown(p.Path))
	}
	defer file.Close()
	sum := sha256.New()
	in := readerFunc(func(b []byte) (int, error) {
		if err := ctx.Err(); err != nil {
			return 0, err
		}
		n, err := file.Read(b)
		if err != nil && err != io.EOF {
			err = a.damaged(p, err)
		}
		return n, err
	})
	n, err := io.Copy(io.MultiWriter(out, sum), io.LimitReader(in, p.Bytes+1))
	if err != nil {
		return err
	}
	if n != p.Bytes || hex.EncodeToString(sum.Sum(nil)) != p.SHA256 {
		return a.damaged(p, fmt.Errorf("its sum is not that of the list"))
	}
	return nil
}

func (a *Archive) damaged(p Part, err error) error {
	return fmt.Errorf("%s is damaged at %s: %w", a.File, shown(p.Path), err)
}

// Texts are the files of the configuration, the main one first.
func (a *Archive) Texts(ctx context.Context) (texts []config.Text, err error) {
	for _, p := range a.Parts {
		if p.Kind != Configuration {
			continue
		}
		var text limited
		if err := a.read(ctx, p, &text); err != nil {
			return nil, err
		}
		texts = append(texts, config.Text{Path: p.Path, Text: text})
	}
	slices.SortStableFunc(texts, func(x, y config.Text) int { return rank(x, a.Config) - rank(y, a.Config) })
	return texts, nil
}

func rank(t config.Text, main string) int {
	if t.Path == main {
		return 0
	}
	return 1
}

// limited is a text that is not read without end.
type limited []byte

func (l *limited) Write(b []byte) (int, error) {
	if len(*l)+len(b) > 64<<20 {
		return 0, fmt.Errorf("a file of the configuration is larger than 64 MiB")
	}
	*l = append(*l, b...)
	return len(b), nil
}

// nameForm is that of archives in a folder that has several.
var nameForm = regexp.MustCompile(`^frontdesk-[0-9]{8}T[0-9]{6}Z\.zip$`)

// NameAt is the name of an archive in a folder that has several.
func (m Manifest) NameAt() string { return m.Time.UTC().Format("frontdesk-20060102T150405Z.zip") }

// Others are the archives of the same installation in a folder, oldest first. What is no such
// archive, or of another installation, is not told of.
func (m Manifest) Others(folder string) (files []string, err error) {
	files, _, err = m.others(folder)
	return files, err
}

// others also tells how many archives may be of this installation, and are not known to be.
func (m Manifest) others(folder string) (files []string, left map[string]int, err error) {
	left = map[string]int{}
	names, err := os.ReadDir(folder)
	for _, name := range names {
		if !nameForm.MatchString(name.Name()) || !name.Type().IsRegular() {
			continue
		}
		file := filepath.Join(folder, name.Name())
		a, err := Open(file)
		if os.IsPermission(err) {
			left["that this user may not read"]++
		}
		if err != nil {
			continue
		}
		if a.Config == m.Config && a.Host == m.Host {
			files = append(files, file)
		} else if a.Config == m.Config {
			left["of other hosts"]++
		}
		_ = a.Close()
	}
	return files, left, err // os.ReadDir sorts, and names sort as times do
}

// Prune removes the oldest archives of the same installation in a folder, but for the newest n. It
// tells how many it left although they may be of this installation, by what they are.
func (m Manifest) Prune(folder string, n int) (removed []string, left map[string]int, err error) {
	files, left, err := m.others(folder)
	if err != nil {
		return nil, nil, err
	}
	for len(files) > 0 && filepath.Base(files[len(files)-1]) > m.NameAt() { // else those of a clock that was ahead stay for the new ones
		files = files[:len(files)-1]
		left["of a time that is yet to come"]++
	}
	for _, file := range files[:max(0, len(files)-n)] {
		if err := os.Remove(file); err != nil {
			return removed, left, err
		}
		removed = append(removed, file)
	}
	return removed, left, nil
}
