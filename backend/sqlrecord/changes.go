package sqlrecord

import (
	"context"
	"maps"
	"slices"
	"time"

	"frontdesk/auth"
	"frontdesk/backend"
	"frontdesk/mapping"
)

// Changes reports the changes of records: of a store, or of another system. It is safe for
// concurrent use.
type Changes struct {
	db       DB
	records  *Store   // nil for records of another system
	each     EachOf   // reads records of another system
	followed Followed // may be nil
	seal     seal
	keep     time.Duration
	byName   map[string]*mapping.Resource
	page     string // statement: client, after this position, at most so many
	any      string // statement: whether page would find any
}

// EachOf calls each for those of the records that the client sees, in the fields of lists.
type EachOf func(ctx context.Context, client auth.Client, r *mapping.Resource, ids []int32, each func(mapping.Record)) error

// Followed reports whether all changes of the resources are noted since a cursor was issued, at a
// moment in milliseconds since 1970 by the clock of the database. It runs on the connection that
// the changes are read on.
type Followed func(ctx context.Context, c Conn, q backend.ChangesQuery, issued int64) (bool, error)

// OpenChanges returns the changes of a store whose tables Migrate has made. They are kept for
// at least keep.
func OpenChanges(ctx context.Context, records *Store, keep time.Duration) (*Changes, error) {
	c := &Changes{db: records.db, records: records}
	return c, c.open(ctx, slices.Collect(maps.Keys(records.tables)), keep)
}

// OpenNotes returns the changes of records of another system: those that Note has written into
// a database, whose tables NotesMigration has made.
func OpenNotes(ctx context.Context, db DB, resources []*mapping.Resource, keep time.Duration, each EachOf, followed Followed) (*Changes, error) {
	c := &Changes{db: db, each: each, followed: followed}
	return c, c.open(ctx, resources, keep)
}

func (c *Changes) open(ctx context.Context, resources []*mapping.Resource, keep time.Duration) (err error) {
	d := c.db.Dialect()
	if c.seal, err = openSeal(ctx, c.db); err != nil {
		return err
	}
	c.keep, c.byName, c.page, c.any = keep, map[string]*mapping.Resource{}, changesText(d), anyText(d)
	for _, r := range resources {
		c.byName[r.Name] = r
	}
	return nil
}

// Note writes a change, in the transaction of a connection.
func Note(ctx context.Context, c Conn, d *Dialect, client int64, r *mapping.Resource, id int32, kind backend.ChangeKind) error {
	text := "INSERT INTO " + changeTable + " (client_id, resource, id, kind, at) VALUES (?1, ?2, ?3, ?4, " + d.Present + ")"
	_, err := c.Exec(ctx, text, mapping.IntValue(client), mapping.TextValue(r.Name), mapping.IntValue(int64(id)), mapping.IntValue(numberOf(kind)))
	return err
}

func numberOf(kind backend.ChangeKind) int64 {
	switch kind {
	case backend.RecordCreated:
		return kindCreated
	case backend.RecordDeleted:
		return kindDeleted
	default:
		return kindUpdated
	}
}

// changesText is the statement for some changes after a position, including those of system
// records, and for the head: the position before which everything is settled. Its result has at
// least one row.
//
// A transaction of PostgreSQL gets its number when it writes first, and the numbers of its
// changes while it is under way. So changes are reported in the order of transactions, and only
// those of transactions below the oldest that is under way: nothing can come before them.
func changesText(d *Dialect) string {
	p := d.Placeholder
	part := func(client, where, order string) string {
		return "SELECT * FROM (SELECT " + tx(d) + ", seq, resource, id, kind, at FROM " + changeTable + " WHERE client_id = " + client +
			" AND " + where + " ORDER BY " + order + " LIMIT " + p(4) + ") of_client"
	}
	if d.sqlite {
		where, order := "seq > ?3 AND ?2 = 0", "seq"
		return "SELECT (SELECT coalesce(max(seq), 0) FROM " + changeTable + "), " + d.Present + ", c.* FROM (SELECT 1) one LEFT JOIN (" +
			part("?1", where, order) + " UNION ALL " + part("0", where, order) + " ORDER BY seq LIMIT ?4) c"
	}
	where, order := "(tx, seq) > ($2, $3) AND tx < s.head", "tx, seq"
	return "SELECT s.head, " + d.Present + ", c.* FROM (SELECT pg_snapshot_xmin(pg_current_snapshot())::text::bigint AS head OFFSET 0) s LEFT JOIN LATERAL (" +
		part("$1", where, order) + " UNION ALL " + part("0", where, order) + " ORDER BY tx, seq LIMIT $4) c ON true ORDER BY c.tx, c.seq"
}

