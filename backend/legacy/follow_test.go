package legacy

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/zap/zaptest"

	"frontdesk/auth"
	"frontdesk/backend"
	"frontdesk/backend/drivertest"
	"frontdesk/backend/follow"
	"frontdesk/backend/sqlrecord"
	"frontdesk/backend/sqlrecord/sqltest"
	"frontdesk/cmd/frontdesk/rig/await"
	"frontdesk/mapping"
	"frontdesk/mapping/sheet"
)

// followedTables have relations by number, and their addresses by a text.
var followedTables = []string{
	"CREATE TABLE f_rel (nr integer PRIMARY KEY, adm integer NOT NULL, naam varchar(40) NOT NULL, weg integer NOT NULL DEFAULT 0, gew bigint NOT NULL DEFAULT 0)",
	"CREATE TABLE f_com (code varchar(10) NOT NULL PRIMARY KEY, adm integer NOT NULL, rel integer NOT NULL, waarde varchar(80) NOT NULL)",
	"INSERT INTO f_rel (nr, adm, naam) VALUES (1, 1, 'Een'), (2, 1, 'Twee'), (3, 1, 'Drie'), (4, 2, 'Zuid'), (5, 1, 'Vijf')",
	"INSERT INTO f_com VALUES ('zz', 1, 1, 'a'), ('b', 1, 2, 'b'), ('A', 2, 4, 'z')",
}

const followedSheet = `keep: keep.db
client: adm
without_rules: [prefered_email]
resources:
  contact: {table: f_rel, key: {columns: nr, generated: max+1}, where: weg = 0, delete: "UPDATE f_rel SET weg = 1 WHERE nr = :key",
    fields: {name: naam, kind: {constant: person}, modified_at: {column: gew, type: epoch_millis, stamp: change}}}
  contactcommunication: {table: f_com, key: {columns: code, id: kept, generated: {sql: "SELECT 'new'"}}, operations: {only: [get, list, update, delete]},
    fields: {contact_id: rel, type: {constant: 1}, value: waarde}}
`

// scannedSheet has all read again and again.
var scannedSheet = strings.Replace(followedSheet, "\nclient: adm\n", "\nclient: adm\nchanges: {by: scan, every: 10ms, pause: 1ms, page: 3}\n", 1)

// toldSheet reads what a system notes of its tables in another one, hardly ever anything else.
func toldSheet(sequence, settle string) string {
	text := followedSheet
	for _, table := range []string{"f_rel", "f_com"} {
		changes := fmt.Sprintf(`{by: table, table: f_wijz, sequence: %s, key: [sleutel], where: "tabel = '%s'", every: 10ms, pause: 1ms, page: 3, settle: %s}`, sequence, table, settle)
		text = strings.Replace(text, "table: "+table, "table: "+table+", changes: "+changes, 1)
	}
	return text
}

// triggered are followedTables in a system that notes itself what changes, by triggers of its own:
// which table, which key, and when.
func triggered(engine string) []string {
	number, row, end := "integer PRIMARY KEY AUTOINCREMENT", "FOR EACH ROW BEGIN %s; END", ""
	switch engine {
	case "mariadb":
		number = "integer AUTO_INCREMENT PRIMARY KEY"
	case "postgres":
		number = "bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY"
		row, end = "FOR EACH ROW EXECUTE FUNCTION %s()", "; RETURN NULL; END $$ LANGUAGE plpgsql"
	}
	all := append([]string{"CREATE TABLE f_wijz (nr " + number + ", tabel varchar(10) NOT NULL, sleutel varchar(20) NOT NULL)"}, followedTables...)
	for table, key := range map[string]string{"f_rel": "nr", "f_com": "code"} {
		for event, of := range map[string]string{"INSERT": "NEW", "UPDATE": "NEW", "DELETE": "OLD"} {
			name := strings.ToLower(table + "_" + event)
			does := fmt.Sprintf("INSERT INTO f_wijz (tabel, sleutel) VALUES ('%s', %s.%s)", table, of, key)
			if end != "" {
				all = append(all, "CREATE FUNCTION "+name+"() RETURNS trigger AS $$ BEGIN "+does+end)
				does = name
			}
			all = append(all, "CREATE TRIGGER "+name+" AFTER "+event+" ON "+table+" "+fmt.Sprintf(row, does))
		}
	}
	return all
}

