package sqlrecord

import (
	"context"
	"fmt"
	"math"
	"strconv"

	"frontdesk/backend"
	"frontdesk/mapping"
)

// On PostgreSQL countTable has how many records of a client and resource are in each block of
// IDs, so that a total and a deep page cost the same however many records there are. It counts
// what the transactions before a position have written, which countStateTable names; what came
// after is in changeTable. A snapshot sees all three alike, and writers write nothing for it.
const (
	countTable      = "record_count"
	countStateTable = "record_count_state"
	// countShift makes a block of an ID: 1024 IDs are one.
	countShift = 10
	// countsStale is for how long counts are good that nobody has brought up to date, in
	// milliseconds: the changes after them are removed at some time.
	countsStale = 60 * 60 * 1000
)

// counts are the statements for countTable. Those of a resource have its name as $1.
type counts struct {
	shift int
	known string // the resources whose counts are known
	fold  string // adds the changes that are settled by now
	begin string
	claim string // a row if the resource is to be counted, and nobody else does it
	clear string
	count map[*mapping.Resource]string
	find  string // client, resource, offset: the total, the block of that record, and how many come before the block

	forget string // has all resources counted anew
	noted  string // the condition that a change is in the counts that are known
}

func newCounts(d *Dialect, resources map[*mapping.Resource]*table, shift int) *counts {
	const (
		head = "pg_snapshot_xmin(pg_current_snapshot())::text::bigint"
		put  = "INSERT INTO " + countTable + " AS c (client_id, resource, block, records) SELECT client_id, resource, block, sum(records) FROM "
	)
	block := "id >> " + strconv.Itoa(shift)
	known := fmt.Sprintf("counted_at > %s - %d", d.Present, countsStale)
	c := &counts{
		shift: shift,
		known: "SELECT resource FROM " + countStateTable + " WHERE " + known,
		fold: "WITH RECURSIVE log AS MATERIALIZED (SELECT resource, counted, " + head + " AS upto FROM " + countStateTable + " WHERE " + known + " FOR UPDATE SKIP LOCKED)," +
			" clients AS ((SELECT client_id FROM " + changeTable + " ORDER BY 1 LIMIT 1) UNION ALL SELECT (SELECT c.client_id FROM " + changeTable +
			" c WHERE c.client_id > clients.client_id ORDER BY 1 LIMIT 1) FROM clients WHERE clients.client_id IS NOT NULL)," +
			" news AS (SELECT c.client_id, c.resource, c." + block + " AS block, 2 - c.kind AS records FROM clients, LATERAL (SELECT * FROM " + changeTable +
			" WHERE client_id = clients.client_id AND tx >= (SELECT min(counted) FROM log) ORDER BY tx, seq OFFSET 0) c JOIN log ON log.resource = c.resource AND tx >= counted AND tx < upto)," +
			" put AS (" + put + "news GROUP BY 1, 2, 3 HAVING sum(records) <> 0 ON CONFLICT (client_id, resource, block) DO UPDATE SET records = c.records + excluded.records)" +
			" UPDATE " + countStateTable + " s SET counted = greatest(log.counted, log.upto), counted_at = " + d.Present + " FROM log WHERE s.resource = log.resource",
		begin: "INSERT INTO " + countStateTable + " (resource, counted, counted_at) VALUES ($1, 0, 0) ON CONFLICT DO NOTHING",
		claim: "SELECT 1::bigint FROM " + countStateTable + " WHERE resource = $1 AND NOT " + known + " FOR UPDATE SKIP LOCKED",
		clear: "DELETE FROM " + countTable + " WHERE resource = $1",
		count: map[*mapping.Resource]string{},
		find: "WITH blocks AS (SELECT block, sum(records) AS records FROM (SELECT block, records FROM " + countTable + " WHERE client_id = $1 AND resource = $2" +
			" UNION ALL SELECT " + block + ", 2 - kind FROM " + countStateTable + " s JOIN " + changeTable + " c USING (resource)" +
			" WHERE resource = $2 AND client_id = $1 AND tx >= counted) a GROUP BY block)," +
			" ends AS (SELECT block, records, sum(records) OVER (ORDER BY block) AS upto FROM blocks)" +
			" SELECT (SELECT coalesce(sum(records), 0) FROM blocks)::bigint, e.block::bigint, (e.upto - e.records)::bigint FROM " + countStateTable +
			" LEFT JOIN LATERAL (SELECT * FROM ends WHERE upto > $3 ORDER BY block LIMIT 1) e ON true WHERE resource = $2 AND " + known,
		noted: "tx < (SELECT coalesce(min(counted), " + strconv.Itoa(math.MaxInt64) + ") FROM " + countStateTable + " WHERE " + known + ")",
	}
	c.forget = "INSERT INTO " + countStateTable + " (resource, counted, counted_at) SELECT resource, 0, 0 FROM (SELECT resource FROM " + countStateTable
	for r, t := range resources {
		c.forget += " UNION SELECT '" + r.Name + "'"
		// This counts all rows that the snapshot sees. Those written by transactions after the
		// position are subtracted, because find and fold add them.
		c.count[r] = "WITH now AS MATERIALIZED (SELECT " + head + " AS upto), there AS (SELECT client_id, $1 AS resource, " + block + " AS block, count(*) AS records FROM " + t.name +
			" GROUP BY 1, 3 UNION ALL SELECT client_id, $1, " + block + ", kind - 2 FROM " + changeTable + ", now WHERE resource = $1 AND tx >= upto)," +
			" put AS (" + put + "there GROUP BY 1, 2, 3 HAVING sum(records) <> 0)" +
			" UPDATE " + countStateTable + " SET counted = upto, counted_at = " + d.Present + " FROM now WHERE resource = $1"
	}
	c.forget += ") all_of_them ON CONFLICT (resource) DO UPDATE SET counted_at = 0"
	return c
}

