package legacy

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/zap/zaptest"

	"frontdesk/auth"
	"frontdesk/backend"
	"frontdesk/backend/drivertest"
	"frontdesk/backend/follow"
	"frontdesk/backend/sqlrecord"
	"frontdesk/mapping"
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

// ownDatabase opens a database of the gateway's own.
func ownDatabase(t *testing.T) sqlrecord.DB {
	t.Helper()
	db, err := sqlrecord.OpenSQLite(filepath.Join(t.TempDir(), "follow.db"), sqlrecord.Options{})
	require.NoError(t, err)
	t.Cleanup(func() { _ = db.Close() })
	return db
}

// followed has a Store tell changes.
func (x *tables) followed(t *testing.T, db sqlrecord.DB) *follow.Follower {
	t.Helper()
	f, err := follow.Open(t.Context(), follow.Options{Reader: x.Store, DB: db, Sheet: x.sheet, Lease: 200 * time.Millisecond, Log: zaptest.NewLogger(t)})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, f.Close()) })
	x.TellBy(f)
	return f
}

func (x *tables) copyOf(t *testing.T, of auth.Client) *drivertest.Copy {
	t.Helper()
	c := &drivertest.Copy{Client: x.front, Of: of, Resources: x.model.Resources}
	require.NoError(t, c.Begin(t.Context()))
	return c
}

// changed are the changes after a cursor, as "kind resource id".
func (x *tables) changed(t *testing.T, of auth.Client, after string, resources ...*mapping.Resource) (told []string) {
	t.Helper()
	if resources == nil {
		resources = x.model.Resources
	}
	page, err := x.front.Changes(t.Context(), backend.ChangesQuery{Client: of, After: after, Resources: resources, Limit: 100})
	require.NoError(t, err)
	for _, c := range page.Changes {
		told = append(told, fmt.Sprint(c.Kind, " ", c.Resource.Name, " ", c.ID))
	}
	return told
}

// eventually waits until a function returns what is wanted.
func (x *tables) eventually(t *testing.T, want []string, f func() []string) {
	t.Helper()
	for began := time.Now(); ; {
		got := f()
		if slices.Equal(want, got) {
			return
		}
		if time.Since(began) > patience {
			require.Equal(t, want, got)
		}
		require.NoError(t, auth.Sleep(t.Context(), 2*time.Millisecond))
	}
}

func (x *tables) cursor(t *testing.T, of auth.Client) string {
	t.Helper()
	page, err := x.front.Changes(t.Context(), backend.ChangesQuery{Client: of, Begin: true, Resources: x.model.Resources})
	require.NoError(t, err)
	return page.Cursor
}

// triggered are the tables of followedTables in a system that notes itself what changes, by
// triggers of its own: which table, which key, and when.
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

// triggeredSheet reads what such a system notes, hardly ever anything else.
func triggeredSheet() string {
	text := followedSheet
	for _, table := range []string{"f_rel", "f_com"} {
		text = strings.Replace(text, "table: "+table, "table: "+table+", changes: {by: table, table: f_wijz, sequence: nr, key: [sleutel], where: \"tabel = '"+table+"'\", every: 10ms, pause: 1ms, page: 3, settle: 50ms}", 1)
	}
	return text
}

// TestFollowedByTable has what others change told by the table that the system itself writes:
// made, changed, removed, marked, moved to another client. Records of other clients get no ID.
func TestFollowedByTable(t *testing.T) {
	eachEngine(t, func(t *testing.T, engine string) {
		x := onTables(t, engine, triggeredSheet(), triggered(engine)...)
		f := x.followed(t, ownDatabase(t))
		require.Equal(t, backend.TellsAll, f.Tells(x.model.Resource("contact")))
		ones, twos := x.copyOf(t, one), x.copyOf(t, two)
		after := x.cursor(t, one)
		eventually := func(want ...string) {
			t.Helper()
			x.eventually(t, want, func() []string { return x.changed(t, one, after, x.model.Resource("contact")) })
		}
		x.exec("UPDATE f_rel SET naam = 'Dri' WHERE nr = 3")
		eventually("updated contact 3")
		x.exec("UPDATE f_rel SET weg = 1 WHERE nr = 5")
		eventually("updated contact 3", "deleted contact 5")
		x.exec("UPDATE f_rel SET adm = 2 WHERE nr = 2")
		eventually("updated contact 3", "deleted contact 5", "deleted contact 2")
		x.exec("INSERT INTO f_rel (nr, adm, naam) VALUES (9, 1, 'Negen')")
		eventually("updated contact 3", "deleted contact 5", "deleted contact 2", "created contact 9")
		x.exec("DELETE FROM f_rel WHERE nr = 9")
		eventually("updated contact 3", "deleted contact 5", "deleted contact 2", "deleted contact 9")
		x.exec("UPDATE f_rel SET adm = 1 WHERE nr = 2")
		eventually("updated contact 3", "deleted contact 5", "deleted contact 9", "created contact 2")
		x.exec("UPDATE f_rel SET naam = 'Zuider' WHERE nr = 4")
		for i := range 10 { // several pages
			x.exec(fmt.Sprintf("INSERT INTO f_com VALUES ('n%d', 1, 1, 'n')", i))
		}
		x.exec("DELETE FROM f_com WHERE code = 'zz'")
		require.NoError(t, ones.Equals(t.Context(), patience))
		require.NoError(t, twos.Equals(t.Context(), patience))
		for _, c := range x.changed(t, two, x.cursor(t, two)) {
			t.Error("told of what another client has: ", c)
		}

		x.exec("DELETE FROM f_wijz") // which leaves no hole
		x.exec("UPDATE f_rel SET naam = 'Drie' WHERE nr = 3")
		require.NoError(t, ones.Equals(t.Context(), patience))
	})
}