// ownDatabases opens a database of the gateway's own, of PostgreSQL for PostgreSQL: the same for
// each gateway that calls open.
func ownDatabases(t *testing.T, engine string) (open func() sqlrecord.DB) {
	t.Helper()
	dsn, file := "", filepath.Join(t.TempDir(), "follow.db")
	if engine == "postgres" {
		dsn = sqltest.Postgres(t)
	}
	return func() (db sqlrecord.DB) {
		var err error
		if dsn != "" {
			db, err = sqlrecord.OpenPostgres(t.Context(), dsn, sqlrecord.Options{})
		} else {
			db, err = sqlrecord.OpenSQLite(file, sqlrecord.Options{})
		}
		require.NoError(t, err)
		t.Cleanup(func() { _ = db.Close() })
		return db
	}
}

// onFollowed runs f on tables that are read again and again.
func onFollowed(t *testing.T, engines []string, f func(t *testing.T, x *tables, own func() sqlrecord.DB)) {
	for _, engine := range engines {
		t.Run(engine, func(t *testing.T) {
			f(t, onTables(t, engine, scannedSheet, followedTables...), ownDatabases(t, engine))
		})
	}
}

// onSQLite is a system in SQLite, and a database of the gateway's own.
func onSQLite(t *testing.T, text string, tables []string) (*tables, sqlrecord.DB) {
	t.Helper()
	return onTables(t, "sqlite", text, tables...), ownDatabases(t, "sqlite")()
}

// inBubble runs f on such a system at a clock of its own, which goes on when all wait.
func inBubble(t *testing.T, text string, tables []string, f func(t *testing.T, x *tables, db sqlrecord.DB)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		x, db := onSQLite(t, text, tables)
		x.fixture.t = struct{ testing.TB }{t} // which has no end of the test run in a bubble
		f(t, x, db)
	})
}

// seldom has the system looked at by the hour.
func (x *tables) seldom() {
	for _, r := range x.sheet.Resources {
		r.Changes.Every = time.Hour
	}
}

// asked is what a Follower asks a Store for, before it is answered, or its answer to a list or a
// journal: n are the records, or whether there is more.
type asked struct {
	what     string
	resource *mapping.Resource
	of       auth.Client
	n        int
}

// heard is a Store that tells what it is asked, and fails where hear does.
type heard struct {
	*Store
	hear func(ctx context.Context, a asked) error
}

func (h heard) Get(ctx context.Context, r *mapping.Resource, q backend.Query) (mapping.Record, error) {
	if err := h.hear(ctx, asked{"get", r, q.Client, 1}); err != nil {
		return mapping.Record{}, err
	}
	return h.Store.Get(ctx, r, q)
}

func (h heard) List(ctx context.Context, r *mapping.Resource, q backend.Query) (page backend.Page, err error) {
	if err = h.hear(ctx, asked{"list", r, q.Client, 0}); err == nil {
		page, err = h.Store.List(ctx, r, q)
	}
	if err == nil {
		err = h.hear(ctx, asked{"listed", r, q.Client, len(page.Records)})
	}
	return page, err
}

func (h heard) Named(ctx context.Context, r *mapping.Resource, of auth.Client, keys [][]string) ([]mapping.Record, []int32, error) {
	if err := h.hear(ctx, asked{"named", r, of, len(keys)}); err != nil {
		return nil, nil, err
	}
	return h.Store.Named(ctx, r, of, keys)
}

func (h heard) Entries(ctx context.Context, r *mapping.Resource, of auth.Client, after string, most int) (page follow.Entries, err error) {
	if err = h.hear(ctx, asked{"entries", r, of, 0}); err == nil {
		page, err = h.Store.Entries(ctx, r, of, after, most)
	}
	if err == nil {
		err = h.hear(ctx, asked{"more", r, of, b2i(page.More)})
	}
	return page, err
}

