// Package backupzip is the form of a backup: a ZIP file with one
// <resource>.ndjson for each resource that has records, and manifest.json. Every
// driver that can be backed up writes it. Package backend/reference reads it.
package backupzip

import (
	"archive/zip"
	"bufio"
	"compress/flate"
	"crypto/sha256"
	"encoding/hex"
	"hash"
	"io"
	"strconv"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"frontdesk/backend"
	"frontdesk/mapping"
)

// The form of a backup. Version changes when an older restore would misread a
// newer file.
const (
	Format       = "frontdesk-backup"
	Version      = 1
	ManifestName = "manifest.json"
	PartSuffix   = ".ndjson"
	// VersionMember ends every line: the number that changes with the record,
	// which its ETag is made of. No field has the name.
	VersionMember = `,"row_version":`
)

// largeLine is the size from which the buffer of a line is not reused.
const largeLine = 1 << 20

// Writer writes one backup, in memory that does not grow with it. Records come
// by resource.
type Writer struct {
	// Manifest is written last. The caller sets Counters and LastIDs.
	Manifest backend.Manifest

	buffered *bufio.Writer
	zip      *zip.Writer
	line     []byte
	part     backend.Part
	file     io.Writer
	sum      hash.Hash
}

// NewWriter begins a backup of a client's records as they were at a time.
func NewWriter(w io.Writer, client, modelVersion string, at time.Time) *Writer {
	buffered := bufio.NewWriterSize(w, 1<<16)
	z := zip.NewWriter(buffered)
	var deflate *flate.Writer // takes 1 MiB, so all files share one
	z.RegisterCompressor(zip.Deflate, func(w io.Writer) (_ io.WriteCloser, err error) {
		if deflate == nil {
			deflate, err = flate.NewWriter(w, flate.BestSpeed)
		} else {
			deflate.Reset(w)
		}
		return deflate, err
	})
	return &Writer{buffered: buffered, zip: z, Manifest: backend.Manifest{
		Format: Format, FormatVersion: Version, Time: at.UTC().Truncate(time.Millisecond), Client: client, ModelVersion: modelVersion,
		Parts: []backend.Part{}, Counters: map[string]int64{}, LastIDs: map[string]int32{},
	}}
}

// Add writes a record: all fields but arrays, whose elements are records of their
// own, and the version.
func (w *Writer) Add(rec mapping.Record) (err error) {
	if w.file == nil || w.part.Resource != rec.Resource.Name {
		w.endPart()
		w.part, w.sum = backend.Part{Resource: rec.Resource.Name}, sha256.New()
		if w.file, err = w.create(rec.Resource.Name + PartSuffix); err != nil {
			return err
		}
	}
	w.line = appendLine(w.line[:0], rec)
	w.part.Count++
	w.part.Bytes += int64(len(w.line))
	w.sum.Write(w.line)
	_, err = w.file.Write(w.line)
	if cap(w.line) > largeLine {
		w.line = nil
	}
	return err
}

func (w *Writer) endPart() {
	if w.file == nil {
		return
	}
	w.part.SHA256 = hex.EncodeToString(w.sum.Sum(nil))
	w.Manifest.Parts = append(w.Manifest.Parts, w.part)
	w.file = nil
}

func (w *Writer) create(name string) (io.Writer, error) {
	return w.zip.CreateHeader(&zip.FileHeader{Name: name, Method: zip.Deflate, Modified: w.Manifest.Time})
}

func appendLine(dst []byte, rec mapping.Record) []byte {
	dst = rec.AppendJSON(dst, rec.Resource.RecordFields())
	dst = append(dst[:len(dst)-1], VersionMember...)
	dst = strconv.AppendInt(dst, rec.Version, 10)
	return append(dst, '}', '\n')
}

// Finish writes the manifest, and flushes everything.
func (w *Writer) Finish() error {
	w.endPart()
	text, err := json.Marshal(w.Manifest, json.Deterministic(true), jsontext.WithIndent("  "))
	if err != nil {
		return err
	}
	out, err := w.create(ManifestName)
	if err != nil {
		return err
	}
	if _, err := out.Write(append(text, '\n')); err != nil {
		return err
	}
	if err := w.zip.Close(); err != nil {
		return err
	}
	return w.buffered.Flush()
}