func (s schema) countTables() []string {
	if s.d.sqlite {
		return nil
	}
	return []string{
		"CREATE TABLE IF NOT EXISTS " + countTable + " (client_id bigint NOT NULL, resource " + s.textKey() + " NOT NULL, block integer NOT NULL, " +
			"records bigint NOT NULL, PRIMARY KEY (client_id, resource, block) INCLUDE (records))",
		"CREATE TABLE IF NOT EXISTS " + countStateTable + " (resource " + s.textKey() + " PRIMARY KEY, counted bigint NOT NULL, counted_at bigint NOT NULL)",
	}
}

// Counts tells whether the store keeps counts, which Count has to bring up to date from time to time.
func (s *Store) Counts() bool { return s.counts != nil }

// Count brings the counts up to date, and counts those resources in full that have no counts yet,
// unless another process is doing so.
func (s *Store) Count(ctx context.Context) error {
	db, known := Reserved(s.db), map[string]bool{}
	err := db.Write(ctx, func(c Conn) error {
		for _, text := range []string{withoutJIT, s.counts.fold} {
			if _, err := c.Exec(ctx, text); err != nil {
				return err
			}
		}
		return c.Query(ctx, s.counts.known, []Column{{Type: mapping.Text}}, nil, func(row []mapping.Value) error {
			known[row[0].Text()] = true
			return nil
		})
	})
	for r, text := range s.counts.count {
		if err == nil && !known[r.Name] {
			err = db.Write(ctx, func(c Conn) error { return s.countAnew(ctx, c, mapping.TextValue(r.Name), text) })
		}
	}
	if err != nil {
		return fmt.Errorf("count records: %w", err)
	}
	return nil
}

func (s *Store) countAnew(ctx context.Context, c Conn, resource mapping.Value, text string) error {
	if _, err := c.Exec(ctx, s.counts.begin, resource); err != nil {
		return err
	}
	claimed := false
	err := c.Query(ctx, s.counts.claim, oneInt, []mapping.Value{resource}, func([]mapping.Value) error { claimed = true; return nil })
	if err != nil || !claimed {
		return err
	}
	if _, err := c.Exec(ctx, s.counts.clear, resource); err != nil {
		return err
	}
	_, err = c.Exec(ctx, text, resource)
	return err
}

// forgetCounts has the records counted anew, in the transaction that wrote some whose changes
// are not noted, or removed changes. It waits for who counts them for the first time, whose row
// nobody else sees. One transaction at a time does so: it has locked the row of changeLogTable.
func (s *Store) forgetCounts(ctx context.Context) error {
	if !s.Counts() {
		return nil
	}
	_, err := s.conn.Exec(ctx, s.counts.forget)
	return err
}

// isCounted tells whether counts help with a list: one of all of a client's records, whose total is
// wanted or whose page is a deep one in the order of IDs.
func (s *Store) isCounted(t *table, q backend.Query) bool {
	return s.Counts() && (s.conn == nil || s.snapshotted) && !selective(q) && !t.shared && (q.Total || s.counts.isDeep(q))
}

func (c *counts) isDeep(q backend.Query) bool {
	byID := len(q.Sort) == 0 || q.Sort[0].Field.Primary && !q.Sort[0].Descending
	return byID && q.After == 0 && q.Limit > 0 && q.Offset >= 1<<c.shift
}

// counted returns a list as it is asked for once its total is known, which it returns, and where
// the block begins that its page is in. Where the counts are not known, it is the list itself.
// It must see one snapshot with the list.
func (s *Store) counted(ctx context.Context, conn Conn, t *table, q backend.Query) (of backend.Query, total int64, err error) {
	args := []mapping.Value{mapping.IntValue(q.Client.ID), mapping.TextValue(t.r.Name), mapping.IntValue(int64(q.Offset))}
	err = conn.Query(ctx, s.counts.find, threeInts, args, func(row []mapping.Value) error {
		total, q.Total = row[0].Int(), false
		switch {
		case !s.counts.isDeep(q):
		case !row[1].IsSet(): // behind the last record
			q.After, q.Offset = math.MaxInt32, 0
		default:
			q.After = int32(row[1].Int()<<s.counts.shift - 1)
			q.Offset -= int(row[2].Int())
		}
		return nil
	})
	return q, total, err
}

var threeInts = []Column{{Type: mapping.Int4}, {Type: mapping.Int4}, {Type: mapping.Int4}}