// anyText is the statement for the head, and for whether there are changes after a position: a
// poll that finds nothing needs no more.
func anyText(d *Dialect) string {
	if d.sqlite {
		last := "coalesce((SELECT max(seq) FROM " + changeTable + " WHERE client_id = "
		return "SELECT coalesce(max(seq), 0), " + d.Present + ", ?2 = 0 AND (" + last + "?1), 0) > ?3 OR " + last + "0), 0) > ?3) FROM " + changeTable
	}
	there := func(client string) string {
		return "EXISTS (SELECT FROM " + changeTable + " WHERE client_id = " + client + " AND (tx, seq) > ($2, $3) AND tx < s.head)"
	}
	return "SELECT s.head, " + d.Present + ", (" + there("$1") + " OR " + there("0") + ")::int::bigint FROM (SELECT pg_snapshot_xmin(pg_current_snapshot())::text::bigint AS head OFFSET 0) s"
}

// tx is the column of a change's transaction.
func tx(d *Dialect) string {
	if d.sqlite {
		return "0 AS tx"
	}
	return "tx"
}

// head is the position that the number in a row of changesText stands for.
func (c *Changes) head(n int64) spot {
	if c.db.Dialect().sqlite {
		return spot{seq: n}
	}
	return spot{tx: n}
}

// entry is one change as the table has it.
type entry struct {
	at       spot
	resource *mapping.Resource // nil if the model no longer has it
	id       int32
	kind     int64
	ms       int64
}

var entryColumns = []Column{{Type: mapping.Int4}, {Type: mapping.Int4}, {Type: mapping.Int4}, {Type: mapping.Int4}, {Type: mapping.Text},
	{Type: mapping.Int4}, {Type: mapping.Int4}, {Type: mapping.Int4}}

// read returns at most most changes after a position, and a cursor for now.
func (c *Changes) read(ctx context.Context, conn Conn, client auth.Client, after spot, most int) (found []entry, now cursor, err error) {
	args := []mapping.Value{mapping.IntValue(client.ID), mapping.IntValue(after.tx), mapping.IntValue(after.seq), mapping.IntValue(int64(most))}
	there := false
	err = conn.Query(ctx, c.any, entryColumns[:3], args[:3], func(row []mapping.Value) error {
		now, there = cursor{at: c.head(row[0].Int()), issued: row[1].Int()}, row[2].Int() != 0
		return nil
	})
	if !there || err != nil {
		return nil, now, err
	}
	err = conn.Query(ctx, c.page, entryColumns, args, func(row []mapping.Value) error {
		now = cursor{at: c.head(row[0].Int()), issued: row[1].Int()}
		if row[3].Kind() != mapping.KindNull {
			found = append(found, entry{
				at: spot{row[2].Int(), row[3].Int()}, resource: c.byName[row[4].Text()], id: int32(row[5].Int()), kind: row[6].Int(), ms: row[7].Int(),
			})
		}
		return nil
	})
	return found, now, err
}

// now returns a cursor for now.
func (c *Changes) now(ctx context.Context, conn Conn) (cursor, error) {
	_, now, err := c.read(ctx, conn, auth.Client{}, spot{}, 0)
	return now, err
}

