package legacy

import (
	"context"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
	"zombiezen.com/go/sqlite"

	"frontdesk/backend"
	"frontdesk/backend/sqlrecord"
	"frontdesk/mapping"
)

// recorder notes every statement that reaches a database.
type recorder struct {
	sqlrecord.DB
	before func(text string) // is told each before it is run; nil for nobody

	mu  sync.Mutex
	all []recorded
}

type recorded struct {
	text string
	args []mapping.Value
}

// recorded puts a recorder between the Store and its database.
func (x *tables) recorded() *recorder {
	r := &recorder{DB: x.db}
	x.db = r
	return r
}

func (r *recorder) Read(ctx context.Context, f func(sqlrecord.Conn) error) error {
	return r.DB.Read(ctx, r.heard(f))
}

func (r *recorder) Snapshot(ctx context.Context, f func(sqlrecord.Conn) error) error {
	return r.DB.Snapshot(ctx, r.heard(f))
}

func (r *recorder) Write(ctx context.Context, f func(sqlrecord.Conn) error) error {
	return r.DB.Write(ctx, r.heard(f))
}

func (r *recorder) heard(f func(sqlrecord.Conn) error) func(sqlrecord.Conn) error {
	return func(c sqlrecord.Conn) error { return f(recordedConn{c, r}) }
}

