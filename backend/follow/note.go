package follow

import (
	"context"
	"errors"
	"hash/fnv"

	"frontdesk/backend"
	"frontdesk/backend/sqlrecord"
	"frontdesk/mapping"
)

// sighting is a record as it was seen, or the fact that it has gone.
type sighting struct {
	id       int32
	version  int64
	modified mapping.Value
	kind     backend.ChangeKind
	own      bool // the gateway itself wrote the record
}

func sightingOf(rec mapping.Record, kind backend.ChangeKind) sighting {
	s := sighting{id: rec.ID(), version: versionOf(rec), modified: mapping.NullValue(), kind: kind}
	if at := rec.Values[rec.Resource.ModifiedAt]; at.IsSet() {
		s.modified = mapping.IntValue(at.Int())
	}
	return s
}

// gone is the column of that name: 1 for a record that has gone.
func (s sighting) gone() int64 {
	if s.kind == backend.RecordDeleted {
		return 1
	}
	return 0
}

// versionOf is a number that changes with every change of a record.
func versionOf(rec mapping.Record) int64 {
	if rec.Version != 0 {
		return rec.Version
	}
	sum := fnv.New64a()
	_, _ = sum.Write(rec.AppendJSON(nil, rec.Resource.ListFields())) // a hash never fails
	return int64(sum.Sum64() >> 1)
}

var (
	// errLost says that another gateway has the lease.
	errLost = errors.New("another gateway looks after changes")
	// errLeft says that nobody follows a resource any more.
	errLeft = errors.New("nobody follows it any more")
)

// note stores what was seen and reports what is new of it, in one transaction. For a look (in is
// not nil) it needs the lease. The first look reports nothing, since nobody has a cursor yet.
func (f *Follower) note(ctx context.Context, p pair, in *look, all []sighting) error {
	if len(all) == 0 {
		return nil
	}
	return f.db.Write(ctx, func(c sqlrecord.Conn) error {
		if in != nil {
			if err := f.renew(ctx, c); err != nil {
				return err
			}
		}
		row, err := sqlrecord.One(ctx, c, `SELECT pass FROM followed WHERE client_id = ?1 AND resource = ?2`, numbers(1), p.values()...)
		switch {
		case err != nil:
			return err
		case row == nil && in == nil:
			return nil
		case row == nil || in != nil && row[0].Int() != in.pass:
			return errLeft
		}
		for _, s := range all {
			changed, err := f.store(ctx, c, p, row[0].Int(), s)
			if err == nil && changed && (in == nil || !in.first) {
				err = sqlrecord.Note(ctx, c, f.o.DB.Dialect(), p.client.ID, p.resource, s.id, s.kind)
			}
			if err != nil {
				return err
			}
		}
		return nil
	})
}

// store stores what was seen. A look may have seen an older state of a record that changed
// during the look: then it must not report that the record has gone, or is there again.
func (f *Follower) store(ctx context.Context, c sqlrecord.Conn, p pair, pass int64, s sighting) (changed bool, err error) {
	newer := `followed_record.pass < excluded.pass`
	switch {
	case s.own && s.kind == backend.RecordUpdated:
		newer = `FALSE` // the note of an update may come after that of a later deletion
	case s.own:
		newer = `TRUE`
	}
	differs := `followed_record.gone = 0 AND (followed_record.version <> excluded.version OR followed_record.modified IS DISTINCT FROM excluded.modified)
		OR followed_record.gone = 1 AND ` + newer
	if s.kind == backend.RecordDeleted {
		differs = `followed_record.gone = 0 AND ` + newer
	}
	n, err := c.Exec(ctx, `INSERT INTO followed_record (client_id, resource, id, version, modified, gone, pass) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)
		ON CONFLICT (client_id, resource, id) DO UPDATE SET version = excluded.version, modified = excluded.modified, gone = excluded.gone, pass = excluded.pass
		WHERE `+differs, p.values(mapping.IntValue(int64(s.id)), mapping.IntValue(s.version), s.modified, mapping.IntValue(s.gone()), mapping.IntValue(pass))...)
	return n > 0, err
}

// lastSeen returns those of the records that have been seen before.
func (f *Follower) lastSeen(ctx context.Context, p pair, ids []int32) (map[int32]sighting, error) {
	found := make(map[int32]sighting, len(ids))
	return found, f.db.Read(ctx, func(c sqlrecord.Conn) error {
		return sqlrecord.ByIDs(ctx, c, f.o.DB.Dialect(), `SELECT id, version, modified, gone FROM followed_record WHERE client_id = ?1 AND resource = ?2 AND id`,
			numbers(4), p.values(), ids, func(row []mapping.Value) error {
				s := sighting{id: int32(row[0].Int()), version: row[1].Int(), modified: row[2], kind: backend.RecordUpdated}
				if row[3].Int() == 1 {
					s.kind = backend.RecordDeleted
				}
				found[s.id] = s
				return nil
			})
	})
}

// newsAfter compares the sighting of an existing record with the last one, zero for none. It reports
// whether the record is new or has changed, and returns the sighting with that kind.
func (s sighting) newsAfter(was sighting) (sighting, bool) {
	if was.kind != backend.RecordUpdated {
		return s, true
	}
	s.kind = was.kind
	same := was.version == s.version && was.modified.Kind() == s.modified.Kind() && was.modified.Int() == s.modified.Int()
	return s, !same
}

// noteNews notes which of some records have changed since they were last seen.
func (l *look) noteNews(ctx context.Context, records []mapping.Record) error {
	ids := make([]int32, len(records))
	for i, rec := range records {
		ids[i] = rec.ID()
	}
	before, err := l.f.lastSeen(ctx, l.pair, ids)
	if err != nil {
		return err
	}
	var news []sighting
	for _, rec := range records {
		if s, is := sightingOf(rec, backend.RecordCreated).newsAfter(before[rec.ID()]); is {
			news = append(news, s)
		}
	}
	return l.f.note(ctx, l.pair, l, news)
}
