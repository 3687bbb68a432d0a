package idstore

import (
	"context"
	"slices"

	"go.uber.org/zap"

	"frontdesk/backend/sqlrecord"
	"frontdesk/mapping"
	"frontdesk/mapping/sheet"
)

// Keys that differ only in case are equal if the system compares without case. Then
// kept_id.folded has the folded key, and kept_id.key the spelling that was seen first,
// which is sent to the system. A key without a folded form is not found then.

func (s *Store) folds(resource string) bool { return slices.Contains(s.ignoresCase, resource) }

// IgnoreCase makes keys of a resource equal that differ only in case. It must be called
// before any ID of the resource is looked up.
func (s *Store) IgnoreCase(ctx context.Context, resource string) error {
	if s.folds(resource) {
		return nil
	}
	s.ignoresCase = append(s.ignoresCase, resource)
	if err := s.foldKeys(ctx, resource); err != nil {
		return failed("kept IDs of "+resource, err)
	}
	return nil
}

// foldAtOnce is how many keys one transaction folds.
const foldAtOnce = 1000

// foldKeys folds the keys of a resource from before its case was ignored. Of several
// equal keys the first stays; the IDs of the others are no longer found.
func (s *Store) foldKeys(ctx context.Context, resource string) error {
	var gone []int64
	for from, more := int64(0), true; more; {
		var last int64
		var some []int64
		err := s.write(ctx, func(c sqlrecord.Conn) (err error) {
			last, some, more, err = s.foldSome(ctx, c, resource, from)
			return err
		})
		if err != nil {
			return err
		}
		from, gone = last, append(gone, some...)
	}
	if len(gone) > 0 {
		s.log.Warn("keys that differ in case alone had an ID each; the first one stays, the others are found no more",
			zap.String("resource", resource), zap.Int("count", len(gone)), zap.Int64s("ids", gone[:min(len(gone), 20)]))
	}
	return nil
}

// foldSome folds the next keys after an ID. It returns the last ID, and the IDs of keys
// that equal an earlier one.
func (s *Store) foldSome(ctx context.Context, c sqlrecord.Conn, resource string, from int64) (last int64, gone []int64, more bool, err error) {
	var rows [][]mapping.Value
	name := mapping.TextValue(resource)
	err = c.Query(ctx, `SELECT id, client_id, key FROM kept_id WHERE resource = ?1 AND id > ?2 AND folded IS NULL ORDER BY id LIMIT ?3`,
		[]sqlrecord.Column{number, number, words}, []mapping.Value{name, mapping.IntValue(from), mapping.IntValue(foldAtOnce)}, func(row []mapping.Value) error {
			rows = append(rows, slices.Clone(row))
			return nil
		})
	if err != nil {
		return from, nil, false, err
	}
	for _, row := range rows {
		n, err := c.Exec(ctx, `UPDATE kept_id SET folded = ?3 WHERE resource = ?1 AND id = ?2 AND NOT EXISTS
			(SELECT 1 FROM kept_id other WHERE other.resource = ?1 AND other.client_id = ?4 AND other.folded = ?3 AND other.id <> ?2)`,
			name, row[0], mapping.TextValue(sheet.FoldKey(row[2].Text())), row[1])
		if err != nil {
			return from, nil, false, err
		}
		if n == 0 {
			gone = append(gone, row[0].Int())
		}
		from = row[0].Int()
	}
	return from, gone, len(rows) == foldAtOnce, nil
}