// follows has a Store tell changes; hear hears what it is asked for them, nil for nobody.
func (x *tables) follows(db sqlrecord.DB, hear func(context.Context, asked) error) *follow.Follower {
	x.t.Helper()
	o := follow.Options{Reader: x.Store, DB: db, Sheet: x.sheet, Lease: 200 * time.Millisecond, Log: zaptest.NewLogger(x.t)}
	if hear != nil {
		o.Reader = heard{x.Store, hear}
	}
	f, err := follow.Open(x.t.Context(), o)
	require.NoError(x.t, err)
	x.t.Cleanup(func() { require.NoError(x.t, f.Close()) })
	x.TellBy(f)
	return f
}

// prepared runs statements in the database of what is followed, before anybody looks.
func (x *tables) prepared(db sqlrecord.DB, statements ...string) {
	x.t.Helper()
	require.NoError(x.t, x.follows(db, nil).Close())
	for _, statement := range statements {
		_, err := sqlrecord.Change(x.t.Context(), db, statement)
		require.NoError(x.t, err, statement)
	}
}

// beginning is what a client asks who begins to follow resources.
func beginning(of auth.Client, resources ...*mapping.Resource) backend.ChangesQuery {
	return backend.ChangesQuery{Client: of, Begin: true, Resources: resources}
}

func (x *tables) cursor(of auth.Client) string {
	x.t.Helper()
	page, err := x.front.Changes(x.t.Context(), beginning(of, x.model.Resources...))
	require.NoError(x.t, err)
	return page.Cursor
}

// changed are the changes after a cursor: "updated 3" of a contact, of others their resource too.
func (x *tables) changed(of auth.Client, after string) string {
	x.t.Helper()
	page, err := x.front.Changes(x.t.Context(), backend.ChangesQuery{Client: of, After: after, Resources: x.model.Resources, Limit: 100})
	require.NoError(x.t, err)
	var told []string
	for _, c := range page.Changes {
		told = append(told, strings.TrimPrefix(fmt.Sprint(c.Resource.Name, " ", c.Kind, " ", c.ID), "contact "))
	}
	return strings.Join(told, ", ")
}

// tells changes the system, and waits until this is told of what one has followed since a cursor.
func (x *tables) tells(after, statement, want string) {
	x.t.Helper()
	if statement != "" {
		x.exec(statement)
	}
	var told string
	defer func() {
		if x.t.Failed() {
			x.t.Log("told is: ", told)
		}
	}()
	await.True(x.t, func() bool {
		told = x.changed(one, after)
		return told == want
	}, want)
}

// counted is how many records a client sees, as far as they have been seen.
func (x *tables) counted(of auth.Client, resource string) int {
	x.t.Helper()
	digest, err := x.front.Digest(x.t.Context(), x.model.Resource(resource), backend.DigestQuery{Client: of, From: 1, Ranges: 1})
	require.NoError(x.t, err)
	return digest.Ranges[0].Count
}

func (x *tables) copyOf(of auth.Client) *drivertest.Copy {
	x.t.Helper()
	c := &drivertest.Copy{Client: x.front, Of: of, Resources: x.model.Resources}
	require.NoError(x.t, c.Begin(x.t.Context()))
	return c
}

// equal waits until copies are as lists are.
func (x *tables) equal(copies ...*drivertest.Copy) {
	x.t.Helper()
	for _, c := range copies {
		await.True(x.t, func() bool {
			_, err := c.CatchUp(x.t.Context())
			require.NoError(x.t, err)
			differs, err := c.Differs(x.t.Context())
			require.NoError(x.t, err)
			return differs == ""
		}, "the copy of client %d", c.Of.ID)
	}
}

// byVersion is how contacts are followed by modified_at.
func byVersion() sheet.Changes {
	return sheet.Changes{By: sheet.ByVersion, Every: 10 * time.Millisecond, Settle: time.Minute, Pause: time.Millisecond, Page: 3}
}

