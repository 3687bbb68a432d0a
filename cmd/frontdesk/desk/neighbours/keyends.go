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
	Ends time.Time // zero: it has none any more
	Told time.Time // by the clock of the database
	By   string    // the host
}

// KeyEnds returns all of them.
func (t *Tables) KeyEnds(ctx context.Context) (all []KeyEnd, err error) {
	err = t.db.Read(ctx, func(c sqlrecord.Conn) error {
		all = nil
		return c.Query(ctx, `SELECT sha256, key_name, ends_at, told_at, told_by FROM neighbour_key_end ORDER BY key_name, sha256`, []sqlrecord.Column{words, words, number, number, words}, nil, func(row []mapping.Value) error {
			end := KeyEnd{Key: row[1].Text(), Ends: time.UnixMilli(row[2].Int()), Told: time.UnixMilli(row[3].Int()), By: row[4].Text()}
			if _, err := hex.Decode(end.Hash[:], []byte(row[0].Text())); err != nil {
				return err
			}
			all = append(all, end)
			return nil
		})
	})
	return all, err
}

// TellKeyEnds keeps these ends, of each hash the earliest. What has a zero end has none any more.
func (t *Tables) TellKeyEnds(ctx context.Context, by string, all []KeyEnd) error {
	return t.db.Write(ctx, func(c sqlrecord.Conn) (err error) {
		for _, end := range all {
			hash := mapping.TextValue(hex.EncodeToString(end.Hash[:]))
			if end.Ends.IsZero() {
				_, err = c.Exec(ctx, `DELETE FROM neighbour_key_end WHERE sha256 = ?1`, hash)
			} else {
				_, err = c.Exec(ctx, `INSERT INTO neighbour_key_end (sha256, key_name, ends_at, told_at, told_by) VALUES (?1, ?2, ?3, `+t.db.Dialect().Present+`, ?4)
					ON CONFLICT (sha256) DO UPDATE SET ends_at = excluded.ends_at, told_at = excluded.told_at, told_by = excluded.told_by
					WHERE excluded.ends_at < neighbour_key_end.ends_at`,
					hash, mapping.TextValue(end.Key), mapping.IntValue(end.Ends.UnixMilli()), mapping.TextValue(by))
			}
			if err != nil {
				return err
			}
		}
		return nil
	})
}
