package reference

import (
	"archive/zip"
	"bufio"
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/go-json-experiment/json"

	"frontdesk/backend"
	"frontdesk/backend/backupzip"
	"frontdesk/mapping"
)

// backupFile is a backup whose table of contents was judged.
type backupFile struct {
	manifest backend.Manifest
	parts    map[*mapping.Resource]*backupPart
}

// backupPart is one file of it.
type backupPart struct {
	backend.Part
	resource *mapping.Resource
	entry    *zip.File
	fields   []int   // positions, in the order of the lines; set by the first line
	ids      []int32 // of its records, ascending; set when it is judged
}

const (
	// maxManifest bounds the manifest, which is read whole.
	maxManifest = 1 << 20
	// maxDeflate is the largest expansion of deflate.
	maxDeflate = 1032
)

func (p *backupPart) name() string { return p.Resource + backupzip.PartSuffix }

// refuse refuses the backup because of a line, counted from 1; 0 for the part as
// a whole.
func (p *backupPart) refuse(line int64, format string, args ...any) *refusal {
	where := p.name()
	if line > 0 {
		where = fmt.Sprintf("%s, line %d", where, line)
	}
	return refuse("%s: %s", where, fmt.Sprintf(format, args...))
}

// openBackup reads the table of contents and the manifest: the file must have
// exactly the parts in the manifest, in possible sizes.
func openBackup(file io.ReaderAt, size int64, model *mapping.Model, o RestoreOptions) (*backupFile, error) {
	archive, err := zip.NewReader(file, size)
	if err != nil {
		return nil, refuse("it is no ZIP file, or its end is missing (%v)", err)
	}
	entries := map[string]*zip.File{}
	for _, f := range archive.File {
		if entries[f.Name] != nil {
			return nil, refuse("it has two files %q", f.Name)
		}
		entries[f.Name] = f
	}
	b := &backupFile{parts: map[*mapping.Resource]*backupPart{}}
	if err := b.readManifest(entries[backupzip.ManifestName]); err != nil {
		return nil, err
	}
	if err := b.judgeManifest(o); err != nil {
		return nil, err
	}
	delete(entries, backupzip.ManifestName)
	for _, part := range b.manifest.Parts {
		p, err := newPart(part, model, entries[part.Resource+backupzip.PartSuffix])
		if err != nil {
			return nil, err
		}
		if b.parts[p.resource] != nil {
			return nil, refuse("%s: %s is listed twice", backupzip.ManifestName, part.Resource)
		}
		b.parts[p.resource] = p
		delete(entries, p.name())
	}
	for name := range entries {
		return nil, refuse("it has a file %q that %s does not tell of", name, backupzip.ManifestName)
	}
	for name := range b.manifest.LastIDs {
		if model.Resource(name) == nil {
			return nil, refuse("%s: the model has no resource %s", backupzip.ManifestName, name)
		}
	}
	return b, nil
}

func (b *backupFile) readManifest(entry *zip.File) error {
	if entry == nil {
		return refuse("it is no backup of frontdesk: it has no %s", backupzip.ManifestName)
	}
	if entry.UncompressedSize64 > maxManifest {
		return refuse("%s: %d bytes, expected at most %d", backupzip.ManifestName, entry.UncompressedSize64, maxManifest)
	}
	in, err := entry.Open()
	if err != nil {
		return refuse("%s: %v", backupzip.ManifestName, err)
	}
	defer in.Close()
	text, err := io.ReadAll(io.LimitReader(in, maxManifest+1))
	if err != nil {
		return refuse("%s is damaged: %v", backupzip.ManifestName, err)
	}
	var kind struct {
		Format  string `json:"format"`
		Version int    `json:"format_version"`
	}
	if err := json.Unmarshal(text, &kind); err != nil {
		return refuse("%s: %v", backupzip.ManifestName, err)
	}
	if kind.Format != backupzip.Format {
		return refuse("it is no backup of frontdesk: %s says format %q, expected %q", backupzip.ManifestName, kind.Format, backupzip.Format)
	}
	if kind.Version != backupzip.Version {
		return refuse("%s says format_version %d, this program reads %d", backupzip.ManifestName, kind.Version, backupzip.Version)
	}
	if err := json.Unmarshal(text, &b.manifest, json.RejectUnknownMembers(true)); err != nil {
		return refuse("%s: %v", backupzip.ManifestName, err)
	}
	return nil
}

