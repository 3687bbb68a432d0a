package idstore

import (
	"context"
	"fmt"
	"math"
	"time"

	"frontdesk/auth"
	"frontdesk/backend/sqlrecord"
	"frontdesk/mapping"
	"frontdesk/mapping/sheet"
)

// A new ID is at least the number of seconds since begun. So a store that replaces a lost
// one, or is restored from a backup, does not issue IDs again that were issued meanwhile,
// unless these were issued faster than one a second. From 2060 on, or by a wrong clock, IDs
// go on from the last: every resource has a thousand million left then.
var begun = time.Date(2026, time.January, 1, 0, 0, 0, 0, time.UTC)

const highestFloor = 1 << 30

// floor is the ID above which new ones are issued.
func (s *Store) floor() int64 {
	return min(int64(s.now().Sub(begun)/time.Second), highestFloor)
}

// IDs returns the ID (int4) of every key, and issues one, counted per resource, for keys
// that have none yet. An ID is durable before IDs returns, never changes, and never gets
// another key.
func (s *Store) IDs(ctx context.Context, refs []sheet.KeyRef) (sheet.IDs, error) {
	ids := make(sheet.IDs, len(refs))
	var missing []sheet.KeyRef
	for _, ref := range refs {
		if id, ok := s.ids.Get(ref); ok {
			ids[ref] = id
		} else {
			missing = append(missing, ref)
		}
	}
	if len(missing) == 0 {
		return ids, nil
	}
	missing, err := s.readIDs(ctx, missing, ids)
	if err != nil {
		return nil, failed("kept IDs", err)
	}
	if len(missing) > 0 {
		if err := s.giveOut(ctx, missing, ids); err != nil {
			return nil, failed("kept IDs", err)
		}
	}
	return ids, nil
}

// Given returns the IDs of the keys that have one, and issues none.
func (s *Store) Given(ctx context.Context, refs []sheet.KeyRef) (sheet.IDs, error) {
	ids := make(sheet.IDs, len(refs))
	if _, err := s.readIDs(ctx, refs, ids); err != nil {
		return nil, failed("kept IDs", err)
	}
	return ids, nil
}

// readIDs adds the IDs that were issued before, and returns the other keys.
func (s *Store) readIDs(ctx context.Context, refs []sheet.KeyRef, ids sheet.IDs) (missing []sheet.KeyRef, err error) {
	err = s.db.Read(ctx, func(c sqlrecord.Conn) error {
		missing = nil
		for _, ref := range refs {
			id, err := s.readID(ctx, c, ref)
			switch {
			case err != nil:
				return err
			case id == 0:
				missing = append(missing, ref)
			default:
				ids[ref] = id
				s.remember(ref, id)
			}
		}
		return nil
	})
	return missing, err
}

func (s *Store) readID(ctx context.Context, c sqlrecord.Conn, ref sheet.KeyRef) (int32, error) {
	sql := `SELECT id FROM kept_id WHERE resource = ?1 AND client_id = ?2 AND key = ?3`
	if s.folds(ref.Resource) {
		sql = `SELECT id FROM kept_id WHERE resource = ?1 AND client_id = ?2 AND folded = ?3`
		ref.Key = sheet.FoldKey(ref.Key)
	}
	row, err := sqlrecord.One(ctx, c, sql, []sqlrecord.Column{number}, values(ref)...)
	if err != nil || row == nil {
		return 0, err
	}
	return int32(row[0].Int()), nil
}

func values(ref sheet.KeyRef) []mapping.Value {
	return []mapping.Value{mapping.TextValue(ref.Resource), mapping.IntValue(ref.Client), mapping.TextValue(ref.Key)}
}

