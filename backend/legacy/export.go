package legacy

import (
	"context"
	"fmt"
	"io"

	"frontdesk/auth"
	"frontdesk/backend"
	"frontdesk/backend/backupzip"
	"frontdesk/backend/sqlrecord"
	"frontdesk/mapping"
	"frontdesk/mapping/sheet"
)

// exportRows is how many rows are converted at once.
const exportRows = 500

// Export implements backend.Exporter in one snapshot of the database, on a connection outside of
// the pools. The backup has no counters and no last IDs: the database keeps those itself.
func (s *Store) Export(ctx context.Context, client auth.Client, out io.Writer) (m backend.Manifest, err error) {
	w := backupzip.NewWriter(out, client.Name, s.sheet.Model.Version, s.now())
	err = sqlrecord.LongSnapshot(ctx, s.db, func(c sqlrecord.Conn) error {
		for _, r := range s.sheet.Model.Resources {
			if err := (session{Store: s, conn: c}).export(ctx, r, client, w); err != nil {
				return s.wrap(r.Name, err)
			}
		}
		doubt := true // among many tables nobody would notice one that only looks empty
		return session{Store: s, conn: c, doubt: &doubt}.certain(ctx, nil)
	})
	if err == nil {
		err = w.Finish()
	}
	if err != nil {
		return m, fmt.Errorf("back up client %s: %w", client.Name, err)
	}
	return w.Manifest, nil
}

// export writes the client's own records, without those that all clients share. A record that
// cannot be shown is an error: a backup without it would look complete.
func (s session) export(ctx context.Context, r *mapping.Resource, client auth.Client, out *backupzip.Writer) error {
	t, err := s.TableFor(ctx, r, client)
	if err != nil || t.IsShared() {
		return err
	}
	b := batch{session: s, t: t, client: client}
	flush := func() error {
		if err := b.finish(ctx, false); err != nil {
			return err
		}
		for _, rec := range b.records {
			if rec.Flag(r.IsSystem) {
				continue
			}
			if err := out.Add(rec); err != nil {
				return err
			}
		}
		b.records, b.pending = b.records[:0], b.pending[:0]
		return nil
	}
	all := backend.Query{Client: client, Fields: r.RecordFields()}
	err = t.Rows.Many(s.d, s.Params(t, client), all, nil).Each(ctx, s.conn, func(rec mapping.Record, extra []mapping.Value, lost *mapping.Field) error {
		if err := b.add(rec, extra, lost); err != nil {
			return err
		}
		if b.lost != nil {
			return fmt.Errorf("%w: %s of a record has a value that is none of the field", backend.ErrUnexpected, b.lost.Name)
		}
		if len(b.records) < exportRows {
			return nil
		}
		return flush()
	})
	if err == nil {
		err = flush()
	}
	return s.failure(err, sheet.Attempt{Resource: t.Resource, Op: mapping.OpList})
}
