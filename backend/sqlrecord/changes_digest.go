package sqlrecord

import (
	"cmp"
	"context"
	"crypto/sha256"
	"hash"
	"math"
	"math/bits"
	"strconv"

	"frontdesk/backend"
	"frontdesk/mapping"
)

// States are the records of a resource that a digest sums up, as a connection sees them.
type States interface {
	// Greatest returns the greatest ID from q.From on that the client sees; 0 if it sees none.
	Greatest(ctx context.Context, c Conn, q backend.DigestQuery) (int64, error)
	// Each calls each for the ID and modified_at of each record from q.From to q.To (0: all
	// from From on), in the order of IDs.
	Each(ctx context.Context, c Conn, q backend.DigestQuery, each func(id, modified mapping.Value)) error
}

// Digest sums up the records of a resource; see backend.ChangeFeed. It reads only
// their IDs and modified_at, in a state that includes all changes up to the cursor.
func (c *Changes) Digest(ctx context.Context, r *mapping.Resource, q backend.DigestQuery) (digest backend.Digest, err error) {
	return c.DigestOf(ctx, q, recordStates{c.records, r})
}

// DigestOf is Digest for records of another system.
func (c *Changes) DigestOf(ctx context.Context, q backend.DigestQuery, of States) (digest backend.Digest, err error) {
	err = c.db.Snapshot(ctx, func(conn Conn) error {
		now, err := c.now(ctx, conn)
		if err != nil {
			return err
		}
		last := int64(q.To)
		if last == 0 {
			if last, err = of.Greatest(ctx, conn, q); err != nil {
				return err
			}
		}
		sums := newSums(q, last)
		if err := of.Each(ctx, conn, q, sums.add); err != nil {
			return err
		}
		digest = backend.Digest{Ranges: sums.end(), Cursor: c.seal.text(q.Client, now)}
		return nil
	})
	return digest, err
}

// recordStates are the records of a store.
type recordStates struct {
	records *Store
	r       *mapping.Resource
}

func (s recordStates) Greatest(ctx context.Context, c Conn, q backend.DigestQuery) (int64, error) {
	t := s.records.tables[s.r]
	q.To = math.MaxInt32
	where, args := s.inRange(t, q, true)
	return number(ctx, c, "SELECT "+t.columns[s.r.ID]+" FROM "+t.name+where+" LIMIT 1", args...)
}

func (s recordStates) Each(ctx context.Context, c Conn, q backend.DigestQuery, each func(id, modified mapping.Value)) error {
	t := s.records.tables[s.r]
	q.To = cmp.Or(q.To, math.MaxInt32)
	where, args := s.inRange(t, q, false)
	text := "SELECT " + t.columns[s.r.ID] + ", " + t.columns[s.r.ModifiedAt] + " FROM " + t.name + where
	return c.Query(ctx, text, []Column{{Type: mapping.Int4}, {Type: mapping.Timestamp}}, args, func(row []mapping.Value) error {
		each(row[0], row[1])
		return nil
	})
}

// inRange is the end of a statement for the records of a range, by ID. As in listWriter,
// PostgreSQL is left no other index than that of the client's IDs.
func (s recordStates) inRange(t *table, q backend.DigestQuery, descending bool) (text string, args []mapping.Value) {
	d := s.records.db.Dialect()
	id, p := t.columns[s.r.ID], d.Placeholder
	args = []mapping.Value{mapping.IntValue(q.Client.ID), mapping.IntValue(int64(q.From)), mapping.IntValue(int64(q.To))}
	if !d.sqlite && !t.shared {
		columns := "(" + d.Quote(clientColumn) + ", " + id + ")"
		return " WHERE " + columns + " >= ($1, $2) AND " + columns + " <= ($1, $3) ORDER BY " + d.OrderBy(d.Quote(clientColumn), descending, false) + ", " +
			d.OrderBy(id, descending, false), args
	}
	return " WHERE " + t.visible + " AND " + id + " BETWEEN " + p(2) + " AND " + p(3) + " ORDER BY " + d.OrderBy(id, descending, false), args
}

// sums are the ranges of a digest while it is computed.
type sums struct {
	ranges []backend.DigestRange
	at     int
	sum    hash.Hash
	line   []byte
}

// newSums cuts the IDs from q.From on into ranges of equal width. Unless the query says where
// they end, they are cut up to the power of two above the last ID, so that new records seldom
// move the limits, and the last range takes all the rest.
func newSums(q backend.DigestQuery, last int64) *sums {
	from, to := int64(q.From), last
	if q.To == 0 {
		to = max(from, min(int64(1)<<bits.Len64(uint64(max(last, 1))), math.MaxInt32))
	}
	s := &sums{sum: sha256.New()}
	width := max((to-from+int64(q.Ranges))/int64(q.Ranges), 1)
	for ; from <= to; from += width {
		s.ranges = append(s.ranges, backend.DigestRange{From: int32(from), To: int32(min(from+width-1, to))})
	}
	if q.To == 0 {
		s.ranges[len(s.ranges)-1].To = math.MaxInt32
	}
	return s
}

func (s *sums) add(id, modified mapping.Value) {
	for int32(id.Int()) > s.ranges[s.at].To {
		s.close()
	}
	s.ranges[s.at].Count++
	s.line = append(strconv.AppendInt(s.line[:0], id.Int(), 10), ' ')
	s.line = append(append(s.line, modified.String()...), '\n')
	s.sum.Write(s.line)
}

// close ends the range that records are added to.
func (s *sums) close() {
	s.sum.Sum(s.ranges[s.at].Digest[:0])
	s.sum.Reset()
	s.at++
}

func (s *sums) end() []backend.DigestRange {
	for s.at < len(s.ranges) {
		s.close()
	}
	return s.ranges
}