// Page returns a page of changes; see backend.ChangeFeed.
func (c *Changes) Page(ctx context.Context, q backend.ChangesQuery) (page backend.ChangesPage, err error) {
	after, ok := c.seal.cursor(q.Client, q.After)
	if q.Begin {
		after = cursor{}
	} else if !ok {
		return page, mapping.Fail(mapping.CursorGone)
	}
	gathered, now := gathering{wanted: q.Resources, most: q.Limit, at: after.at}, cursor{}
	err = c.db.Read(ctx, func(conn Conn) (err error) {
		if q.Begin {
			now, err = c.now(ctx, conn)
			gathered.at = now.at
			return err
		}
		if now, page, err = c.collect(ctx, conn, q, after, &gathered); err == nil && q.Records && c.records != nil {
			err = fill(ctx, q, &gathered, &page, idsAtOnce, c.records.On(conn).eachOf)
		}
		return err
	})
	if err == nil && q.Records && c.records == nil { // after Read, because each may need a connection to this database itself
		err = fill(ctx, q, &gathered, &page, oneByOne, c.each)
	}
	if err != nil {
		return backend.ChangesPage{}, err
	}
	// If the clock was set back, the new cursor is still no older than the last.
	page.Cursor = c.seal.text(q.Client, cursor{at: gathered.at, issued: max(now.issued, after.issued)})
	return page, nil
}

// How many changes are read at once, and at most for one page. These are more than the records of
// the page, because a record may have several changes, and some changes are of other resources.
const (
	readAtOnce = 200
	readAtMost = 10000
)

// collect reads changes until the page is full.
func (c *Changes) collect(ctx context.Context, conn Conn, q backend.ChangesQuery, from cursor, gathered *gathering) (now cursor, page backend.ChangesPage, err error) {
	*gathered = gathering{wanted: q.Resources, most: q.Limit, at: from.at}
	for read := 0; ; {
		most := max(readAtOnce, q.Limit+q.Limit/4)
		var found []entry
		if found, now, err = c.read(ctx, conn, q.Client, gathered.at, most); err != nil {
			return now, page, err
		}
		age := from.age(now.issued)
		good := age <= c.keep && age > -keptLonger && !now.at.before(from.at)
		if good && read == 0 && c.followed != nil {
			if good, err = c.followed(ctx, conn, q, from.issued); err != nil {
				return now, page, err
			}
		}
		if !good {
			return now, page, mapping.Fail(mapping.CursorGone)
		}
		if !gathered.add(found) {
			page.More = true
			break
		}
		if len(found) < most {
			gathered.at = now.at
			break
		}
		if read += len(found); read >= readAtMost {
			page.More = true
			break
		}
	}
	page.Changes = gathered.changes()
	return now, page, nil
}

// before reports whether a position is before another.
func (p spot) before(other spot) bool {
	return p.tx < other.tx || p.tx == other.tx && p.seq < other.seq
}

type recordKey struct {
	resource *mapping.Resource
	id       int32
}

// gathering is a page while it is filled: the last change of each record, in order.
type gathering struct {
	wanted []*mapping.Resource
	most   int
	all    []entry           // an entry that a later one has replaced has no resource
	last   map[recordKey]int // positions in all
	at     spot              // after all that was added
}

// add adds changes; false if the page was full before the last of them.
func (g *gathering) add(found []entry) bool {
	if len(found) > 0 && g.last == nil {
		g.last = map[recordKey]int{}
	}
	for _, e := range found {
		if slices.Contains(g.wanted, e.resource) {
			key := recordKey{e.resource, e.id}
			i, again := g.last[key]
			if !again && len(g.last) == g.most {
				return false
			}
			if again {
				if e.kind == kindUpdated && g.all[i].kind == kindCreated {
					e.kind = kindCreated
				}
				g.all[i].resource = nil
			}
			g.last[key] = len(g.all)
			g.all = append(g.all, e)
		}
		g.at = e.at
	}
	return true
}