// TestFollowedByTableReadLittle: after the first look, and the one when all has settled, only
// what the table names is read, and what is read again is no news.
func TestFollowedByTableReadLittle(t *testing.T) {
	x := onTables(t, "sqlite", triggeredSheet(), triggered("sqlite")...)
	for _, r := range x.sheet.Resources {
		r.Changes.Settle = 0
	}
	f := x.followed(t, ownDatabase(t))
	after := x.cursor(t, one)
	read := func() (n int64) {
		all, err := f.Scans(t.Context())
		require.NoError(t, err)
		for _, s := range all {
			n += s.Records
		}
		return n
	}
	before := read()
	x.exec("UPDATE f_rel SET naam = 'Dri' WHERE nr = 3")
	x.eventually(t, []string{"updated contact 3"}, func() []string { return x.changed(t, one, after) })
	require.EqualValues(t, before+1, read())
	x.exec("UPDATE f_rel SET naam = 'Twe' WHERE nr = 2")
	x.eventually(t, []string{"updated contact 3", "updated contact 2"}, func() []string { return x.changed(t, one, after) })

	x.exec("DELETE FROM f_wijz")
	x.exec("DELETE FROM sqlite_sequence")
	x.exec("UPDATE f_rel SET naam = 'Een!' WHERE nr = 1") // with the number 1: the table has begun anew
	x.eventually(t, []string{"updated contact 3", "updated contact 2", "updated contact 1"}, func() []string { return x.changed(t, one, after) })
}

// TestFollowedDeletions has rows that the system marks told as deleted without a look at all
// records.
func TestFollowedDeletions(t *testing.T) {
	eachEngine(t, func(t *testing.T, engine string) {
		text := strings.Replace(followedSheet, "table: f_rel",
			"table: f_rel, changes: {by: version, every: 10ms, pause: 1ms, page: 2, deleted: \"weg IN (1, 2)\"}", 1)
		text = strings.Replace(text, "\nclient: adm\n", "\nclient: adm\nchanges: {by: scan, every: 10ms, pause: 1ms, page: 3}\n", 1)
		x := onTables(t, engine, text, followedTables...)
		f := x.followed(t, ownDatabase(t))
		contact := x.model.Resource("contact")
		require.Equal(t, backend.TellsAll, f.Tells(contact))
		after, theirs := x.cursor(t, one), x.cursor(t, two)
		now := time.Now().UnixMilli()
		x.exec(fmt.Sprintf("UPDATE f_rel SET naam = 'Dri', gew = %d WHERE nr = 3", now))
		x.eventually(t, []string{"updated contact 3"}, func() []string { return x.changed(t, one, after, contact) })
		x.exec(fmt.Sprintf("UPDATE f_rel SET weg = nr %% 2 + 1, gew = %d WHERE nr IN (1, 2, 5)", now))
		x.eventually(t, []string{"updated contact 3", "deleted contact 1", "deleted contact 2", "deleted contact 5"}, func() []string { return x.changed(t, one, after, contact) })
		x.exec(fmt.Sprintf("UPDATE f_rel SET weg = 0, gew = %d WHERE nr = 2", now+1))
		x.eventually(t, []string{"updated contact 3", "deleted contact 1", "deleted contact 5", "created contact 2"}, func() []string { return x.changed(t, one, after, contact) })
		require.Empty(t, x.changed(t, two, theirs, contact))
	})
}
