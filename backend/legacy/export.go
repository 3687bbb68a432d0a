package legacy

import (
	"context"
	"errors"
	"fmt"
	"io"

	"frontdesk/auth"
	"frontdesk/backend"
	"frontdesk/backend/backupzip"
	"frontdesk/mapping"
	"frontdesk/mapping/sheet"
)

// exportRows is how many rows are converted at once.
const exportRows = 500

// Export implements backend.Exporter in one snapshot of the database, on a connection of its
// own. It has no counters and no last IDs: the database keeps those itself.
func (s *Store) Export(ctx context.Context, client auth.Client, out io.Writer) (m backend.Manifest, err error) {
	db := s.beside()
	defer func() { err = errors.Join(err, db.Close()) }()
	tx, err := db.BeginTx(ctx, s.d.snapshot())
	if err != nil {
		return m, fmt.Errorf("back up client %s: %w", client.Name, err)
	}
	defer func() { _ = tx.Rollback() }() // it only reads
	e := exporter{
		session: session{Store: s, conn: tx}, client: client,
		out: backupzip.NewWriter(out, client.Name, s.sheet.Model.Version, s.now()),
	}
	for _, r := range s.sheet.Model.Resources {
		if err := e.resource(ctx, s.tables[r]); err != nil {
			return backend.Manifest{}, s.wrap("back up client "+client.Name+": "+r.Name, err)
		}
	}
	if err := e.out.Finish(); err != nil {
		return backend.Manifest{}, fmt.Errorf("back up client %s: %w", client.Name, err)
	}
	return e.out.Manifest, nil
}

type exporter struct {
	session
	client auth.Client
	out    *backupzip.Writer
}

// resource writes the client's own records, and none that all clients share.
func (e *exporter) resource(ctx context.Context, t *table) error {
	if t.IsShared() {
		return nil
	}
	if op := t.Operations[mapping.OpList]; op != nil && op.Procedure != "" {
		return e.listed(ctx, t, op)
	}
	b := newStatement(e.d)
	t.selected(b, e.client, true)
	t.visible(b, e.client)
	t.sorted(b, backend.Query{})
	batch := make([][]sheet.Raw, 0, exportRows)
	err := query(ctx, e.conn, b, func(row []sheet.Raw) error {
		if batch = append(batch, row); len(batch) < exportRows {
			return nil
		}
		err := e.write(ctx, t, batch)
		batch = batch[:0]
		return err
	})
	return errors.Join(err, e.write(ctx, t, batch))
}

func (e *exporter) listed(ctx context.Context, t *table, op *sheet.Operation) error {
	page, err := e.listByProcedure(ctx, t, op, backend.Query{Client: e.client})
	if err != nil {
		return err
	}
	return e.add(page.Records)
}

func (e *exporter) write(ctx context.Context, t *table, rows [][]sheet.Raw) error {
	records, err := e.decode(ctx, t, backend.Query{Client: e.client}, rows)
	if err != nil {
		return err
	}
	return e.add(records)
}

func (e *exporter) add(records []mapping.Record) error {
	for _, rec := range records {
		if rec.Flag(rec.Resource.IsSystem) {
			continue
		}
		if err := e.out.Add(rec); err != nil {
			return err
		}
	}
	return nil
}