// giveOut issues new IDs for keys, unless somebody else has done so meanwhile.
func (s *Store) giveOut(ctx context.Context, refs []sheet.KeyRef, ids sheet.IDs) error {
	given := sheet.IDs{}
	err := s.write(ctx, func(c sqlrecord.Conn) error {
		clear(given)
		last := map[string]int64{}
		for _, ref := range refs {
			if given[ref] != 0 {
				continue
			}
			n, err := s.giveOne(ctx, c, ref, last)
			if err != nil {
				return err
			}
			given[ref] = n
		}
		for resource, id := range last {
			if _, err := c.Exec(ctx, `UPDATE kept_last_id SET id = ?2 WHERE resource = ?1`, mapping.TextValue(resource), mapping.IntValue(id)); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	for ref, id := range given {
		ids[ref] = id
		s.remember(ref, id)
	}
	return nil
}

// giveOne issues one ID. last has the highest ID of each resource whose counter this
// transaction has locked.
func (s *Store) giveOne(ctx context.Context, c sqlrecord.Conn, ref sheet.KeyRef, last map[string]int64) (int32, error) {
	if _, locked := last[ref.Resource]; !locked {
		row, err := sqlrecord.One(ctx, c, `INSERT INTO kept_last_id (resource, id) VALUES (?1, 0) ON CONFLICT (resource) DO UPDATE SET id = kept_last_id.id RETURNING id`,
			[]sqlrecord.Column{number}, mapping.TextValue(ref.Resource))
		if err != nil {
			return 0, err
		}
		last[ref.Resource] = max(row[0].Int(), s.floor())
	}
	if id, err := s.readID(ctx, c, ref); err != nil || id != 0 {
		return id, err
	}
	if last[ref.Resource] >= math.MaxInt32 {
		return 0, fmt.Errorf("resource %s has used up all %d IDs", ref.Resource, math.MaxInt32)
	}
	id := last[ref.Resource] + 1
	folded := mapping.NullValue()
	if s.folds(ref.Resource) {
		folded = mapping.TextValue(sheet.FoldKey(ref.Key))
	}
	// The key may exist unfolded, from a gateway whose sheet does not ignore case yet.
	row, err := sqlrecord.One(ctx, c, `INSERT INTO kept_id (resource, client_id, key, id, folded) VALUES (?1, ?2, ?3, ?4, ?5)
		ON CONFLICT (resource, client_id, key) DO UPDATE SET folded = excluded.folded RETURNING id`,
		[]sqlrecord.Column{number}, append(values(ref), mapping.IntValue(id), folded)...)
	if err != nil {
		return 0, err
	}
	if row[0].Int() == id {
		last[ref.Resource] = id
	}
	return int32(row[0].Int()), nil
}

func (s *Store) remember(ref sheet.KeyRef, id int32) {
	s.ids.Add(ref, id)
	if !s.folds(ref.Resource) { // a folded key may be another spelling than the kept one
		s.keys.Add(sheet.IDRef{Resource: ref.Resource, ID: id}, ref)
	}
}

// Keys returns the keys of IDs. An ID that was never issued, or belongs to another
// client's key, is left out: the caller cannot distinguish the two.
func (s *Store) Keys(ctx context.Context, client auth.Client, refs []sheet.IDRef) (sheet.Keys, error) {
	keys := make(sheet.Keys, len(refs))
	var missing []sheet.IDRef
	add := func(ref sheet.IDRef, of sheet.KeyRef) {
		if of.Client == 0 || of.Client == client.ID {
			keys[ref] = of.Key
		}
	}
	for _, ref := range refs {
		if of, ok := s.keys.Get(ref); ok {
			add(ref, of)
		} else {
			missing = append(missing, ref)
		}
	}
	if len(missing) == 0 {
		return keys, nil
	}
	err := s.db.Read(ctx, func(c sqlrecord.Conn) error {
		for _, ref := range missing {
			sql := `SELECT client_id, key FROM kept_id WHERE resource = ?1 AND id = ?2`
			if s.folds(ref.Resource) {
				sql += ` AND folded IS NOT NULL`
			}
			row, err := sqlrecord.One(ctx, c, sql, []sqlrecord.Column{number, words},
				mapping.TextValue(ref.Resource), mapping.IntValue(int64(ref.ID)))
			if err != nil {
				return err
			}
			if row != nil {
				of := sheet.KeyRef{Resource: ref.Resource, Client: row[0].Int(), Key: row[1].Text()}
				s.ids.Add(of, ref.ID)
				s.keys.Add(ref, of)
				add(ref, of)
			}
		}
		return nil
	})
	if err != nil {
		return nil, failed("kept IDs", err)
	}
	return keys, nil
}
