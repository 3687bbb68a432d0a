package follow

import (
	"context"
	"time"

	"go.uber.org/zap"

	"frontdesk/auth"
	"frontdesk/backend"
	"frontdesk/backend/sqlrecord"
	"frontdesk/mapping"
)

// noteWait bounds how long a finished write waits to be noted.
const noteWait = 5 * time.Second

// WriteNoted runs a write of the driver, and then notes at once what it changed. If noting fails, the next
// look finds the changes.
func (f *Follower) WriteNoted(ctx context.Context, do func(backend.Tx) error, write func(func(backend.Tx) error) error) error {
	if f == nil {
		return write(do)
	}
	var written []written
	err := write(func(tx backend.Tx) error {
		written = written[:0]
		return do(&noting{tx, &written})
	})
	if err != nil || len(written) == 0 {
		return err
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), noteWait)
	defer cancel()
	if err := f.noteWritten(ctx, written); err != nil {
		f.o.Log.Warn("a change of the gateway's own could not be noted, and is told after the next look", zap.Error(err))
	}
	return nil
}

// written is a record that the gateway has written for a client.
type written struct {
	client auth.Client
	rec    mapping.Record
	kind   backend.ChangeKind
}

// noting is a Tx that remembers what is written.
type noting struct {
	backend.Tx
	written *[]written
}

func (n *noting) add(client auth.Client, rec mapping.Record, kind backend.ChangeKind) {
	*n.written = append(*n.written, written{client, rec, kind})
	for _, elements := range rec.Children {
		for _, e := range elements {
			n.add(client, e, kind)
		}
	}
}

// Create implements backend.Tx.
func (n *noting) Create(ctx context.Context, client auth.Client, rec mapping.Record) (mapping.Record, error) {
	stored, err := n.Tx.Create(ctx, client, rec)
	if err == nil {
		n.add(client, stored, backend.RecordCreated)
	}
	return stored, err
}

// Update implements backend.Tx.
func (n *noting) Update(ctx context.Context, client auth.Client, before, patch mapping.Record) (mapping.Record, error) {
	stored, err := n.Tx.Update(ctx, client, before, patch)
	if err == nil {
		*n.written = append(*n.written, written{client, stored, backend.RecordUpdated})
	}
	return stored, err
}

// Delete implements backend.Tx.
func (n *noting) Delete(ctx context.Context, client auth.Client, before mapping.Record) error {
	err := n.Tx.Delete(ctx, client, before)
	if err == nil {
		n.add(client, before, backend.RecordDeleted)
	}
	return err
}

// noteWritten notes written records for the client that wrote. A record that belongs to all clients is
// also noted for every other client that has seen it.
func (f *Follower) noteWritten(ctx context.Context, all []written) error {
	for _, w := range all {
		r := w.rec.Resource
		if f.resources[r.Name] == nil {
			continue
		}
		s := sightingOf(w.rec, w.kind)
		s.own = true
		err := f.note(ctx, pair{w.client, r}, nil, []sighting{s})
		if err == nil && w.rec.Owner == mapping.OfAll {
			err = f.noteShared(ctx, pair{w.client, r}, s)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// noteShared notes a record for all other clients that have seen it. Only their next look reports a new
// record to them: whether they see it is not known before.
func (f *Follower) noteShared(ctx context.Context, by pair, s sighting) error {
	return f.db.Write(ctx, func(c sqlrecord.Conn) error {
		var others []int64
		err := c.Query(ctx, `UPDATE followed_record SET version = ?4, modified = ?5, gone = ?6,
			pass = (SELECT f.pass FROM followed f WHERE f.client_id = followed_record.client_id AND f.resource = followed_record.resource)
			WHERE client_id <> ?1 AND resource = ?2 AND id = ?3 AND client_id IN (SELECT f.client_id FROM followed f WHERE f.resource = ?2)
			AND gone = 0 AND (CAST(?6 AS BIGINT) = 1 OR version <> ?4 OR modified IS DISTINCT FROM ?5) RETURNING client_id`, numbers(1),
			by.values(mapping.IntValue(int64(s.id)), mapping.IntValue(s.version), s.modified, mapping.IntValue(s.gone())), func(row []mapping.Value) error {
				others = append(others, row[0].Int())
				return nil
			})
		for _, client := range others {
			if err == nil {
				err = sqlrecord.Note(ctx, c, f.o.DB.Dialect(), client, by.resource, s.id, s.kind)
			}
		}
		return err
	})
}
