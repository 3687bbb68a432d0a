package reference

import (
	"context"
	"errors"
	"fmt"
	"io"

	"frontdesk/auth"
	"frontdesk/backend"
	"frontdesk/backend/backupzip"
	"frontdesk/backend/sqlrecord"
	"frontdesk/mapping"
)

// largeLine is the size from which the buffer of a line is not reused.
const largeLine = 1 << 20

// ErrUnknownClient says that no client has that name.
var ErrUnknownClient = errors.New("there is no such client")

var _ backend.Exporter = (*Store)(nil)

// FindClient returns the client of that name, or ErrUnknownClient.
func (s *Store) FindClient(ctx context.Context, name string) (auth.Client, error) {
	client := auth.Client{Name: name}
	err := s.reserved.Read(ctx, func(conn sqlrecord.Conn) error {
		id, found, err := s.internalTables(conn).one(ctx, `SELECT id FROM client WHERE name = ?1`, mapping.TextValue(name))
		if err == nil && !found {
			err = ErrUnknownClient
		}
		client.ID = id
		return err
	})
	return client, err
}

// Export implements backend.Exporter on a connection of its own. Like users,
// answers under idempotency keys, which live for a day, are left out.
func (s *Store) Export(ctx context.Context, client auth.Client, w io.Writer) (m backend.Manifest, err error) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	e := exporter{client: client, out: backupzip.NewWriter(w, client.Name, s.model.Version, s.now()), stop: cancel}
	err = sqlrecord.LongSnapshot(ctx, s.db, func(conn sqlrecord.Conn) error {
		e.internalTables, e.records = s.internalTables(conn), s.records.On(conn)
		return e.run(ctx, s.model)
	})
	if err == nil {
		err = e.out.Finish()
	}
	if err != nil {
		return backend.Manifest{}, fmt.Errorf("back up client %q: %w", client.Name, err)
	}
	return e.out.Manifest, nil
}

// exporter writes one backup.
type exporter struct {
	internalTables
	records *sqlrecord.Store
	client  auth.Client
	out     *backupzip.Writer
	stop    func(cause error) // ends the running statement
}

func (e *exporter) run(ctx context.Context, model *mapping.Model) error {
	err := e.conn.Query(ctx, `SELECT name, value FROM counter WHERE client_id = ?1`, []sqlrecord.Column{words, number},
		[]mapping.Value{mapping.IntValue(e.client.ID)}, func(row []mapping.Value) error {
			e.out.Manifest.Counters[row[0].Text()] = row[1].Int()
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
			e.out.Manifest.LastIDs[r.Name] = last
		}
		if err := e.part(ctx, r); err != nil {
			return fmt.Errorf("%s: %w", r.Name, err)
		}
	}
	return nil
}

// part writes the records of a resource, if there are any.
func (e *exporter) part(ctx context.Context, r *mapping.Resource) error {
	return e.records.Each(ctx, e.client, r, func(rec mapping.Record) error {
		err := e.out.Add(rec)
		if err != nil {
			e.stop(err) // otherwise the rest of the result would still be fetched
		}
		return err
	})
}