func (r *recorder) note(text string, args []mapping.Value) {
	if r.before != nil {
		r.before(text)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.all = append(r.all, recorded{text, args})
}

type recordedConn struct {
	sqlrecord.Conn
	r *recorder
}

func (c recordedConn) Exec(ctx context.Context, text string, args ...mapping.Value) (int64, error) {
	c.r.note(text, args)
	return c.Conn.Exec(ctx, text, args...)
}

func (c recordedConn) Insert(ctx context.Context, text string, args ...mapping.Value) (int64, error) {
	c.r.note(text, args)
	return c.Conn.Insert(ctx, text, args...)
}

func (c recordedConn) Query(ctx context.Context, text string, columns []sqlrecord.Column, args []mapping.Value, each func([]mapping.Value) error) error {
	c.r.note(text, args)
	return c.Conn.Query(ctx, text, columns, args, each)
}

// hostile are values that would be noticed in the text of a statement.
const hostile = `Z'"; DROP TABLE REL; --`

// verbs are how statements of the driver, and of DEALERPAK's sheets, begin.
var verbs = regexp.MustCompile(`^(SELECT|INSERT INTO|UPDATE|DELETE FROM|CALL) `)

func TestOnlyRowsAndNeverValuesAreInTheText(t *testing.T) {
	onDealerpak(t, func(t *testing.T, x *tables) {
		records := newRecords(x)
		r := x.recorded()
		for name, pair := range records {
			rec := pair[0].Clone()
			for i := range rec.Resource.Fields {
				f := &rec.Resource.Fields[i]
				if f.Type == mapping.Varchar && rec.Values[i].IsSet() && len(f.OneOf) == 0 && f.Check == "" && f.Length >= len(hostile) {
					rec.Values[i] = mapping.TextValue(hostile)
				}
			}
			stored := x.create(one, rec)
			x.update(one, stored.ID(), pair[1])
			for i := range rec.Resource.Fields {
				f := &rec.Resource.Fields[i]
				if f.Filterable() && f.Type == mapping.Varchar && f.ReferenceBy == "" {
					x.page(backend.Query{Client: one, Total: true, After: 1, Limit: 3, Offset: 1, Filters: []backend.Filter{{Field: f, Value: mapping.TextValue(hostile)}}}, name)
				}
			}
			require.NoError(t, x.tryDelete(one, name, stored.ID()))
		}
		_, err := x.FindUser(t.Context(), hostile)
		require.Error(t, err)
		_, err = x.Recall(t.Context(), one, hostile)
		require.NoError(t, err)

		require.Greater(t, len(r.all), 100)
		for _, s := range r.all {
			require.Regexp(t, verbs, s.text)
			require.NotContains(t, s.text, "DROP")
			require.NotContains(t, s.text, "Dorpsstraat")
			requireScoped(t, x, s.text)
		}
	})
}

// requireScoped wants the client's column in a statement that reads or writes records.
func requireScoped(t *testing.T, x *tables, text string) {
	t.Helper()
	for _, of := range x.sheet.Resources { // each is run on the row of a client's record
		for _, said := range of.SQL.Statements[mapping.OpDelete] {
			if strings.HasPrefix(text, said[:strings.Index(said, ":")]) {
				return
			}
		}
	}
	unowned := []string{" " + x.d.Quote("LAND"), " " + x.d.Quote("GEBRUIKER"), "CALL ", "SELECT @", "SP_N", "SELECT LOWER(", "SELECT lower(", "gen_random_uuid",
		"SELECT MAX(" + x.d.Quote("VOLGNR") + ") FROM " + x.d.Quote("VTGREL")} // the numbers of a vehicle, whose row was read for its client
	switch {
	case slices.ContainsFunc(unowned, func(what string) bool { return strings.Contains(text, what) }):
	case strings.HasPrefix(text, "INSERT"):
		require.Contains(t, text, x.d.Quote("BEDRNR"), text)
	default:
		require.Regexp(t, `WHERE (|.* AND )`+x.d.Quote("BEDRNR")+` = `, text)
	}
}

// TestListGoesByTheKeysIndex: a page needs no sort of all rows.
func TestListGoesByTheKeysIndex(t *testing.T) {
	x := dealerpak(t, "postgres")
	r := x.recorded()
	byCode := backend.Order{Field: x.model.Resource("vehicle").Field("id"), Descending: true}
	for resource, q := range map[string]backend.Query{
		"order": {Client: one}, "orderline": {Client: one}, "vehicle": {Client: one, Sort: []backend.Order{byCode}}, "article": {Client: one, Keyset: true, After: 3},
	} {
		q.Limit = 100
		x.page(q, resource)
		s, plan := r.all[len(r.all)-1], ""
		require.NoError(t, r.DB.Write(t.Context(), func(c sqlrecord.Conn) error {
			for _, off := range []string{"seqscan", "bitmapscan", "sort", "incremental_sort"} { // where it can do without
				if _, err := c.Exec(t.Context(), "SET LOCAL enable_"+off+" = off"); err != nil {
					return err
				}
			}
			return c.Query(t.Context(), "EXPLAIN "+s.text, []sqlrecord.Column{foreignText}, s.args, func(row []mapping.Value) error {
				plan += row[0].Text() + "\n"
				return nil
			})
		}))
		require.NotContains(t, plan, "Sort", s.text)
	}
}

// TestRecordAndLinesAreOfOneMoment: another program changes an order and its lines, in one
// transaction, between the statement that reads the order and the one that reads its lines.
func TestRecordAndLinesAreOfOneMoment(t *testing.T) {
	eachEngine(t, func(t *testing.T, engine string) {
		dsn := dealerpaks[engine](t)
		if engine == "sqlite" { // else nobody writes while somebody reads
			conn, err := sqlite.OpenConn(dsn, sqlite.OpenReadWrite|sqlite.OpenWAL)
			require.NoError(t, err)
			require.NoError(t, conn.Close())
		}
		x := onDealerpakAt(t, engine, dsn)
		order, id := x.model.Resource("order"), int32(0)
		for _, line := range x.list(one, "orderline") {
			if of := int32(line.Get("order_id").Int()); id == 0 && x.get(one, "order", of).Get("order_status").Text() == "open" { // which the vendor's triggers let change
				id = of
			}
		}
		require.NotZero(t, id)
		vendor := x.beside()
		change := func(text string) {
			require.NoError(t, vendor.Write(t.Context(), func(c sqlrecord.Conn) error {
				for _, table := range []string{"ORDKOP", "ORDRGL"} {
					sql := "UPDATE #" + table + "# SET #OMS# = '" + text + "' WHERE #BEDRNR# = 1 AND #ORDNR# = " + mapping.IntValue(int64(id)).String()
					if _, err := c.Exec(t.Context(), x.spelled(sql)); err != nil {
						return err
					}
				}
				return nil
			}))
		}
		fields := []int{order.Field("description").Index, order.Field("orderlines").Index}
		r := x.recorded()
		for name, read := range map[string]func() mapping.Record{
			"get": func() mapping.Record {
				rec, err := x.front.Get(t.Context(), order, backend.Query{Client: one, ID: id, Fields: fields})
				require.NoError(t, err)
				return rec
			},
			"list": func() mapping.Record {
				return x.page(backend.Query{Client: one, Keyset: true, After: id - 1, Limit: 1, Fields: fields}, "order").Records[0]
			},
		} {
			change(name)
			changed := false
			r.before = func(text string) {
				if !changed && strings.Contains(text, " FROM "+x.d.Quote("ORDRGL")) {
					changed = true
					change("meanwhile")
				}
			}
			rec := read()
			require.True(t, changed, name)
			for _, rec := range append(rec.Children[fields[1]], rec) {
				require.Equal(t, name, rec.Get("description").Text())
			}
			require.Equal(t, "meanwhile", read().Get("description").Text(), name)
		}
	})
}

// beside is the vendor's own connection to the database.
func (x *tables) beside() sqlrecord.DB {
	x.t.Helper()
	db, err := sqlrecord.OpenForeign(x.t.Context(), sqlrecord.ForeignOptions{Engine: x.engine, DSN: x.dsn, Connections: 2, LockWait: DefaultLockWait})
	require.NoError(x.t, err)
	x.t.Cleanup(func() { require.NoError(x.t, db.Close()) })
	return db
}