// TestEntries reads what a table notes, by a number and by a time: which records by which key, those
// at one place together, each once, and what no longer follows the place that was read last.
func TestEntries(t *testing.T) {
	eachEngine(t, func(t *testing.T, engine string) {
		stamp := map[string]string{"sqlite": "datetime", "postgres": "timestamptz", "mariadb": "datetime(3)"}[engine]
		for _, by := range []string{"nr", "op"} {
			x := onTables(t, engine, toldSheet(by, "0s"), append(slices.Clone(followedTables), "CREATE TABLE f_wijz (nr bigint NOT NULL, op "+stamp+", tabel varchar(10) NOT NULL, sleutel varchar(20))")...)
			contact, com := x.model.Resource("contact"), x.model.Resource("contactcommunication")
			note := func(n int, table string, keys ...string) {
				for _, key := range keys {
					x.exec(fmt.Sprintf("INSERT INTO f_wijz VALUES (%d, '2026-07-01 10:00:%02d.250', '%s', %s)", 9_000_000_000+int64(n), n, table, key))
				}
			}
			entries := func(after string) follow.Entries {
				page, err := x.Entries(t.Context(), contact, one, after, 2)
				require.NoError(t, err)
				return page
			}
			position := func() string {
				at, err := x.Position(t.Context(), contact, one)
				require.NoError(t, err)
				return at
			}
			if by == "op" {
				x.exec("INSERT INTO f_wijz VALUES (0, NULL, 'f_rel', '1')") // at a time that nobody knows
			}
			at := position()
			require.Empty(t, entries(at).Keys)
			note(1, "f_rel", "'1'")
			note(2, "f_rel", "'3'", "'3'", "'4'")
			note(2, "f_com", "'b'")
			note(3, "f_rel", "'77'", "NULL")
			first := entries(at)
			require.True(t, first.More)
			require.Len(t, first.Keys, 3, "1, and all at the next place")
			second := entries(first.Next)
			require.Len(t, second.Keys, 1)
			require.Equal(t, 1, second.Nameless)
			require.Empty(t, entries(second.Next).Keys)
			last := position()
			require.Equal(t, last, second.Next)

			named := func(r *mapping.Resource, keys [][]string) (texts []string, others []int32) {
				records, others, err := x.Named(t.Context(), r, one, keys)
				require.NoError(t, err)
				for _, rec := range records {
					texts = append(texts, rec.Get(map[*mapping.Resource]string{contact: "name", com: "value"}[r]).Text())
				}
				return texts, others
			}
			texts, others := named(contact, append(first.Keys, second.Keys...))
			require.Equal(t, []string{"Een", "Drie"}, texts)
			require.Equal(t, []int32{4, 77}, others)
			page, err := x.Entries(t.Context(), com, one, "", 10)
			require.NoError(t, err)
			texts, others = named(com, page.Keys)
			require.Equal(t, []string{"b"}, texts)
			require.Empty(t, others)
			x.exec("DELETE FROM f_com WHERE code = 'b'")
			texts, others = named(com, page.Keys)
			require.Empty(t, texts)
			require.Len(t, others, 1, "whose ID was given out")

			x.exec("DELETE FROM f_wijz")
			require.Empty(t, entries(last).Keys, "nobody has noted anything since")
			note(1, "f_rel", "'1'")
			for _, gone := range []string{last, "x12"} {
				_, err = x.Entries(t.Context(), contact, one, gone, 2)
				require.ErrorIs(t, err, follow.ErrPositionGone, gone)
			}
			x.exec("DROP TABLE f_wijz")
		}
	})
}

// TestDeletedByVersion reads the rows that the database marks as deleted, page by page.
func TestDeletedByVersion(t *testing.T) {
	eachEngine(t, func(t *testing.T, engine string) {
		x := onTables(t, engine, strings.Replace(followedSheet, "where: weg = 0", "where: weg = 0, changes: {by: version, deleted: 'weg IN (1, 2)'}", 1), followedTables...)
		contact, now := x.model.Resource("contact"), time.Date(2026, 7, 1, 10, 0, 0, 0, time.UTC).UnixMilli()
		x.exec(fmt.Sprintf("UPDATE f_rel SET weg = nr %% 3, gew = %d + nr", now))
		for since, want := range map[int64][]int32{now: {1, 2, 5}, now + 2: {2, 5}, now + 6: nil} {
			var gone []int32
			for page := (follow.Entries{Next: fmt.Sprint(since), More: true}); page.More; gone = append(gone, page.Others...) {
				var err error
				page, err = x.Entries(t.Context(), contact, one, page.Next, 1)
				require.NoError(t, err)
			}
			require.Equal(t, want, gone)
		}
		require.Equal(t, []int32{3}, ids(x.list(one, "contact")))
		_, err := x.Entries(t.Context(), contact, one, "soon", 1)
		require.Error(t, err)
	})
}
