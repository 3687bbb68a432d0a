package neighbours

import (
	"context"
	"encoding/hex"
	"time"

	"frontdesk/backend/sqlrecord"
	"frontdesk/mapping"
)

// KeyEnd is the end that a gateway or a command gave to a hash of an api_key, for all gateways.
type KeyEnd struct {
	Hash [32]byte
	Key  string    // its name
	Ends time.Time // zero: the hash no longer has an end
	// Final says that nothing undoes the end once it has passed: it comes from expires in the files. Else
	// the hash was removed from the files of a gateway, and may come back.
	Final     bool
	Published time.Time // by the clock of the database
	By        string    // the host
}

// KeyEnds returns the ends of all hashes.
func (t *Tables) KeyEnds(ctx context.Context) (all []KeyEnd, err error) {
	err = t.db.Read(ctx, func(c sqlrecord.Conn) error {
		all = nil
		return c.Query(ctx, `SELECT sha256, key_name, ends_at, told_at, told_by, final FROM neighbour_key_end ORDER BY key_name, sha256`, []sqlrecord.Column{words, words, number, number, words, number}, nil, func(row []mapping.Value) error {
			end := KeyEnd{Key: row[1].Text(), Ends: time.UnixMilli(row[2].Int()), Published: time.UnixMilli(row[3].Int()), By: row[4].Text(), Final: row[5].Int() != 0}
			if _, err := hex.Decode(end.Hash[:], []byte(row[0].Text())); err != nil {
				return err
			}
			all = append(all, end)
			return nil
		})
	})
	return all, err
}

// PublishKeyEnds stores these ends, for each hash the earliest. A zero end deletes the stored one, unless that
// is final and has passed. lifted are the hashes whose end was deleted.
func (t *Tables) PublishKeyEnds(ctx context.Context, by string, all []KeyEnd) (lifted [][32]byte, err error) {
	present := t.db.Dialect().Present
	err = t.db.Write(ctx, func(c sqlrecord.Conn) error {
		lifted = nil
		for _, end := range all {
			hash := mapping.TextValue(hex.EncodeToString(end.Hash[:]))
			if end.Ends.IsZero() {
				n, err := c.Exec(ctx, `DELETE FROM neighbour_key_end WHERE sha256 = ?1 AND (final = 0 OR ends_at > `+present+`)`, hash)
				if err != nil {
					return err
				}
				if n > 0 {
					lifted = append(lifted, end.Hash)
				}
				continue
			}
			final := int64(0)
			if end.Final {
				final = 1
			}
			if _, err := c.Exec(ctx, `INSERT INTO neighbour_key_end (sha256, key_name, ends_at, told_at, told_by, final) VALUES (?1, ?2, ?3, `+present+`, ?4, ?5)
				ON CONFLICT (sha256) DO UPDATE SET ends_at = excluded.ends_at, told_at = excluded.told_at, told_by = excluded.told_by
				WHERE excluded.ends_at < neighbour_key_end.ends_at`,
				hash, mapping.TextValue(end.Key), mapping.IntValue(end.Ends.UnixMilli()), mapping.TextValue(by), mapping.IntValue(final)); err != nil {
				return err
			}
			if end.Final {
				if _, err := c.Exec(ctx, `UPDATE neighbour_key_end SET final = 1 WHERE sha256 = ?1`, hash); err != nil {
					return err
				}
			}
		}
		return nil
	})
	return lifted, err
}