// changes returns what was gathered.
func (g *gathering) changes() []backend.RecordChange {
	g.all = slices.DeleteFunc(g.all, func(e entry) bool { return e.resource == nil })
	kinds := map[int64]backend.ChangeKind{kindCreated: backend.RecordCreated, kindUpdated: backend.RecordUpdated, kindDeleted: backend.RecordDeleted}
	changes := make([]backend.RecordChange, len(g.all))
	for i, e := range g.all {
		changes[i] = backend.RecordChange{Resource: e.resource, ID: e.id, Kind: kinds[e.kind], At: time.UnixMilli(e.ms).UTC()}
	}
	return changes
}

// fill reads the records of a page, some at a time. The page ends before the first record for
// which there is no room or no time left. Records of another system are read one by one, and the
// page ends before the first that cannot be read.
func fill(ctx context.Context, q backend.ChangesQuery, gathered *gathering, page *backend.ChangesPage, atOnce int, eachOf EachOf) error {
	var records map[recordKey]mapping.Record
	bytes, end := 0, time.Time{}
	if deadline, ok := ctx.Deadline(); ok {
		end = time.Now().Add(time.Until(deadline) / 2)
	}
	until := func(i int) {
		gathered.at, page.Changes, page.More = gathered.all[i-1].at, page.Changes[:i], true
	}
	for i := range page.Changes {
		if i%atOnce == 0 {
			if i > 0 && !end.IsZero() && time.Now().After(end) {
				until(i)
				return nil
			}
			var err error
			if records, err = recordsOf(ctx, q, page.Changes[i:min(i+atOnce, len(page.Changes))], eachOf); err != nil {
				if i > 0 && atOnce == oneByOne { // the next page fails, if it still cannot be read
					until(i)
					return nil
				}
				return err
			}
		}
		change := &page.Changes[i]
		rec, there := records[recordKey{change.Resource, change.ID}]
		if !there { // the record was deleted since; a later change says so
			change.Kind = backend.RecordDeleted
			continue
		}
		bytes += rec.BytesOf(q.Fields[rec.Resource])
		if q.Room != nil {
			if err := q.Room(bytes, i+1); err != nil {
				if i == 0 {
					return err
				}
				until(i)
				return nil
			}
		}
		change.Record = rec
	}
	return nil
}

// recordsOf reads the records of changes that are still there.
func recordsOf(ctx context.Context, q backend.ChangesQuery, changes []backend.RecordChange, eachOf EachOf) (map[recordKey]mapping.Record, error) {
	ids := map[*mapping.Resource][]int32{}
	for _, change := range changes {
		if change.Kind != backend.RecordDeleted {
			ids[change.Resource] = append(ids[change.Resource], change.ID)
		}
	}
	records := map[recordKey]mapping.Record{}
	for r, of := range ids {
		err := eachOf(ctx, q.Client, r, of, func(rec mapping.Record) { records[recordKey{r, rec.ID()}] = rec })
		if err != nil {
			return nil, err
		}
	}
	return records, nil
}

// idsAtOnce is how many records one statement finds by their IDs. Records of another system are
// read oneByOne: each may take a call of its own.
const idsAtOnce, oneByOne = 128, 1

// eachOf calls each for those of the records that the client sees, in the fields of lists.
func (s *Store) eachOf(ctx context.Context, client auth.Client, r *mapping.Resource, ids []int32, each func(mapping.Record)) error {
	t, d := s.tables[r], s.db.Dialect()
	for some := range slices.Chunk(ids, idsAtOnce) {
		args := idValues(some, mapping.IntValue(client.ID))
		text := t.list.head + " WHERE " + t.columns[r.ID] + " IN (" + d.placeholders(2, len(args)) + ") AND " + d.unindexed("") + t.visible
		err := s.conn.Query(ctx, text, t.list.columns, args, func(row []mapping.Value) error {
			each(t.list.record(r, row))
			return nil
		})
		if err != nil {
			return err
		}
	}
	return nil
}
