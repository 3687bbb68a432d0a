package neighbours

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"frontdesk/backend/sqlrecord"
	"frontdesk/mapping"
)

// HashOfKey identifies one of the hashes of an api_key.
type HashOfKey struct {
	Key    string // the name of the api_key
	SHA256 string // the first 8 digits of the hash
}

// KeyUses holds when hashes of api_keys were last used.
type KeyUses map[HashOfKey]time.Time

// KeyUses returns the uses that all gateways have stored.
func (t *Tables) KeyUses(ctx context.Context) (all KeyUses, err error) {
	err = t.db.Read(ctx, func(c sqlrecord.Conn) error {
		all = KeyUses{}
		return c.Query(ctx, `SELECT key_name, sha256, used_at FROM neighbour_key_use`, []sqlrecord.Column{words, words, number}, nil, func(row []mapping.Value) error {
			all[HashOfKey{row[0].Text(), row[1].Text()}] = time.UnixMilli(row[2].Int())
			return nil
		})
	})
	return all, err
}

// usesAtOnce is how many uses one statement stores.
const usesAtOnce = 100

// NoteKeyUses stores uses. If a later use of the same hash is stored, that one stays.
func (t *Tables) NoteKeyUses(ctx context.Context, uses KeyUses) error {
	if len(uses) == 0 {
		return nil
	}
	return t.db.Write(ctx, func(c sqlrecord.Conn) error {
		for chunk := range slices.Chunk(inOrder(uses), usesAtOnce) {
			var rows []string
			var args []mapping.Value
			for _, hash := range chunk {
				n := len(args)
				rows = append(rows, fmt.Sprintf("(?%d, ?%d, ?%d)", n+1, n+2, n+3))
				args = append(args, mapping.TextValue(hash.Key), mapping.TextValue(hash.SHA256), mapping.IntValue(uses[hash].UnixMilli()))
			}
			if _, err := c.Exec(ctx, `INSERT INTO neighbour_key_use (key_name, sha256, used_at) VALUES `+strings.Join(rows, ", ")+`
				ON CONFLICT (key_name, sha256) DO UPDATE SET used_at = excluded.used_at WHERE excluded.used_at > neighbour_key_use.used_at`, args...); err != nil {
				return err
			}
		}
		return nil
	})
}

// ForgetKeyUses deletes the uses of these hashes.
func (t *Tables) ForgetKeyUses(ctx context.Context, uses KeyUses) error {
	if len(uses) == 0 {
		return nil
	}
	return t.db.Write(ctx, func(c sqlrecord.Conn) error {
		for _, hash := range inOrder(uses) {
			if _, err := c.Exec(ctx, `DELETE FROM neighbour_key_use WHERE key_name = ?1 AND sha256 = ?2`, mapping.TextValue(hash.Key), mapping.TextValue(hash.SHA256)); err != nil {
				return err
			}
		}
		return nil
	})
}

// inOrder returns the hashes in the order in which every gateway locks their rows, so that no two
// gateways deadlock.
func inOrder(uses KeyUses) []HashOfKey {
	return slices.SortedFunc(maps.Keys(uses), func(a, b HashOfKey) int {
		return strings.Compare(a.Key+" "+a.SHA256, b.Key+" "+b.SHA256)
	})
}
