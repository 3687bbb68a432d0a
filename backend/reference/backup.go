package reference

import (
	"archive/zip"
	"bufio"
	"compress/flate"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"io"
	"strconv"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"frontdesk/auth"
	"frontdesk/backend"
	"frontdesk/backend/sqlrecord"
	"frontdesk/mapping"
)

// The form of a backup. backupVersion changes when an older restore would
// misread a newer file.
const (
	backupFormat  = "frontdesk-backup"
	backupVersion = 1
	manifestName  = "manifest.json"
	partSuffix    = ".ndjson"
	// versionMember ends every line: the number of changes of the record, which
	// its ETag is made of. No field can have the name, since the column has it.
	versionMember = `,"row_version":`
)

// largeLine is the size from which the space of a line is not kept for the next.
const largeLine = 1 << 20

// ErrUnknownClient says that no client has that name.
var ErrUnknownClient = errors.New("there is no such client")

var _ backend.Exporter = (*Store)(nil)

// FindClient returns the client of that name, or ErrUnknownClient.
func (s *Store) FindClient(ctx context.Context, name string) (auth.Client, error) {
	client := auth.Client{Name: name}
	err := s.db.Read(ctx, func(conn sqlrecord.Conn) error {
		id, found, err := s.house(conn).one(ctx, `SELECT id FROM client WHERE name = ?1`, mapping.TextValue(name))
		if err == nil && !found {
			err = ErrUnknownClient
		}
		client.ID = id
		return err
	})
	return client, err
}

// Export implements backend.Exporter on a connection of its own. Answers under
// idempotency keys, which live for a day, are left out like the users are.
func (s *Store) Export(ctx context.Context, client auth.Client, w io.Writer) (m backend.Manifest, err error) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	buffered := bufio.NewWriterSize(w, 1<<16)
	e := exporter{client: client, zip: zip.NewWriter(buffered), stop: cancel}
	e.zip.RegisterCompressor(zip.Deflate, func(w io.Writer) (io.WriteCloser, error) { return flate.NewWriter(w, flate.BestSpeed) })
	e.manifest = backend.Manifest{
		Format: backupFormat, FormatVersion: backupVersion, Time: s.now().UTC().Truncate(time.Millisecond),
		Client: client.Name, ModelVersion: s.model.Version,
		Parts: []backend.Part{}, Counters: map[string]int64{}, LastIDs: map[string]int32{},
	}
	err = sqlrecord.SnapshotApart(ctx, s.db, func(conn sqlrecord.Conn) error {
		e.house, e.records = s.house(conn), s.records.On(conn)
		return e.run(ctx, s.model)
	})
	if err == nil {
		err = e.finish()
	}
	if err == nil {
		err = buffered.Flush()
	}
	if err != nil {
		return backend.Manifest{}, fmt.Errorf("back up client %s: %w", client.Name, err)
	}
	return e.manifest, nil
}

// exporter writes one backup.
type exporter struct {
	house
	records  *sqlrecord.Store
	client   auth.Client
	manifest backend.Manifest
	zip      *zip.Writer
	line     []byte
	stop     func(cause error) // ends the statement at work
}

func (e *exporter) run(ctx context.Context, model *mapping.Model) error {
	err := e.query(ctx, `SELECT name, value FROM counter WHERE client_id = ?1`, []sqlrecord.Column{words, number},
		[]mapping.Value{mapping.IntValue(e.client.ID)}, func(row []mapping.Value) error {
			e.manifest.Counters[row[0].Text()] = row[1].Int()
			return nil
		})
	if err != nil {
		return fmt.Errorf("read the counters: %w", err)
	}
	for _, r := range model.Resources {
		last, err := e.records.LastID(ctx, r)
		if err != nil {
			return fmt.Errorf("read the last ID of %s: %w", r.Name, err)
		}
		if last > 0 {
			e.manifest.LastIDs[r.Name] = last
		}
		if err := e.part(ctx, r); err != nil {
			return fmt.Errorf("%s: %w", r.Name, err)
		}
	}
	return nil
}

// part writes the records of a resource, where there are any.
func (e *exporter) part(ctx context.Context, r *mapping.Resource) error {
	out := partWriter{Part: backend.Part{Resource: r.Name}}
	err := e.records.Each(ctx, e.client, r, func(rec mapping.Record) error {
		err := e.write(&out, rec)
		if err != nil {
			e.stop(err) // or the rest of the result would still be fetched
		}
		return err
	})
	if err != nil || out.Count == 0 {
		return err
	}
	out.SHA256 = hex.EncodeToString(out.sum.Sum(nil))
	e.manifest.Parts = append(e.manifest.Parts, out.Part)
	return nil
}

// partWriter is a part under way.
type partWriter struct {
	backend.Part
	file io.Writer
	sum  hash.Hash
}

func (e *exporter) write(out *partWriter, rec mapping.Record) (err error) {
	if out.file == nil {
		out.sum = sha256.New()
		if out.file, err = e.create(out.Resource + partSuffix); err != nil {
			return err
		}
	}
	e.line = appendLine(e.line[:0], rec)
	out.Count++
	out.Bytes += int64(len(e.line))
	out.sum.Write(e.line)
	_, err = out.file.Write(e.line)
	if cap(e.line) > largeLine {
		e.line = nil
	}
	return err
}

func (e *exporter) create(name string) (io.Writer, error) {
	return e.zip.CreateHeader(&zip.FileHeader{Name: name, Method: zip.Deflate, Modified: e.manifest.Time})
}

// appendLine appends a record as a backup holds it: all fields but arrays, whose
// elements are records of their own, and the version.
func appendLine(dst []byte, rec mapping.Record) []byte {
	dst = rec.AppendJSON(dst, rec.Resource.RecordFields())
	dst = append(dst[:len(dst)-1], versionMember...)
	dst = strconv.AppendInt(dst, rec.Version, 10)
	return append(dst, '}', '\n')
}

// finish writes the manifest, which is known last.
func (e *exporter) finish() error {
	text, err := json.Marshal(e.manifest, json.Deterministic(true), jsontext.WithIndent("  "))
	if err != nil {
		return err
	}
	out, err := e.create(manifestName)
	if err != nil {
		return err
	}
	if _, err := out.Write(append(text, '\n')); err != nil {
		return err
	}
	return e.zip.Close()
}