func (b *backupFile) judgeManifest(o RestoreOptions) error {
	if o.Client == "" {
		return errors.New("restore needs the name of a client")
	}
	if b.manifest.Client != o.Client && !o.Rename {
		return refuse("it was made of client %q, not of %q", b.manifest.Client, o.Client).as(ErrOtherClient)
	}
	for name, value := range b.manifest.Counters {
		if name == "" || value < 1 {
			return refuse("%s: counter %q is %d", backupzip.ManifestName, name, value)
		}
	}
	for name, last := range b.manifest.LastIDs {
		if last < 1 {
			return refuse("%s: the last id of %s is %d", backupzip.ManifestName, name, last)
		}
	}
	return nil
}

// newPart judges what the table of contents says of a part.
func newPart(part backend.Part, model *mapping.Model, entry *zip.File) (*backupPart, error) {
	p := &backupPart{Part: part, resource: model.Resource(part.Resource), entry: entry}
	switch {
	case p.resource == nil:
		return nil, p.refuse(0, "the model has no resource %s", part.Resource)
	case entry == nil:
		return nil, p.refuse(0, "it is missing, although %s tells of it", backupzip.ManifestName)
	case part.Count < 1 || part.Bytes < part.Count:
		return nil, p.refuse(0, "%s tells of %d records in %d bytes", backupzip.ManifestName, part.Count, part.Bytes)
	case entry.UncompressedSize64 != uint64(part.Bytes):
		return nil, p.refuse(0, "it says to have %d bytes, %s says %d", entry.UncompressedSize64, backupzip.ManifestName, part.Bytes)
	case entry.UncompressedSize64/maxDeflate > entry.CompressedSize64:
		return nil, p.refuse(0, "%d bytes cannot come out of %d", entry.UncompressedSize64, entry.CompressedSize64)
	}
	return p, nil
}

// lines calls each for every line, without its end, and then judges the count
// and the sum of the whole. The line is valid until each returns.
func (p *backupPart) lines(ctx context.Context, maxLine int64, each func(n int64, line []byte) error) error {
	in, err := p.entry.Open()
	if err != nil {
		return p.refuse(0, "%v", err)
	}
	defer in.Close()
	sum := sha256.New()
	l := bufio.NewScanner(io.TeeReader(in, sum))
	l.Buffer(make([]byte, 0, 1<<16), int(maxLine)+1)
	l.Split(wholeLines)
	n := int64(0)
	for l.Scan() {
		n++
		if err := ctx.Err(); err != nil {
			return err
		}
		if err := each(n, l.Bytes()); err != nil {
			return err
		}
	}
	switch err := l.Err(); {
	case errors.Is(err, bufio.ErrTooLong):
		return p.refuse(n+1, "more than %d bytes; server.body_limit is smaller here than where the backup was made, or the file is damaged", maxLine)
	case errors.Is(err, zip.ErrChecksum):
		return p.refuse(0, "the part is damaged: %v", err)
	case err != nil:
		return p.refuse(n+1, "the part is damaged: %v", err)
	}
	switch {
	case n != p.Count:
		return p.refuse(0, "%d records, %s says %d", n, backupzip.ManifestName, p.Count)
	case hex.EncodeToString(sum.Sum(nil)) != strings.ToLower(p.SHA256):
		return p.refuse(0, "its content is not what %s has the sha256 of", backupzip.ManifestName)
	}
	return nil
}

var errCutLine = errors.New("the last line has no end")

// wholeLines is a bufio.SplitFunc for lines that all have an end.
func wholeLines(data []byte, atEnd bool) (advance int, line []byte, err error) {
	if i := bytes.IndexByte(data, '\n'); i >= 0 {
		return i + 1, data[:i], nil
	}
	if atEnd && len(data) > 0 {
		err = errCutLine
	}
	return 0, nil, err
}
